/** Drops uploads of which nothing counts any more, and what those that were cut off left behind. */
import { dropNumberedPartition, numberedPartitions } from "../../store/clickhouse/partitions.js";
import { runStatement } from "../../store/postgres/statement.js";
import { UPLOADS_TABLE, type UploadStore } from "./take-upload.js";

/** Longer than a request may take. */
const LONGEST_UPLOAD = "1 hour";

/** At the start of a run: files of the folder are loaded by whoever holds the lease, so those that are loading were cut off. */
export async function cleanUpUploads(
  { client, postgres, tenantName }: UploadStore,
  signal: AbortSignal,
): Promise<void> {
  // In this order: a partition that is seen here has its record already.
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
  const kept = new Set(rows.map(({ upload_id }) => upload_id));
  for (const partition of found)
    if (!kept.has(partition)) await dropNumberedPartition(client, UPLOADS_TABLE, partition);
}
