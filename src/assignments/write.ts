/**
 * Writes assignments. The writers of a tenant come one after the other, so that two of them never give a resource to two
 * identities on the same day.
 */
import type { Pool, PoolClient } from "pg";
import type { AssignedPeriod } from "../domain/assignment.js";
import { lockKey } from "../postgres/advisory-lock.js";
import { runStatement } from "../postgres/statement.js";
import { type Interruption, withTransaction } from "../postgres/transaction.js";
import {
  AssignmentEndError,
  AssignmentNotFoundError,
  AssignmentOverlapError,
  type Overlap,
} from "./errors.js";
import { ASSIGNMENT, type Assignment } from "./read.js";

export interface AssignmentWriter {
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly stop?: Interruption | undefined;
}

export interface AssignmentInput extends Omit<AssignedPeriod, "resource_id"> {
  /** Different resources. */
  readonly resource_ids: readonly string[];
  readonly reason: string;
  readonly created_by: string;
}

export interface AssignmentResult {
  readonly created: number;
  /** The new ones and those that existed with the same identity and days. */
  readonly items: readonly Assignment[];
}

/**
 * Assigns all resources, or none. An assignment that exists with the same identity and days stays as it is, so that a
 * request can be sent again.
 */
export async function assignResources(
  writer: AssignmentWriter,
  { resource_ids, identity_id, valid_from, valid_to, reason, created_by }: AssignmentInput,
): Promise<AssignmentResult> {
  return await writeAlone(writer, async (on) => {
    const wanted = resource_ids.map((resource_id) => ({ resource_id, identity_id, valid_from, valid_to }));
    const existing = await overlapping(on, writer.tenantName, wanted);
    const isSame = ({ existing: there, wanted: here }: Overlap) =>
      there.identity_id === here.identity_id &&
      there.valid_from === here.valid_from &&
      there.valid_to === here.valid_to;
    const overlaps = existing.filter((overlap) => !isSame(overlap));
    if (overlaps.length > 0) throw new AssignmentOverlapError(overlaps);
    const known = new Set(existing.map(({ wanted: { resource_id } }) => resource_id));
    const added = resource_ids.filter((resource_id) => !known.has(resource_id));
    if (added.length > 0) {
      await runStatement(on, {
        query: `INSERT INTO assignments (tenant_name, resource_id, identity_id, valid_from, valid_to, reason, created_by)
          SELECT $1, resource_id, $3, $4, $5, $6, $7 FROM unnest($2::text[]) WITH ORDINALITY AS wanted (resource_id, place) ORDER BY place`,
        params: [writer.tenantName, added, identity_id, valid_from, valid_to, reason, created_by],
      });
      await writer.stop?.record?.(on, { created_count: added.length });
    }
    const { rows } = await runStatement<Assignment>(on, {
      query: `SELECT ${ASSIGNMENT} FROM assignments WHERE tenant_name = $1 AND resource_id = ANY($2::text[]) AND valid_from = $3
        ORDER BY assignment_id`,
      params: [writer.tenantName, resource_ids, valid_from],
    });
    return { created: added.length, items: rows };
  });
}

/** Changes the last day of an assignment. */
export async function endAssignment(
  writer: AssignmentWriter,
  assignmentId: number,
  validTo: string,
): Promise<Assignment> {
  const { tenantName } = writer;
  return await writeAlone(writer, async (on) => {
    const before = await readAssignment(on, tenantName, assignmentId);
    if (before.valid_to === validTo) return before;
    if (validTo < before.valid_from) throw new AssignmentEndError(before.valid_from);
    const wanted = { ...before, valid_to: validTo };
    const overlaps = await overlapping(on, tenantName, [wanted]);
    const others = overlaps.filter((overlap) => overlap.assignment_id !== assignmentId);
    if (others.length > 0) throw new AssignmentOverlapError(others);
    await runStatement(on, {
      query: "UPDATE assignments SET valid_to = $2 WHERE assignment_id = $1",
      params: [assignmentId, validTo],
    });
    await writer.stop?.record?.(on, { ...named(before), former_valid_to: before.valid_to });
    return wanted;
  });
}

/** Removes an assignment, as if it had never been made. */
export async function deleteAssignment(writer: AssignmentWriter, assignmentId: number): Promise<void> {
  await writeAlone(writer, async (on) => {
    const before = await readAssignment(on, writer.tenantName, assignmentId);
    await runStatement(on, {
      query: "DELETE FROM assignments WHERE assignment_id = $1",
      params: [assignmentId],
    });
    // The audit log is the only place that still has it.
    const { valid_to, reason } = before;
    await writer.stop?.record?.(on, { ...named(before), valid_to, reason });
  });
}

const named = ({ resource_id, identity_id, valid_from }: Assignment) => ({
  resource_id,
  identity_id,
  valid_from,
});

/** Runs `work` in a transaction, while no other writer of the tenant's assignments and accepted causes works. */
export async function writeAlone<T>(
  { postgres, tenantName, stop }: AssignmentWriter,
  work: (on: PoolClient) => Promise<T>,
): Promise<T> {
  return await withTransaction(
    postgres,
    async (on) => {
      await runStatement(on, {
        query: "SELECT pg_advisory_xact_lock($1::bigint)",
        params: [lockKey(`assignments of ${tenantName}`).toString()],
      });
      return await work(on);
    },
    stop,
  );
}

async function readAssignment(on: PoolClient, tenantName: string, assignmentId: number): Promise<Assignment> {
  const { rows } = await runStatement<Assignment>(on, {
    query: `SELECT ${ASSIGNMENT} FROM assignments WHERE tenant_name = $1 AND assignment_id = $2`,
    params: [tenantName, assignmentId],
  });
  const [found] = rows;
  if (found === undefined) throw new AssignmentNotFoundError(assignmentId);
  return found;
}

/** Finds the existing assignments that share a day with these, which have the same days and different resources. */
async function overlapping(
  on: PoolClient,
  tenantName: string,
  wanted: readonly AssignedPeriod[],
): Promise<Overlap[]> {
  const [first] = wanted;
  const { rows } = await runStatement<Assignment>(on, {
    query: `SELECT ${ASSIGNMENT} FROM assignments
      WHERE tenant_name = $1 AND resource_id = ANY($2::text[])
        AND valid_from <= coalesce($4::date, 'infinity') AND coalesce(valid_to, 'infinity') >= $3::date
      ORDER BY resource_id, valid_from`,
    params: [tenantName, wanted.map(({ resource_id }) => resource_id), first?.valid_from, first?.valid_to],
  });
  const byResource = new Map(wanted.map((each) => [each.resource_id, each]));
  return rows.flatMap((existing) => {
    const same = byResource.get(existing.resource_id);
    return same === undefined ? [] : [{ assignment_id: existing.assignment_id, existing, wanted: same }];
  });
}
