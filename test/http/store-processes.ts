/** What runs in the stores now, as they tell it themselves; and waiting until something is so. */
import { setTimeout as delay } from "node:timers/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";

const DEADLINE_MS = 60_000;

/** Asks until the answer is yes. */
export async function eventually(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${DEADLINE_MS / 1000} s: ${what}`);
    await delay(20);
  }
}

/** Statements that read `table`, in ClickHouse. */
export async function clickHouseReads(client: ClickHouseClient, table: string): Promise<number> {
  const result = await client.query({
    query:
      "SELECT count() AS n FROM system.processes WHERE position(query, {text:String}) > 0 AND position(query, 'system.processes') = 0",
    query_params: { text: `FROM ${table}` },
    format: "JSONEachRow",
  });
  const [row] = await result.json<{ n: string }>();
  return Number(row?.n);
}

/** Statements of others that wait for a lock, in Postgres. */
export async function postgresWaits(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    "SELECT count(*) AS n FROM pg_stat_activity WHERE state = 'active' AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()",
  );
  return rows[0]?.n ?? 0;
}
