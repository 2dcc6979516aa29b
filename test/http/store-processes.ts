/** Lists the statements that both stores run now, and waits for conditions. */
import { setTimeout as delay } from "node:timers/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";

const DEADLINE_MS = 60_000;

/** Polls until the condition is true. */
export async function eventually(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${DEADLINE_MS / 1000} s: ${what}`);
    await delay(20);
  }
}

/** Lists the statements in ClickHouse that read `table`. */
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

/** Lists the statements of other sessions in Postgres that wait for a lock. */
export async function postgresWaits(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    "SELECT count(*) AS n FROM pg_stat_activity WHERE state = 'active' AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()",
  );
  return rows[0]?.n ?? 0;
}
