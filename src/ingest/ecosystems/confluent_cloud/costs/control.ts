/** Control totals of the bill: every row of the vendor's responses is counted, and is in exactly one class. */
import { type Exact, exactText, minus, plus, sumOf, zero } from "../../../../common/exact-decimal.js";
import { type ControlTotal, type RowClass, singleAmountTotal } from "../../../../domain/control-totals.js";
import type { BilledAmount } from "../../../reports.js";
import type { CostPart } from "./cost-row.js";

export type CountedRow = Pick<CostPart, "day" | "cost" | "notes">;

export interface ControlCounter {
  /**
   * Counts a row that is charged, or that costs nothing. The reason is `malformed` for a row that could not be read
   * completely.
   */
  charged(row: CountedRow): void;
  /** Reclassifies a row that was counted as charged and is there a second time. */
  repeated(row: CountedRow): void;
  /** Counts a row of a day that was not requested, under the first day of the query. */
  notRequested(queryStart: string, cost: Exact): void;
  totals(): ControlTotal[];
  /**
   * Sums of the charged rows. Days with more decimal places than the store are left out, because their lines are
   * rounded.
   */
  billed(): BilledAmount[];
}

/** Decimal places of amounts in the store. */
const PLACES = 12;
const CURRENCY = "USD";

interface Sum {
  rows: number;
  cost: Exact;
}

export function createControlCounter(): ControlCounter {
  const sums = new Map<string, { day: string; class: RowClass; reason: string; sum: Sum }>();
  const billed = new Map<string, Exact>();
  const add = (day: string, of: RowClass, reason: string, { rows, cost }: Sum) => {
    const key = `${day} ${of} ${reason}`;
    const entry = sums.get(key) ?? { day, class: of, reason, sum: { rows: 0, cost: zero } };
    sums.set(key, entry);
    entry.sum = { rows: entry.sum.rows + rows, cost: plus(entry.sum.cost, cost) };
  };
  const classOf = ({ units }: Exact): RowClass => (units === 0n ? "zero" : "charged");
  return {
    charged(row) {
      const { day, cost } = row;
      add(day, classOf(cost), reasonOf(row), { rows: 1, cost });
      billed.set(day, plus(billed.get(day) ?? zero, cost));
    },
    repeated(row) {
      const { day, cost } = row;
      add(day, classOf(cost), reasonOf(row), { rows: -1, cost: minus(zero, cost) });
      add(day, "duplicate", "", { rows: 1, cost });
      billed.set(day, minus(billed.get(day) ?? zero, cost));
    },
    notRequested: (queryStart, cost) => add(queryStart, "outside_window", "not_requested", { rows: 1, cost }),
    totals() {
      const classes = [...sums.values()].filter(({ sum }) => sum.rows !== 0);
      const days = [...new Set(classes.map(({ day }) => day))];
      const delivered = days.map((day) => {
        const own = classes.filter((each) => each.day === day).map(({ sum }) => sum);
        const rows = own.reduce((total, sum) => total + sum.rows, 0);
        return total(day, "delivered", "", { rows, cost: sumOf(own.map(({ cost }) => cost)) });
      });
      return [...delivered, ...classes.map((each) => total(each.day, each.class, each.reason, each.sum))];
    },
    billed: () =>
      [...billed]
        .filter(([, { scale }]) => scale <= PLACES)
        .map(([day, amount]) => ({ day, currency: CURRENCY, amount: exactText(amount) })),
  };
}

function reasonOf({ notes }: CountedRow): string {
  return notes.malformed === true ? "malformed" : "";
}

function total(day: string, of: ControlTotal["class"], reason: string, { rows, cost }: Sum): ControlTotal {
  return singleAmountTotal({ day, currency: CURRENCY, class: of, reason, rows, cost: exactText(cost) });
}
