/** The result of migrating a store, and the error that stops a start. */
import { errorMessage } from "../error-message.js";
import { fileName } from "./migration-files.js";
import type { KnownMigration, MigrationPlan, MigrationPlanEntry } from "./plan.js";

/** A line of `chargehouse migrate --status`. */
export interface MigrationStatus extends MigrationPlanEntry {
  /** `postgres`, or `clickhouse` and the database: `clickhouse/acme`. */
  store: string;
}

export interface MigrationReport {
  store: string;
  /** Migrations that this call applied, in order, such as `0001_tenants`. */
  applied: string[];
  duration_ms: number;
}

/** This version of the code cannot use or migrate the schema. The message is one sentence for the operator. */
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

/** A migration failed. Postgres is as before; ClickHouse is repaired by running the file again. */
export class MigrationFailed extends Error {
  readonly code = "migration_failed";
  constructor(store: string, revision: KnownMigration, cause: unknown) {
    const reason = errorMessage(cause);
    super(`${store}: revision ${fileName(revision)} failed: ${reason}`, { cause });
    this.name = "MigrationFailed";
  }
}

/** Returns the pending migrations of a plan, or throws `MigrationRefused`. */
export function pendingOrRefuse<Known extends KnownMigration>(
  store: string,
  plan: MigrationPlan<Known>,
): Known[] {
  if (plan.refusal !== undefined) throw new MigrationRefused(store, plan.refusal);
  return plan.pending;
}

export function migrationStatus(store: string, plan: MigrationPlan<KnownMigration>): MigrationStatus[] {
  return plan.revisions.map((revision) => ({ store, ...revision }));
}
