/**
 * Results of runs that could not be recorded because Postgres was unreachable or out of disk space. This process keeps
 * them in memory and records them before the tenant's next run. Otherwise that run would find an open record with an
 * unknown cause.
 */
import type { Pool } from "pg";
import { type PgStatement, runStatement } from "../postgres/statement.js";

const unrecorded = new WeakMap<Pool, Map<string, PgStatement>>();

export async function recordRunResult(
  postgres: Pool,
  tenantName: string,
  statement: PgStatement,
): Promise<void> {
  try {
    await runStatement(postgres, statement);
  } catch (error) {
    const statements = unrecorded.get(postgres) ?? new Map<string, PgStatement>();
    unrecorded.set(postgres, statements.set(tenantName, statement));
    throw error;
  }
}

export async function recordUnrecordedResult(postgres: Pool, tenantName: string): Promise<void> {
  const statements = unrecorded.get(postgres);
  const statement = statements?.get(tenantName);
  if (statement === undefined) return;
  await runStatement(postgres, statement);
  statements?.delete(tenantName);
}
