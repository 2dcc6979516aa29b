import type { ClickHouseClient } from "@clickhouse/client";
import t, { type Test } from "tap";
import { calculateDays } from "../../src/allocate/calculate.js";
import { chargebackLedger } from "../../src/allocate/ledger.js";
import { storeRuleSet } from "../../src/allocate/rules.js";
import { claimStaging } from "../../src/clickhouse/staging.js";
import { openTestStores } from "../stores.js";
import { allocate, type RefereeInput, type RefereeRow } from "./referee.js";
import { decimalUnits, readStaged, stageInput, variedRuleSet } from "./staged-days.js";

/**
 * Over many small lines, all recipients pay their share. No line is large enough to be divided, so rounding decides
 * everything.
 */
const day = "2026-01-01";
const LINES = 3_000;

interface Kind {
  readonly name: string;
  readonly cost: string;
  readonly product?: string;
  /** Millionths of the metric's unit. */
  readonly weights?: Readonly<Record<string, bigint>>;
  readonly even?: readonly string[];
  /** The expected part of each recipient, in thousandths of the whole. */
  readonly parts: Readonly<Record<string, number>>;
}

const third = { a: 1000 / 3, b: 1000 / 3, c: 1000 / 3 };
const kinds: readonly Kind[] = [
  { name: "less than a tick, evenly", cost: "0.00009", even: ["a", "b", "c"], parts: third },
  { name: "one tick, evenly", cost: "0.0001", even: ["a", "b", "c"], parts: third },
  { name: "refunds of one tick, evenly", cost: "-0.0001", even: ["a", "b", "c"], parts: third },
  {
    name: "refunds of less than a tick, evenly",
    cost: "-0.000000000001",
    even: ["a", "b"],
    parts: { a: 500, b: 500 },
  },
  {
    name: "two and a half ticks by use",
    cost: "0.00025",
    weights: { a: 700n, b: 200n, c: 100n },
    parts: { a: 700, b: 200, c: 100 },
  },
  {
    name: "less than a tick by use, most of it last",
    cost: "0.00009",
    weights: { a: 1n, b: 9n },
    parts: { a: 100, b: 900 },
  },
  {
    name: "weights whose sum is near to 2^64",
    cost: "0.0001",
    weights: { a: 2n ** 62n, b: 2n ** 62n, c: 2n ** 62n },
    parts: third,
  },
  {
    name: "weights whose sum is far beyond 2^64",
    cost: "0.00018",
    weights: { a: 10n ** 21n, b: 10n ** 21n, c: 10n ** 21n },
    parts: third,
  },
  {
    name: "components of one tick",
    product: "CKU",
    cost: "0.0001",
    weights: { a: 1n, b: 1n },
    even: ["c", "d"],
    parts: { a: 350, b: 350, c: 150, d: 150 },
  },
  {
    name: "components of less than a tick",
    product: "CKU",
    cost: "0.00009",
    weights: { a: 1n, b: 1n },
    even: ["c", "d"],
    parts: { a: 350, b: 350, c: 150, d: 150 },
  },
];

t.test("rounding favours no recipient over many lines", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  await claimStaging(client, 1);
  await storeRuleSet(client, variedRuleSet);
  const input = kinds.map(inputOf).reduce(joined);
  const rows = await allocated(t, client, input);
  t.ok(sameRows(rows, allocate({ ...input, rules: variedRuleSet })), "rows equal the reference's");
  for (const [index, { name, cost, parts }] of kinds.entries()) {
    const sums = new Map<string, bigint>();
    for (const row of rows)
      if (row.key.startsWith(`${index}/`))
        sums.set(row.identity_id, (sums.get(row.identity_id) ?? 0n) + row.amount);
    t.strictSame([...sums.keys()].sort(), Object.keys(parts), `${name}: all of them pay`);
    const total = decimalUnits(cost) * BigInt(LINES);
    t.equal(
      [...sums.values()].reduce((sum, each) => sum + each, 0n),
      total,
      `${name}: nothing is lost`,
    );
    for (const [who, part] of Object.entries(parts)) {
      const p = part / 1000;
      // A line's part differs from the exact one by less than a tick, or by less than the line if that is smaller. The
      // tolerance is four standard deviations.
      const step =
        Math.min(Math.abs(Number(decimalUnits(cost))), 1e8) + (Math.abs(Number(decimalUnits(cost))) % 1e8);
      const bound = 4 * Math.sqrt(LINES * p * (1 - p)) * step;
      const off = Number(sums.get(who) ?? 0n) - Number(total) * p;
      t.ok(
        Math.abs(off) < bound,
        `${name}: ${who} is off by ${off / 1e12} of ${Number(total) / 1e12}, at most ${bound / 1e12}`,
      );
    }
  }
  t.ok(
    sameRows(await allocated(t, client, turned(input)), rows),
    "the order of lines and facts does not matter",
  );
});

function inputOf({ cost, product = "NETWORK", weights = {}, even = [] }: Kind, index: number): RefereeInput {
  const resource_id = `r${index}`;
  return {
    lines: Array.from({ length: LINES }, (_, i) => ({
      key: `${index}/bucket-${i}`,
      currency: "USD",
      day,
      resource_id,
      product_type: product,
      cost: decimalUnits(cost),
    })),
    usage: Object.entries(weights).map(([identity_id, weight]) => ({
      day,
      metric: "bytes_in",
      resource_id,
      identity_id,
      weight,
    })),
    sets: even.map((identity_id) => ({ day, scope: "resource_active", resource_id, identity_id })),
    gaps: [],
    decimalPlaces: 4,
    rules: variedRuleSet,
  };
}

function joined(a: RefereeInput, b: RefereeInput): RefereeInput {
  return {
    ...a,
    lines: [...a.lines, ...b.lines],
    usage: [...a.usage, ...b.usage],
    sets: [...a.sets, ...b.sets],
  };
}

function turned(input: RefereeInput): RefereeInput {
  return {
    ...input,
    lines: input.lines.toReversed(),
    usage: input.usage.toReversed(),
    sets: input.sets.toReversed(),
  };
}

async function allocated(t: Test, client: ClickHouseClient, input: RefereeInput): Promise<RefereeRow[]> {
  await stageInput(client, 1, input);
  const checks = await calculateDays(
    {
      ledger: chargebackLedger,
      client,
      epoch: 1,
      rules: variedRuleSet,
      decimalPlaces: input.decimalPlaces,
      maxMemoryBytes: 2 ** 30,
      signal: new AbortController().signal,
    },
    [day],
  );
  t.strictSame(
    checks.map(({ lines, lines_off }) => [Number(lines), Number(lines_off)]),
    [[kinds.length * LINES, 0]],
    "every line conserves",
  );
  return await readStaged(client, 1);
}

function sameRows(a: readonly RefereeRow[], b: readonly RefereeRow[]): boolean {
  const text = (row: RefereeRow | undefined) =>
    row && [row.key, row.component, row.identity_id, row.amount].join();
  return a.length === b.length && a.every((row, i) => text(row) === text(b[i]));
}
