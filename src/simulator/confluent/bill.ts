/** The bill, day by day, with what the vendor corrects afterwards. */
import { addDays, DAY_MS, dayOf, midnightOf } from "../../time/days.js";
import { hash } from "../hash.js";
import { type Charge, chargesOf } from "./charges.js";
import { type CostRow, costRow, costRowText } from "./cost-row.js";
import { type MalformedKind, malformedText } from "./malformed.js";
import type { ConfluentOrganisation } from "./organisation.js";

/** What becomes of rows that are on the bill. Without `lineType` and `resource`: of all of the day. */
export type Correction = {
  readonly day: string;
  readonly lineType?: string;
  readonly resource?: string;
} & (
  | { readonly kind: "withdrawn" }
  /** Their amounts are so many hundredths of what they were: a whole number. */
  | { readonly kind: "revised"; readonly percent: number }
);

export interface Bill {
  /** Rows of a day as they stand now, without the malformed. Empty before the history, and from today on. */
  rows(day: string): CostRow[];
  /** The same as JSON, and the malformed. */
  texts(day: string): readonly string[];
  /** From now on these, and no others. */
  setCorrections(corrections: readonly Correction[]): void;
  /** From now on one row of each of these a day. */
  setMalformed(kinds: readonly MalformedKind[]): void;
}

/** 40,000 rows of some 450 characters; a page of 10,000 rows reaches over three days of the largest organisation. */
const ROWS_KEPT = 40_000;
/** One row in so many has its numbers as text. */
const QUOTED = 13;

export function createBill(organisation: ConfluentOrganisation): Bill {
  let corrections: readonly Correction[] = [];
  let malformed: readonly MalformedKind[] = [];
  const kept = new Map<string, readonly string[]>();

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
    const known = kept.get(day);
    if (known !== undefined) return known;
    const nextDay = addDays(day, 1);
    const written = rows(day).map((row, at) => costRowText(row, nextDay, at % QUOTED === QUOTED - 1));
    if (written.length > 0) written.push(...malformed.map((kind) => malformedText(kind, day, nextDay)));
    let size = written.length;
    for (const each of kept.values()) size += each.length;
    for (const [oldest, each] of kept) {
      if (size <= ROWS_KEPT) break;
      kept.delete(oldest);
      size -= each.length;
    }
    kept.set(day, written);
    return written;
  }

  return {
    rows,
    texts,
    setCorrections(next) {
      corrections = next;
      kept.clear();
    },
    setMalformed(kinds) {
      malformed = kinds;
      kept.clear();
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
    if (!concerns(correction, row.day, row.charge)) continue;
    if (correction.kind === "withdrawn") return undefined;
    const times = (amount: bigint) => (amount * BigInt(correction.percent)) / 100n;
    const [original, discount] = [times(now.original), times(now.discount)];
    now = { ...now, original, discount, amount: original - discount };
  }
  return now;
}

function concerns(correction: Correction, day: string, { lineType, resource }: Charge): boolean {
  return (
    correction.day === day &&
    (correction.lineType ?? lineType) === lineType &&
    (correction.resource === undefined || correction.resource === resource?.id)
  );
}
