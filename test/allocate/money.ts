import fc from "../property.js";
import type { RefereeInput, RefereeLine } from "./referee.js";
import { unit } from "./staged-days.js";

/**
 * Lines whose split is not trivial, on purpose: chance alone gives lines with one recipient, and amounts that divide
 * evenly. Every line has its own resource, and so exactly the recipients that it was drawn with.
 */

/** How the recipients of a line are found. */
const ways = ["usage", "combined", "even", "owner", "outage", "nobody"] as const;

/** How weights relate to each other. */
const shapes = ["equal", "ramp", "rough", "with zeros", "one is all"] as const;

/** How large the product of cost and weights gets, compared with Int128. */
export const widths = ["usual", "just fits", "just too wide", "far too wide"] as const;

/** All usage of a day, by width. With the largest cost of 10^27, the products have so many digits more. */
const dayWeight: Readonly<Record<(typeof widths)[number], bigint>> = {
  usual: 10n ** 8n,
  "just fits": 7n * 10n ** 9n,
  "just too wide": 10n ** 13n,
  "far too wide": 10n ** 30n,
};

const cost = fc.oneof(
  { weight: 3, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 15n }) },
  { weight: 2, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 7n }).map((cents) => cents * 10n ** 10n) },
  { weight: 1, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 4n }) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 10n ** 8n, unit) },
  { weight: 1, arbitrary: fc.bigInt({ min: unit * (10n ** 15n - 10n ** 6n), max: unit * 10n ** 15n }) },
);

const drawnLine = fc.record({
  way: fc.constantFrom(...ways),
  recipients: fc.constantFrom<number[]>(1, 2, 2, 2, 3, 3, 5, 10),
  shape: fc.constantFrom(...shapes),
  salt: fc.nat(),
  cost,
  refund: fc.constantFrom(false, false, true),
  /** Lines with the same key are one line, also if they cancel each other out. */
  twice: fc.constantFrom("no", "no", "no", "more", "less"),
  hours: fc.constantFrom(1, 1, 1, 3),
  currency: fc.constantFrom("USD", "USD", "EUR"),
  /** Lines with the same key and two currencies are two lines. */
  alsoIn: fc.constantFrom(undefined, undefined, undefined, "GBP"),
});

type DrawnLine = typeof drawnLine extends fc.Arbitrary<infer Line> ? Line : never;

export type MoneyInput = Omit<RefereeInput, "rules">;

const days = ["2026-01-01", "2026-01-02"];

/** Days without the metric that this kind of line is split by. */
const outageDay = "2026-01-03";
export const moneyDays = [...days, outageDay];

const productOf: Readonly<Record<(typeof ways)[number], string>> = {
  usage: "NETWORK",
  combined: "CKU",
  even: "NETWORK",
  owner: "CONNECTOR",
  outage: "NETWORK",
  nobody: "UNKNOWN",
};

/** Lines with a thousand and with ten thousand recipients. */
const crowds = fc
  .record({
    shape: fc.constantFrom(...shapes.filter((shape) => shape !== "one is all")),
    salt: fc.nat(),
    refund: fc.boolean(),
  })
  .map((drawn) =>
    [1000, 10_000].map(
      (recipients): DrawnLine => ({
        ...drawn,
        recipients,
        way: "usage",
        cost: 12_345n * unit + 678_901_234_567n,
        twice: "no",
        hours: 1,
        currency: "USD",
        alsoIn: undefined,
      }),
    ),
  );

/** Draws so many lines and a few more, all with the given decimal places and width. */
export function moneyInput(lines: number, decimalPlaces: number, width: (typeof widths)[number]) {
  const drawn = fc.array(drawnLine, { minLength: lines, maxLength: lines, size: "max" });
  return fc
    .tuple(drawn, width === "usual" ? crowds : fc.constant([]))
    .map((parts) => placed(parts.flat(), decimalPlaces, width));
}

