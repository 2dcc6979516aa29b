/**
 * Ends of runs that could not be recorded, because Postgres was away or had no room: this process still knows them, and records them before the
 * tenant's next run begins. Otherwise that one would find a record that is open, and could only say that nobody knows why.
 */
import type { Pool } from "pg";
import { runStatement, type Statement } from "../store/postgres/statement.js";

const late = new WeakMap<Pool, Map<string, Statement>>();

export async function recordResult(postgres: Pool, tenantName: string, end: Statement): Promise<void> {
  try {
    await runStatement(postgres, end);
  } catch (error) {
    const ends = late.get(postgres) ?? new Map<string, Statement>();
    late.set(postgres, ends.set(tenantName, end));
    throw error;
  }
}

export async function recordUnrecordedResult(postgres: Pool, tenantName: string): Promise<void> {
  const ends = late.get(postgres);
  const end = ends?.get(tenantName);
  if (end === undefined) return;
  await runStatement(postgres, end);
  ends?.delete(tenantName);
}
