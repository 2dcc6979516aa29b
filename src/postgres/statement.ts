/**
 * Statements on Postgres as plain values, and the one way to run them. `client.ts` defines the forms of their values.
 */
import type { Pool, PoolClient, QueryResult } from "pg";
import { stoppable } from "./stoppable.js";

/** Values are only in `params`; the text refers to them as `$1`, `$2` … */
export interface PgStatement {
  readonly query: string;
  readonly params: readonly unknown[];
}

/** Runs a statement on a connection of the pool, or on the connection of a transaction. */
export async function runStatement<Row extends object>(
  on: Pool | PoolClient,
  { query, params }: PgStatement,
): Promise<QueryResult<Row>> {
  return await on.query<Row>(query, [...params]);
}

/** Runs a statement on a connection of its own. Throws the signal's reason as soon as the signal aborts. */
export async function readPostgres<Row extends object>(
  pool: Pool,
  statement: PgStatement,
  signal?: AbortSignal,
): Promise<Row[]> {
  const run = async (on: Pool | PoolClient) => (await runStatement<Row>(on, statement)).rows;
  return signal === undefined ? await run(pool) : await stoppable(pool, signal, run);
}
