/** Rewrites all tags of a tenant in its ClickHouse. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { PoolClient } from "pg";
import { runStatement } from "../postgres/statement.js";
import type { WaitingTag } from "./outbox.js";

export interface Filling {
  readonly client: ClickHouseClient;
  /** Has the lock of the mirror. */
  readonly transaction: PoolClient;
  readonly tenantName: string;
  /** Newer than all versions in the mirror. */
  readonly version: number;
  readonly mirrorId: string;
  readonly write: (tags: readonly WaitingTag[]) => Promise<void>;
  readonly signal: AbortSignal;
}

const TAGS_AT_ONCE = 20_000;

/**
 * Writes the new rows before it deletes the old ones, so that readers see every tag at all times. Tags that are written
 * meanwhile wait in the outbox for a later version. The mirror's id is written last, so that an interrupted filling is
 * repeated. Returns the number of tags.
 */
export async function fillMirror(filling: Filling): Promise<number> {
  const { client, transaction, tenantName, version, mirrorId, signal } = filling;
  let after = -1;
  let filled = 0;
  for (;;) {
    const { rows } = await runStatement<WaitingTag>(transaction, {
      query: SOME_TAGS,
      params: [tenantName, after, TAGS_AT_ONCE],
    });
    signal.throwIfAborted();
    await filling.write(rows);
    after = rows.at(-1)?.tag_id ?? after;
    filled += rows.length;
    if (rows.length < TAGS_AT_ONCE) break;
  }
  await client.command({
    query: "ALTER TABLE dimension_tags DELETE WHERE version < {version:UInt64}",
    query_params: { version },
    clickhouse_settings: { mutations_sync: "1" },
    abort_signal: signal,
  });
  await client.command({ query: "TRUNCATE TABLE dimension_tags_mirror", abort_signal: signal });
  await client.insert({
    table: "dimension_tags_mirror",
    format: "JSONEachRow",
    values: [{ mirror_id: mirrorId }],
    abort_signal: signal,
  });
  return filled;
}

const SOME_TAGS = `
SELECT t.tag_id, t.dimension_id, t.tag_key, l.display_name FROM tags AS t JOIN tag_labels AS l USING (label_id)
WHERE t.tenant_name = $1 AND t.tag_id > $2 ORDER BY t.tag_id LIMIT $3`;
