/** Statements on Postgres as plain values, and the one way to run them. Their values have the forms that `client.ts` defines. */
import type { Pool, PoolClient, QueryResult } from "pg";
import { stoppable } from "./stoppable.js";

/** Values stand in `params` alone, as `$1`, `$2` … of the text. */
export interface Statement {
  readonly query: string;
  readonly params: readonly unknown[];
}

/** On a connection of the pool, or on the one that a transaction has. */
export async function runStatement<Row extends object>(
  on: Pool | PoolClient,
  { query, params }: Statement,
): Promise<QueryResult<Row>> {
  return await on.query<Row>(query, [...params]);
}

/** The rows of a statement on a connection of its own. Throws the signal's reason as soon as that aborts. */
export async function readPostgres<Row extends object>(
  pool: Pool,
  statement: Statement,
  signal?: AbortSignal,
): Promise<Row[]> {
  const run = async (on: Pool | PoolClient) => (await runStatement<Row>(on, statement)).rows;
  return signal === undefined ? await run(pool) : await stoppable(pool, signal, run);
}
