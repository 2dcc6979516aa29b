/** The result of migrating a store, and the error that stops a start. */
import { errorMessage } from "../error-message.js";
import type { KnownRevision, MigrationPlan, RevisionStatus } from "./plan.js";
import { fileName } from "./revisions.js";

/** A line of `chargehouse migrate --status`. */
export interface MigrationStatus extends RevisionStatus {
  /** `postgres`, or `clickhouse` and the database: `clickhouse/acme`. */
  store: string;
}

export interface MigrationReport {
  store: string;
  /** What was applied by this call, in order, as `0001_tenants`. */
  applied: string[];
  duration_ms: number;
}

/** The schema and the code do not fit. The message is one sentence for the operator. */
export class MigrationRefused extends Error {
  readonly code = "migration_refused";
  constructor(
    readonly store: string,
    reason: string,
  ) {
    super(`${store}: ${reason}.`);
    this.name = "MigrationRefused";
  }
}

/** A revision failed. The store is as before it (Postgres) or is repaired by running the file again (ClickHouse). */
export class MigrationFailed extends Error {
  readonly code = "migration_failed";
  constructor(store: string, revision: KnownRevision, cause: unknown) {
    const reason = errorMessage(cause);
    super(`${store}: revision ${fileName(revision)} failed: ${reason}`, { cause });
    this.name = "MigrationFailed";
  }
}

/** The pending revisions of a plan, or its refusal thrown. */
export function pendingOrRefuse<Known extends KnownRevision>(
  store: string,
  plan: MigrationPlan<Known>,
): Known[] {
  if (plan.refusal !== undefined) throw new MigrationRefused(store, plan.refusal);
  return plan.pending;
}

export function migrationStatus(store: string, plan: MigrationPlan<KnownRevision>): MigrationStatus[] {
  return plan.revisions.map((revision) => ({ store, ...revision }));
}
