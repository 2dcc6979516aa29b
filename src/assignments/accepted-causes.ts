/**
 * Causes of allocation issues that people accept until a day. Until then, the worklist of the console leaves them out.
 * They change nothing about who pays.
 */
import type { Pool, PoolClient } from "pg";
import { type IssueCause, MOST_ACCEPTED_CAUSES } from "../domain/issue-cause.js";
import { instantText } from "../postgres/instant-text.js";
import { type PgStatement, readPostgres, runStatement } from "../postgres/statement.js";
import { AcceptedCauseNotFoundError, TooManyAcceptedCausesError } from "./errors.js";
import { type AssignmentWriter, writeAlone } from "./write.js";

export interface AcceptedCauseInput extends IssueCause {
  /** Last UTC day. */
  readonly accepted_until: string;
  readonly reason: string;
  readonly created_by: string;
}

export interface AcceptedCause extends AcceptedCauseInput {
  readonly accepted_cause_id: number;
  readonly created_at: string;
}

const ACCEPTED_CAUSE = `accepted_cause_id, allocation_detail, product_type, rule,
  to_char(accepted_until, 'YYYY-MM-DD') AS accepted_until, reason, created_by, ${instantText("created_at")} AS created_at`;

const acceptedCauses = (tenantName: string): PgStatement => ({
  query: `SELECT ${ACCEPTED_CAUSE} FROM accepted_causes WHERE tenant_name = $1 ORDER BY accepted_causes.created_at DESC, accepted_cause_id DESC`,
  params: [tenantName],
});

/** Returns all of them, also those whose day has passed. The latest decision comes first. */
export async function readAcceptedCauses(
  postgres: Pool,
  tenantName: string,
  signal?: AbortSignal,
): Promise<AcceptedCause[]> {
  return await readPostgres<AcceptedCause>(postgres, acceptedCauses(tenantName), signal);
}

/**
 * Accepts a cause, or replaces day, reason and author if it is accepted already. A request can be sent again: without a
 * difference, nothing is written.
 */
export async function acceptCause(
  writer: AssignmentWriter,
  input: AcceptedCauseInput,
): Promise<AcceptedCause> {
  return await writeAlone(writer, async (on) => {
    const existing = await inTransaction(on, writer.tenantName);
    const before = existing.find(
      (each) =>
        each.allocation_detail === input.allocation_detail &&
        each.product_type === input.product_type &&
        each.rule === input.rule,
    );
    const { accepted_until, reason, created_by } = input;
    if (before === undefined) {
      if (existing.length >= MOST_ACCEPTED_CAUSES) throw new TooManyAcceptedCausesError();
      const { allocation_detail, product_type, rule } = input;
      const accepted = await one(on, {
        query: `INSERT INTO accepted_causes (tenant_name, allocation_detail, product_type, rule, accepted_until, reason, created_by)
          VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${ACCEPTED_CAUSE}`,
        params: [
          writer.tenantName,
          allocation_detail,
          product_type,
          rule,
          accepted_until,
          reason,
          created_by,
        ],
      });
      await writer.stop?.record?.(on, { accepted_cause_id: accepted.accepted_cause_id });
      return accepted;
    }
    const isSame =
      before.accepted_until === accepted_until &&
      before.reason === reason &&
      before.created_by === created_by;
    if (isSame) return before;
    const replaced = await one(on, {
      query: `UPDATE accepted_causes SET accepted_until = $2, reason = $3, created_by = $4, created_at = now()
        WHERE accepted_cause_id = $1 RETURNING ${ACCEPTED_CAUSE}`,
      params: [before.accepted_cause_id, accepted_until, reason, created_by],
    });
    await writer.stop?.record?.(on, {
      accepted_cause_id: before.accepted_cause_id,
      former_accepted_until: before.accepted_until,
      former_reason: before.reason,
      former_created_by: before.created_by,
    });
    return replaced;
  });
}

/** Takes a decision back: the cause is in the worklist again. */
export async function takeBackCause(writer: AssignmentWriter, acceptedCauseId: number): Promise<void> {
  await writeAlone(writer, async (on) => {
    const existing = await inTransaction(on, writer.tenantName);
    const before = existing.find(({ accepted_cause_id }) => accepted_cause_id === acceptedCauseId);
    if (before === undefined) throw new AcceptedCauseNotFoundError(acceptedCauseId);
    await runStatement(on, {
      query: "DELETE FROM accepted_causes WHERE accepted_cause_id = $1",
      params: [acceptedCauseId],
    });
    // The audit log is the only place that still has it.
    const { created_at: _, ...decision } = before;
    await writer.stop?.record?.(on, decision);
  });
}

async function inTransaction(on: PoolClient, tenantName: string): Promise<AcceptedCause[]> {
  return (await runStatement<AcceptedCause>(on, acceptedCauses(tenantName))).rows;
}

async function one(on: PoolClient, statement: PgStatement): Promise<AcceptedCause> {
  const [row] = (await runStatement<AcceptedCause>(on, statement)).rows;
  if (row === undefined) throw new Error("an accepted cause is gone, although the tenant is locked");
  return row;
}
