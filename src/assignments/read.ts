/** Reads the assignments of a tenant. */
import type { Pool } from "pg";
import type { AssignedPeriod } from "../domain/assignment.js";
import { bindings } from "../postgres/bindings.js";
import { instantText } from "../postgres/instant-text.js";
import { type PgStatement, readPostgres, runStatement } from "../postgres/statement.js";

export interface Assignment extends AssignedPeriod {
  readonly assignment_id: number;
  readonly reason: string;
  readonly created_by: string;
  readonly created_at: string;
}

export const ASSIGNMENT = `assignment_id, resource_id, identity_id, to_char(valid_from, 'YYYY-MM-DD') AS valid_from,
  to_char(valid_to, 'YYYY-MM-DD') AS valid_to, reason, created_by, ${instantText("created_at")} AS created_at`;

/** Returns all assignments, for a run. */
export async function readAssigned(postgres: Pool, tenantName: string): Promise<AssignedPeriod[]> {
  const { rows } = await runStatement<AssignedPeriod>(postgres, {
    query: `SELECT resource_id, identity_id, to_char(valid_from, 'YYYY-MM-DD') AS valid_from, to_char(valid_to, 'YYYY-MM-DD') AS valid_to
      FROM assignments WHERE tenant_name = $1 ORDER BY resource_id, valid_from`,
    params: [tenantName],
  });
  return rows;
}

export interface AssignmentFilters {
  readonly resource_id?: readonly string[] | undefined;
  readonly identity_id?: readonly string[] | undefined;
  /** Only assignments that are valid on this day. */
  readonly valid_on?: string | undefined;
}

interface PageOf {
  readonly page: number;
  readonly page_size: number;
}

/** Newest first. */
export async function readAssignments(
  postgres: Pool,
  tenantName: string,
  { page, page_size, ...filters }: AssignmentFilters & PageOf,
  signal?: AbortSignal,
): Promise<{ items: Assignment[]; total: number }> {
  const { bind, params } = bindings();
  const where = conditions(tenantName, filters, bind);
  const query = `
SELECT total, CASE WHEN assignment_id IS NOT NULL THEN (SELECT row_to_json(shown) FROM (SELECT ${ASSIGNMENT}) AS shown) END AS item
FROM (SELECT count(*) AS total FROM assignments WHERE ${where}) AS counted
LEFT JOIN (
  SELECT * FROM assignments WHERE ${where}
  ORDER BY assignment_id DESC LIMIT ${bind(page_size)} OFFSET ${bind((page - 1) * page_size)}
) AS page ON true
ORDER BY assignment_id DESC`;
  const rows = await readPostgres<{ total: number; item: Assignment | null }>(
    postgres,
    { query, params },
    signal,
  );
  return { items: rows.flatMap(({ item }) => item ?? []), total: rows[0]?.total ?? 0 };
}

/** Selects resource and identity of the assignments that are valid on a day, by resource. */
export function assignedOn(tenantName: string, day: string): PgStatement {
  const { bind, params } = bindings();
  const where = conditions(tenantName, { valid_on: day }, bind);
  return {
    query: `SELECT resource_id, identity_id FROM assignments WHERE ${where} ORDER BY resource_id`,
    params,
  };
}

function conditions(
  tenantName: string,
  { resource_id: resources, identity_id: identities, valid_on: day }: AssignmentFilters,
  bind: (value: unknown) => string,
): string {
  const parts = [`tenant_name = ${bind(tenantName)}`];
  if (resources !== undefined) parts.push(`resource_id = ANY(${bind(resources)}::text[])`);
  if (identities !== undefined) parts.push(`identity_id = ANY(${bind(identities)}::text[])`);
  if (day !== undefined) {
    const wanted = `${bind(day)}::date`;
    parts.push(`valid_from <= ${wanted} AND coalesce(valid_to >= ${wanted}, true)`);
  }
  return parts.join(" AND ");
}
