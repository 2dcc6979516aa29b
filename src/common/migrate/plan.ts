/**
 * What has to be done with a store's schema: decided here, by one pure function, for Postgres and for ClickHouse. The two stores
 * only read what was applied, and apply what is pending.
 */
import { fileName } from "./revisions.js";

/** A revision that the code has. */
export interface KnownRevision {
  revision: string;
  name: string;
  checksum: string;
}

/** A revision that the store's ledger has. */
export interface AppliedRevision {
  revision: string;
  name: string;
  /** Null where none was recorded: then there is nothing to compare. */
  checksum: string | null;
  /** ISO 8601, UTC. */
  applied_at: string;
}

/**
 * - `applied`, `pending`: as they say;
 * - `changed`: applied, but the code's text (or name) for it is another now;
 * - `missing`: applied, but the code lacks it; or the code has it and it was passed over (then `applied_at` is null);
 * - `newer`: applied, and later than all that the code knows.
 */
export type RevisionState = "applied" | "pending" | "changed" | "missing" | "newer";

export interface RevisionStatus {
  revision: string;
  name: string;
  state: RevisionState;
  applied_at: string | null;
}

export interface MigrationPlan<Known extends KnownRevision> {
  /** All revisions of either side, in order. */
  revisions: RevisionStatus[];
  /** What is to be applied, in order. Empty when there is a refusal. */
  pending: Known[];
  /** Why nothing may be done, in one sentence; undefined when all is well. */
  refusal: string | undefined;
}

export function planMigrations<Known extends KnownRevision>(
  known: readonly Known[],
  applied: readonly AppliedRevision[],
): MigrationPlan<Known> {
  const knownBy = new Map(known.map((entry) => [Number(entry.revision), entry]));
  const appliedBy = new Map(applied.map((entry) => [Number(entry.revision), entry]));
  const latestKnown = Math.max(-1, ...knownBy.keys());
  const latestApplied = Math.max(-1, ...appliedBy.keys());

  const numbers = [...new Set([...knownBy.keys(), ...appliedBy.keys()])].sort((a, b) => a - b);
  const revisions = numbers.flatMap((number): RevisionStatus[] => {
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
  here: KnownRevision | undefined,
  there: AppliedRevision | undefined,
  place: { newer: boolean; passedOver: boolean },
): RevisionState {
  if (there === undefined) return place.passedOver ? "missing" : "pending";
  if (here === undefined) return place.newer ? "newer" : "missing";
  const sameText = there.checksum === null || there.checksum === here.checksum;
  return sameText && there.name === here.name ? "applied" : "changed";
}

/** Before the first release the schema had other files. Their data is not migrated. */
function unreleased(
  [first]: readonly KnownRevision[],
  applied: readonly AppliedRevision[],
): string | undefined {
  const before = applied.find(({ revision }) => revision === first?.revision);
  if (before === undefined || before.name === first?.name || before.checksum === first?.checksum)
    return undefined;
  return `the data was written by an unreleased version of chargehouse, whose first revision was ${fileName(before)}, and cannot be migrated: move the data directory away, or drop the databases, and the next runs gather anew`;
}

/** The first problem of the gravest kind: with a newer schema, all other differences follow from it. */
function refusalOf(
  revisions: readonly RevisionStatus[],
  known: readonly KnownRevision[],
): string | undefined {
  const first = (state: RevisionState) => revisions.find((entry) => entry.state === state);

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
