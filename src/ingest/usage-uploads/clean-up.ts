/** Drops uploads that no longer count, and the remains of uploads that were cut off. */
import { dropNumberedPartition, numberedPartitions } from "../../clickhouse/partitions.js";
import { runStatement } from "../../postgres/statement.js";
import { UPLOADS_TABLE, type UploadStore } from "./take-upload.js";

/** Longer than a request may take. */
const LONGEST_UPLOAD = "1 hour";

/**
 * Runs at the start of a run. Only the lease holder loads files of the folder, so those in the state `loading` were cut
 * off.
 */
export async function cleanUpUploads(
  { client, postgres, tenantName }: UploadStore,
  signal: AbortSignal,
): Promise<void> {
  // Read partitions first: a partition that is found then already has its record.
  const found = await numberedPartitions(client, UPLOADS_TABLE, signal);
  await runStatement(postgres, {
    query: `DELETE FROM usage_uploads WHERE tenant_name = $1 AND state = 'loading'
      AND (origin = 'folder' OR started_at < now() - interval '${LONGEST_UPLOAD}')`,
    params: [tenantName],
  });
  const { rows } = await runStatement<{ upload_id: string }>(postgres, {
    query: `SELECT upload_id::text FROM usage_uploads WHERE tenant_name = $1 AND state = 'loading'
      UNION SELECT upload_id::text FROM usage_days WHERE tenant_name = $1`,
    params: [tenantName],
  });
  const recorded = new Set(rows.map(({ upload_id }) => upload_id));
  for (const partition of found)
    if (!recorded.has(partition)) await dropNumberedPartition(client, UPLOADS_TABLE, partition);
}
