/** The bill of each day, with the vendor's later corrections. */
import { addDays, DAY_MS, dayOf, midnightOf } from "../../common/days.js";
import { hash } from "../hash.js";
import { type Charge, chargesOf } from "./charges.js";
import { type CostRow, costRow, costRowText } from "./cost-row.js";
import { type MalformedKind, malformedText } from "./malformed.js";
import type { ConfluentOrganisation } from "./organisation.js";

/** A correction of rows of the bill. Without `lineType` and `resource`, it applies to all rows of the day. */
export type Correction = {
  readonly day: string;
  readonly lineType?: string;
  readonly resource?: string;
} & (
  | { readonly kind: "withdrawn" }
  /** `percent` is a whole number. The amounts are multiplied by it and divided by 100. */
  | { readonly kind: "revised"; readonly percent: number }
);

export interface SimulatedBill {
  /** Current rows of a day, without malformed rows. Empty before the history, and from today on. */
  rows(day: string): CostRow[];
  /** Current rows of a day as JSON, with malformed rows. */
  texts(day: string): readonly string[];
  /** Replaces all corrections. */
  setCorrections(corrections: readonly Correction[]): void;
  /** Replaces the malformed rows: each day gets one row of each kind. */
  setMalformed(kinds: readonly MalformedKind[]): void;
}

/**
 * Cache size: 40,000 rows of about 450 characters. A page of 10,000 rows covers three days of the largest organisation.
 */
const MAX_CACHED_ROWS = 40_000;
/** Every 13th row has its numbers as text. */
const QUOTED_EVERY = 13;

export function createBill(organisation: ConfluentOrganisation): SimulatedBill {
  let corrections: readonly Correction[] = [];
  let malformed: readonly MalformedKind[] = [];
  const cache = new Map<string, readonly string[]>();

  function rows(day: string): CostRow[] {
    const midnight = midnightOf(day).getTime();
    const today = dayOf(new Date(organisation.now()));
    if (midnight < organisation.start || day >= today) return [];
    const found: CostRow[] = [];
    let sequence = 0;
    for (const charge of chargesOf(organisation, midnight)) {
      sequence += 1;
      const row = corrected(costRow(charge, day, rowId(organisation, midnight, sequence)), corrections);
      if (row !== undefined) found.push(row);
    }
    return found;
  }

  function texts(day: string): readonly string[] {
    const cached = cache.get(day);
    if (cached !== undefined) return cached;
    const nextDay = addDays(day, 1);
    const written = rows(day).map((row, at) =>
      costRowText(row, nextDay, at % QUOTED_EVERY === QUOTED_EVERY - 1),
    );
    if (written.length > 0) written.push(...malformed.map((kind) => malformedText(kind, day, nextDay)));
    let size = written.length;
    for (const each of cache.values()) size += each.length;
    for (const [oldest, each] of cache) {
      if (size <= MAX_CACHED_ROWS) break;
      cache.delete(oldest);
      size -= each.length;
    }
    cache.set(day, written);
    return written;
  }

  return {
    rows,
    texts,
    setCorrections(next) {
      corrections = next;
      cache.clear();
    },
    setMalformed(kinds) {
      malformed = kinds;
      cache.clear();
    },
  };
}

function rowId({ seed }: ConfluentOrganisation, midnight: number, sequence: number): string {
  const day = midnight / DAY_MS;
  const noise = hash(seed, 91, day, sequence).toString(36);
  return `c-${day.toString(36)}${sequence.toString(36).padStart(4, "0")}${noise}`;
}

function corrected(row: CostRow, corrections: readonly Correction[]): CostRow | undefined {
  let now = row;
  for (const correction of corrections) {
    if (!appliesTo(correction, row.day, row.charge)) continue;
    if (correction.kind === "withdrawn") return undefined;
    const times = (amount: bigint) => (amount * BigInt(correction.percent)) / 100n;
    const [original, discount] = [times(now.original), times(now.discount)];
    now = { ...now, original, discount, amount: original - discount };
  }
  return now;
}

function appliesTo(correction: Correction, day: string, { lineType, resource }: Charge): boolean {
  return (
    correction.day === day &&
    (correction.lineType ?? lineType) === lineType &&
    (correction.resource === undefined || correction.resource === resource?.id)
  );
}
