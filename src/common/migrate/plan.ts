/**
 * Decides, by a pure function, what has to be done with the schema of Postgres or ClickHouse. The stores only read what was
 * applied, and apply what is pending.
 */
import { fileName } from "./migration-files.js";

/** A migration that the code has. */
export interface KnownMigration {
  revision: string;
  name: string;
  checksum: string;
}

/** A migration that the store has recorded as applied. */
export interface AppliedMigration {
  revision: string;
  name: string;
  /** Null if none was recorded. Then it is not compared. */
  checksum: string | null;
  /** ISO 8601, UTC. */
  applied_at: string;
}

/**
 * - `changed`: applied, but its file has another text or name now
 * - `missing`: applied, but the code has no such file; or it was passed over (then `applied_at` is null)
 * - `newer`: applied, and later than all that the code knows
 */
export type MigrationState = "applied" | "pending" | "changed" | "missing" | "newer";

export interface MigrationPlanEntry {
  revision: string;
  name: string;
  state: MigrationState;
  applied_at: string | null;
}

export interface MigrationPlan<Known extends KnownMigration> {
  /** All migrations of the code and of the store, in order. */
  revisions: MigrationPlanEntry[];
  /** Migrations to apply, in order. Empty if there is a refusal. */
  pending: Known[];
  /** Why nothing may be applied, in one sentence. */
  refusal: string | undefined;
}

export function planMigrations<Known extends KnownMigration>(
  known: readonly Known[],
  applied: readonly AppliedMigration[],
): MigrationPlan<Known> {
  const knownBy = new Map(known.map((entry) => [Number(entry.revision), entry]));
  const appliedBy = new Map(applied.map((entry) => [Number(entry.revision), entry]));
  const latestKnown = Math.max(-1, ...knownBy.keys());
  const latestApplied = Math.max(-1, ...appliedBy.keys());

  const numbers = [...new Set([...knownBy.keys(), ...appliedBy.keys()])].sort((a, b) => a - b);
  const revisions = numbers.flatMap((number): MigrationPlanEntry[] => {
    const there = appliedBy.get(number);
    const here = knownBy.get(number);
    const entry = there ?? here;
    if (entry === undefined) return [];
    const state = stateOf(here, there, { newer: number > latestKnown, passedOver: number < latestApplied });
    return [{ revision: entry.revision, name: entry.name, state, applied_at: there?.applied_at ?? null }];
  });
  const refusal = unreleased(known, applied) ?? refusalOf(revisions, known);
  const pending =
    refusal === undefined ? known.filter((entry) => !appliedBy.has(Number(entry.revision))) : [];
  return { revisions, pending, refusal };
}

function stateOf(
  here: KnownMigration | undefined,
  there: AppliedMigration | undefined,
  position: { newer: boolean; passedOver: boolean },
): MigrationState {
  if (there === undefined) return position.passedOver ? "missing" : "pending";
  if (here === undefined) return position.newer ? "newer" : "missing";
  const sameText = there.checksum === null || there.checksum === here.checksum;
  return sameText && there.name === here.name ? "applied" : "changed";
}

/** Before the first release the schema had other files. Their data is not migrated. */
function unreleased(
  [first]: readonly KnownMigration[],
  applied: readonly AppliedMigration[],
): string | undefined {
  const before = applied.find(({ revision }) => revision === first?.revision);
  if (before === undefined || before.name === first?.name || before.checksum === first?.checksum)
    return undefined;
  return `the data was written by an unreleased version of chargehouse, whose first revision was ${fileName(before)}, and cannot be migrated: move the data directory away, or drop the databases, and the next runs gather anew`;
}

/** Returns the first problem of the worst kind. With a newer schema, all other differences follow from it. */
function refusalOf(
  revisions: readonly MigrationPlanEntry[],
  known: readonly KnownMigration[],
): string | undefined {
  const first = (state: MigrationState) => revisions.find((entry) => entry.state === state);

  const newer = first("newer");
  if (newer !== undefined) {
    const latest = known.at(-1);
    const newest =
      latest === undefined ? "none is known here" : `the newest known here is ${fileName(latest)}`;
    return `the schema is newer than this version of chargehouse: it has revision ${fileName(newer)}, and ${newest}`;
  }
  const missing = first("missing");
  if (missing?.applied_at === null) {
    const later = revisions.filter((entry) => entry.applied_at !== null).at(-1);
    return `the revision history is broken: ${fileName(missing)} was never applied, though the later ${fileName(later ?? missing)} was`;
  }
  if (missing !== undefined) {
    return `the revision history is broken: ${fileName(missing)} was applied, but this version of chargehouse does not have it`;
  }
  const changed = first("changed");
  if (changed !== undefined) {
    return `the revision history is broken: ${fileName(changed)} was applied and has been changed in the code since`;
  }
  return undefined;
}