function placed(
  drawn: readonly DrawnLine[],
  decimalPlaces: number,
  width: (typeof widths)[number],
): MoneyInput {
  const lines: RefereeLine[] = [];
  const usage: MoneyInput["usage"][number][] = [];
  const sets: MoneyInput["sets"][number][] = [];
  const units = dayWeight[width];
  drawn.forEach((line, index) => {
    const { way, recipients, shape, salt } = line;
    const day = way === "outage" ? outageDay : (days[index % days.length] ?? "");
    const resource_id = `r-${index}`;
    const place = { day, resource_id };
    lines.push(
      ...linesOf(line, {
        ...place,
        currency: line.currency,
        key: `k-${index}`,
        product_type: productOf[way],
      }),
    );
    const names = Array.from({ length: recipients }, (_, i) => nameOf(salt, i));
    const weigh = (metric: string, weights: readonly bigint[]) =>
      usage.push(
        ...names.map((identity_id, i) => ({ ...place, metric, identity_id, weight: weights[i] ?? 0n })),
      );
    const scale = units / BigInt(drawn.length * 4);
    if (way === "usage") weigh("bytes_in", weightsOf(shape, recipients, salt, scale));
    if (way === "combined") {
      weigh("bytes_in", weightsOf(shape, recipients, salt, scale / 2n));
      weigh("bytes_out", weightsOf("rough", recipients, salt + 1, scale / 2n).toReversed());
    }
    if (way === "even" || way === "outage" || way === "combined")
      sets.push(...names.map((identity_id) => ({ ...place, scope: "resource_active", identity_id })));
    if (way === "owner") sets.push({ ...place, scope: "owner", identity_id: names[0] ?? "" });
  });
  // Decides the width: the largest cost, on a day with as much usage as the width requires.
  const largest = { day: days[0] ?? "", resource_id: "r-largest", product_type: "NETWORK" };
  lines.push({ ...largest, key: "largest", currency: "USD", cost: unit * 10n ** 15n });
  for (const [i, identity_id] of ["a", "b", "c"].entries())
    usage.push({
      day: largest.day,
      metric: "bytes_in",
      resource_id: "r-largest",
      identity_id,
      weight: units / 3n - BigInt(i),
    });
  const out = lines.filter(({ day }) => day === outageDay);
  const gaps = out.map(({ day, resource_id }) => ({ day, metric: "bytes_in", resource_id }));
  return { lines, usage, sets, gaps, decimalPlaces };
}

function linesOf(
  { cost, refund, twice, hours, alsoIn }: DrawnLine,
  line: Omit<RefereeLine, "cost">,
): RefereeLine[] {
  const signed = refund ? -cost : cost;
  return Array.from({ length: hours }, (_, hour) => ({
    ...line,
    key: hour === 0 ? line.key : `${line.key}@${hour}`,
  })).flatMap((each) => [
    { ...each, cost: signed },
    ...(twice === "more" ? [{ ...each, cost: signed / 3n }] : []),
    ...(twice === "less" ? [{ ...each, cost: -signed }] : []),
    ...(alsoIn === undefined ? [] : [{ ...each, currency: alsoIn, cost: signed / 7n }]),
  ]);
}

/** Names in no order, some with other characters than letters, and one that is `nobody`. */
function nameOf(salt: number, index: number): string {
  const prefix = ["sa-", "u é ", "Z", "pool/"][(salt + index) % 4];
  return salt % 17 === 0 && index === 1
    ? "UNALLOCATED"
    : `${prefix}${(index * 7919 + salt) % 100_003}-${index}`;
}

interface Weighing {
  readonly i: number;
  readonly count: number;
  readonly salt: number;
  readonly each: bigint;
}

function rough({ i, salt, each }: Weighing): bigint {
  return 1n + ((BigInt(i + 1) * 2_654_435_761n + BigInt(salt) * 40_503n) % each);
}

const weightOf: Readonly<Record<(typeof shapes)[number], (weighing: Weighing) => bigint>> = {
  equal: ({ each }) => each,
  ramp: ({ i, count, each }) => 1n + (each * BigInt(i)) / BigInt(count),
  rough,
  "with zeros": (weighing) => (weighing.i % 3 === 1 ? 0n : rough(weighing)),
  "one is all": ({ i, count, salt, each }) => (i === salt % count ? each : 0n),
};

/** Weights that add up to the scale or less. */
function weightsOf(shape: (typeof shapes)[number], count: number, salt: number, scale: bigint): bigint[] {
  const each = scale / BigInt(count) || 1n;
  return Array.from({ length: count }, (_, i) => weightOf[shape]({ i, count, salt, each }));
}
