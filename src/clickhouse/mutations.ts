/** Mutations: background work of ClickHouse that an `ALTER … UPDATE`, `DELETE` or `MATERIALIZE` starts. */
import { setTimeout as delay } from "node:timers/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "./statement.js";

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1_000;

const UNFINISHED = `
SELECT table, command, latest_fail_reason AS reason FROM system.mutations
WHERE database = {database:String} AND NOT is_done ORDER BY reason = '', create_time LIMIT 1`;

/** Resolves when the database has no unfinished mutations. Throws the failure of the first one that fails. */
export async function untilMutationsEnd(
  client: ClickHouseClient,
  database: string,
  signal?: AbortSignal,
): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    const [mutation] = await readRows<{ table: string; command: string; reason: string }>(
      client,
      { query: UNFINISHED, params: { database } },
      signal,
      { database: "default" },
    );
    if (mutation === undefined) return;
    const { table, command, reason } = mutation;
    if (reason !== "") throw new Error(`${table}: ${command} fails: ${reason}`);
    await delay(pause, undefined, signal && { signal });
  }
}
