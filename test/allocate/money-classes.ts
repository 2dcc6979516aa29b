import { type MoneyInput, widths } from "./money.js";
import { kindOf, otherCostKinds } from "./other-costs.js";
import type { RefereeRow } from "./referee.js";
import { unit } from "./staged-days.js";

/** Counts the kinds of splits that were drawn: a property that never met a kind proves nothing about it. */
export class SplitClasses {
  readonly #counts = new Map<string, number>();
  #lines = 0;

  get lines(): number {
    return this.#lines;
  }

  /** The classes that were met fewer times than this. */
  missing(names: readonly string[], times: number): string[] {
    return names.filter((name) => (this.#counts.get(name) ?? 0) < times);
  }

  toString(): string {
    return [...this.#counts].map(([name, count]) => `${name}: ${count}`).join(", ");
  }

  count(input: MoneyInput, rows: readonly RefereeRow[], width: (typeof widths)[number]): void {
    const { decimalPlaces } = input;
    this.#met(`${decimalPlaces} places`, width);
    const tick = 10n ** BigInt(12 - decimalPlaces);
    const bills = groupBy(input.lines, (line) => `${line.key} ${line.currency}`);
    this.#lines += bills.size;
    for (const lines of groupBy(input.lines, (line) => line.key).values())
      if (new Set(lines.map((line) => line.currency)).size > 1) this.#met("one key in two currencies");
    for (const [key, lines] of bills) {
      const cost = lines.reduce((sum, line) => sum + line.cost, 0n);
      const size = cost < 0n ? -cost : cost;
      if (lines.length > 1) this.#met("several lines of one key");
      if (key.includes("@")) this.#met("hourly");
      if (cost === 0n) this.#met(lines.length > 1 ? "lines that cancel out" : "zero");
      if (cost < 0n) this.#met("refund");
      if (size > 0n && size < tick) this.#met("below one tick");
      if (size > 0n && size <= 10n) this.#met("1e-12");
      if (size > unit * 10n ** 14n) this.#met("1e15");
      if (size % tick !== 0n && size > tick) this.#met("with a residue");
    }
    const combined = new Set(
      input.lines.filter((line) => line.product_type === "CKU").map((line) => line.key),
    );
    for (const parts of groupBy(rows, (row) => `${row.key} ${row.currency} ${row.component}`).values()) {
      const [first] = parts;
      if (first === undefined) continue;
      const amounts = parts.map(({ amount }) => (amount < 0n ? -amount : amount));
      this.#met(first.method, `${first.method} among ${crowd(parts.length)}`);
      if (first.detail === "metrics_fetch_failed") this.#met("outage");
      if (parts.length > 1 && parts.some((row) => row.detail === "owner_unknown"))
        this.#met("an unknown owner among others");
      if (parts.length > 1 && first.method === "usage_ratio" && combined.has(first.key))
        this.#met("several metrics together");
      if (isTie(amounts, tick)) this.#met("a tie");
      if (first.billed_cost !== undefined)
        this.#met(
          `billed cost ${kindOf(first, "billed_cost")} among ${parts.length > 1 ? "several" : "one"}`,
        );
    }
  }

  /** How weights were read. */
  read(how: "by the sample" | "by the sum"): void {
    this.#met(`weights ${how}`);
  }

  #met(...names: readonly string[]): void {
    for (const name of names) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const crowds = [1, 2, 3, 10, 1000, 10_000];

/** The size class of a number of recipients: the next larger size. */
function crowd(recipients: number): string {
  return `${crowds.find((size) => recipients <= size)}`;
}

/** Parts that differ by at most one tick, as equal weights produce them. */
function isTie(amounts: readonly bigint[], tick: bigint): boolean {
  const ticks = new Set(amounts.map((amount) => amount / tick));
  const [one, other] = [...ticks];
  return ticks.size === 2 && (one === (other ?? 0n) + 1n || other === (one ?? 0n) + 1n);
}

/** Every class that a run must have met. */
export const splitClasses: readonly string[] = [
  ...Array.from({ length: 11 }, (_, i) => `${i + 2} places`),
  ...widths,
  "weights by the sample",
  "weights by the sum",
  "one key in two currencies",
  "several lines of one key",
  "lines that cancel out",
  "hourly",
  "zero",
  "refund",
  "below one tick",
  "1e-12",
  "1e15",
  "with a residue",
  "outage",
  "an unknown owner among others",
  "a tie",
  "several metrics together",
  "usage_ratio",
  "even_split",
  "direct_owner",
  "terminal",
  ...["1", "2", "3", "10", "1000", "10000"].map((size) => `usage_ratio among ${size}`),
  ...["1", "2", "3", "10"].map((size) => `even_split among ${size}`),
  ...otherCostKinds.flatMap((kind) =>
    ["one", "several"].map((count) => `billed cost ${kind} among ${count}`),
  ),
];
