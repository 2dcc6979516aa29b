import t, { type Test } from "tap";
import { type Calculation, calculateDays } from "../../src/allocate/calculate.js";
import { chargebackLedger } from "../../src/allocate/ledger.js";
import { storeRuleSet } from "../../src/allocate/rules.js";
import { claimStaging } from "../../src/clickhouse/staging.js";
import { addDays } from "../../src/common/days.js";
import fc from "../property.js";
import { recordCommands } from "../recorded-commands.js";
import { openTestStores } from "../stores.js";
import { allocate, type RefereeInput } from "./referee.js";
import { decimalUnits, readStaged, stageInput, unit, variedRuleSet } from "./staged-days.js";

/** Days for random cases: a statement allocates many cases at once, each on its own days. */
const days = Array.from({ length: 60 }, (_, i) => addDays("2026-01-01", i));
const epoch = 1;

t.test("the allocation statement returns the same rows as the reference allocator", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  await claimStaging(client, epoch);
  await storeRuleSet(client, variedRuleSet);
  const { client: recording, sent } = recordCommands(client);

  const calculation = (decimalPlaces: number): Calculation => ({
    ledger: chargebackLedger,
    client: recording,
    epoch,
    rules: variedRuleSet,
    decimalPlaces,
    signal: new AbortController().signal,
    maxMemoryBytes: 2 ** 30,
  });

  /** Allocates by SQL and by the reference, and compares the rows line by line and their sums. */
  const compare = async (t: Test, input: Omit<RefereeInput, "rules">) => {
    await stageInput(client, epoch, input);
    const checks = await calculateDays(calculation(input.decimalPlaces), days);
    const rows = await readStaged(client, epoch);
    const wanted = allocate({ ...input, rules: variedRuleSet });
    t.same(rows, wanted, "rows equal the reference's");
    t.ok(
      checks.every((check) => Number(check.lines_off) === 0),
      "every line conserves",
    );
    const billed = input.lines.reduce((sum, line) => sum + line.cost, 0n);
    t.equal(
      rows.reduce((sum, row) => sum + row.amount, 0n),
      billed,
      "the sum is the bill",
    );
    return rows;
  };

  await t.test(
    "random lines, identities, weights, sets and gaps are allocated as by the reference",
    async (t) => {
      await fc.assert(
        fc.asyncProperty(arbitraryInput, async (input) => {
          await compare(t, input);
        }),
        { numRuns: 8, endOnFailure: true },
      );
    },
  );

  await t.test("the allocation does not depend on the order of its input", async (t) => {
    await fc.assert(
      fc.asyncProperty(arbitraryInput, async (input) => {
        const first = await compare(t, input);
        const turned = {
          ...input,
          lines: input.lines.toReversed(),
          usage: input.usage.toReversed(),
          sets: input.sets.toReversed(),
        };
        t.same(await compare(t, turned), first);
      }),
      { numRuns: 3, endOnFailure: true },
    );
  });

  await t.test("a line is allocated to 10,000 identities", async (t) => {
    const usage = Array.from({ length: 10_000 }, (_, i) => ({
      day: "2026-01-01",
      metric: "bytes_in",
      resource_id: "r1",
      identity_id: `sa-${i}`,
      weight: BigInt((i * 7919) % 1000) * 1_000_000n + 1n,
    }));
    const lines = [
      {
        key: "a",
        currency: "USD",
        day: "2026-01-01",
        resource_id: "r1",
        product_type: "NETWORK",
        cost: decimalUnits("12345.678901234567"),
      },
      {
        key: "b",
        currency: "USD",
        day: "2026-01-01",
        resource_id: "r1",
        product_type: "NETWORK",
        cost: decimalUnits("-0.7"),
      },
    ];
    for (const decimalPlaces of [2, 4, 12])
      await compare(t, { lines, usage, sets: [], gaps: [], decimalPlaces });
  });

  await t.test("amounts from 1e-12 to 1e15 are allocated, in Int256 if Int128 would overflow", async (t) => {
    const usage = ["a", "b", "c"].map((identity_id, i) => ({
      day: "2026-01-01",
      metric: "bytes_in",
      resource_id: "r1",
      identity_id,
      weight: 10n ** 27n + BigInt(i),
    }));
    const costs = [1n, -1n, unit * 10n ** 15n + 1n, -unit * 10n ** 15n, 0n];
    const lines = costs.map((cost, i) => ({
      key: `k${i}`,
      currency: "USD",
      day: "2026-01-01",
      resource_id: "r1",
      product_type: "NETWORK",
      cost,
    }));
    for (const decimalPlaces of [2, 4, 12])
      await compare(t, { lines, usage, sets: [], gaps: [], decimalPlaces });
  });

  await t.test("many equal lines whose sum exceeds Int128 are allocated exactly", async (t) => {
    const line = {
      key: "e",
      currency: "USD",
      day: "2026-01-01",
      resource_id: "r1",
      product_type: "NETWORK",
    };
    const lines = Array.from({ length: 30 }, () => ({ ...line, cost: 10_000n * unit }));
    const usage = ["a", "b"].map((identity_id, i) => ({
      day: "2026-01-01",
      metric: "bytes_in",
      resource_id: "r1",
      identity_id,
      weight: BigInt(3 + 3 * i) * 10n ** 20n,
    }));
    await compare(t, { lines, usage, sets: [], gaps: [], decimalPlaces: 12 });
  });

  await t.test("many rows take two statements side by side, few rows take one", async (t) => {
    for (const [members, statements] of [
      [499, 1],
      [500, 2],
    ] as const) {
      const sets = Array.from({ length: members }, (_, i) => ({
        day: "2026-01-01",
        scope: "owner",
        resource_id: "another",
        identity_id: `sa-${i}`,
      }));
      const lines = Array.from({ length: 2_000 }, (_, i) => ({
        key: `k${i}`,
        currency: "USD",
        resource_id: "r1",
        product_type: "NETWORK",
        cost: BigInt(i) * unit,
        day: i % 2 === 0 ? "2026-01-01" : "2026-02-28",
      }));
      sent.length = 0;
      const rows = await compare(t, { lines, usage: [], sets, gaps: [], decimalPlaces: 4 });
      t.equal(rows.length, 2_000);
      t.equal(sent.filter((query) => query.includes("INSERT INTO staged_chargebacks")).length, statements);
    }
  });

  await t.test("the allocation returns results that were worked out by hand", async (t) => {
    for (const { name, cost, weights, even, owners, wanted, product = "NETWORK" } of vectors) {
      await t.test(name, async (t) => {
        const day = "2026-01-01";
        const rows = await compare(t, {
          lines: [
            {
              key: "k",
              currency: "USD",
              day,
              resource_id: "r1",
              product_type: product,
              cost: decimalUnits(cost),
            },
          ],
          usage: Object.entries(weights ?? {}).map(([identity_id, weight]) => ({
            day,
            metric: "bytes_in",
            resource_id: "r1",
            identity_id,
            weight: BigInt(weight),
          })),
          sets: [
            ...(even ?? []).map((identity_id) => ({ scope: "resource_active", identity_id })),
            ...(owners ?? []).map((identity_id) => ({ scope: "owner", identity_id })),
          ].map((set) => ({ ...set, day, resource_id: "r1" })),
          gaps: [],
          decimalPlaces: 4,
        });
        t.same(
          rows.map((row) => `${row.identity_id} ${Number(row.amount) / 1e12}`),
          wanted,
        );
      });
    }
  });
});

/**
 * Worked out by hand. The lines differ only in their product, so all lines of `NETWORK` are cut at the same points:
 * rounding begins at 0.6616 of the total weight, in whole weights rounded down, and the residue is at 0.7717 of it.
 * Lines of `CKU` begin at 0.1900 of a tick for their components and at 0.1561 of the total weight for the recipients.
 * The numbers are xxHash64 / 2^64 of the text that docs/explanation/allocation.md describes.
 */
const vectors: {
  name: string;
  cost: string;
  weights?: Record<string, number>;
  even?: string[];
  owners?: string[];
  wanted: string[];
  product?: string;
}[] = [
  {
    name: "an amount of 10 is split among 3",
    cost: "10",
    even: ["a", "b", "c"],
    wanted: ["a 3.3333", "b 3.3334", "c 3.3333"],
  },
  {
    name: "an amount of 100 is split among 7",
    cost: "100",
    even: ["a", "b", "c", "d", "e", "f", "g"],
    wanted: ["a 14.2857", "b 14.2857", "c 14.2858", "d 14.2857", "e 14.2857", "f 14.2857", "g 14.2857"],
  },
  { name: "one tick goes to one of 3", cost: "0.0001", even: ["a", "b", "c"], wanted: ["b 0.0001"] },
  {
    name: "two ticks go to two of 3",
    cost: "0.0002",
    even: ["a", "b", "c"],
    wanted: ["a 0.0001", "c 0.0001"],
  },
  { name: "half a tick goes to a single recipient", cost: "0.00005", even: ["a"], wanted: ["a 0.00005"] },
  {
    name: "an amount with more than four decimal places is split among 2",
    cost: "1.23456",
    even: ["a", "b"],
    wanted: ["a 0.6173", "b 0.61726"],
  },
  {
    name: "a refund is split among 3",
    cost: "-10",
    even: ["a", "b", "c"],
    wanted: ["a -3.3333", "b -3.3334", "c -3.3333"],
  },
  { name: "a refund of one tick goes to one of 2", cost: "-0.0001", even: ["a", "b"], wanted: ["a -0.0001"] },
  {
    name: "a refund with more than four decimal places is split among 2",
    cost: "-1.23455",
    even: ["a", "b"],
    wanted: ["a -0.6173", "b -0.61725"],
  },
  {
    name: "an amount is split by equal weights",
    cost: "10",
    weights: { a: 1, b: 1, c: 1 },
    wanted: ["a 3.3333", "b 3.3334", "c 3.3333"],
  },
  {
    name: "one tick is split by equal weights",
    cost: "0.0001",
    weights: { a: 1, b: 1, c: 1 },
    wanted: ["b 0.0001"],
  },
  {
    name: "an amount is split by the weights 333, 333, 334",
    cost: "100",
    weights: { a: 333, b: 333, c: 334 },
    wanted: ["a 33.3", "b 33.3", "c 33.4"],
  },
  {
    name: "a refund is split by weight",
    cost: "-10",
    weights: { a: 2, b: 1 },
    wanted: ["a -6.6667", "b -3.3333"],
  },
  {
    name: "an amount is split by the weights 5, 0.3, 1e-6",
    cost: "7.77",
    weights: { a: 5_000_000, b: 300_000, c: 1 },
    wanted: ["a 7.3302", "b 0.4398"],
  },
  { name: "a line of 0 has one row of 0", cost: "0", even: ["a", "b"], wanted: ["b 0"] },
  {
    name: "a line without recipients goes to UNALLOCATED",
    cost: "33.333333333333",
    wanted: ["UNALLOCATED 33.333333333333"],
  },
  {
    name: "a CKU line is split by bytes and evenly",
    product: "CKU",
    cost: "100",
    weights: { "sa-1": 50, "sa-2": 30, "sa-3": 20 },
    even: ["sa-1", "sa-2", "sa-3"],
    wanted: ["sa-1 35", "sa-2 21", "sa-3 14", "sa-1 10", "sa-2 10", "sa-3 10"],
  },
  {
    name: "a CKU line of three ticks is split by component",
    product: "CKU",
    cost: "0.0003",
    weights: { "sa-1": 50, "sa-2": 30, "sa-3": 20 },
    even: ["sa-1", "sa-2"],
    wanted: ["sa-1 0.0001", "sa-3 0.0001", "sa-2 0.0001"],
  },
  {
    name: "a CKU line without recipients keeps both components",
    product: "CKU",
    cost: "100",
    wanted: ["UNALLOCATED 70", "UNALLOCATED 30"],
  },
  { name: "a line goes to its only owner", product: "CONNECTOR", cost: "7", owners: ["a"], wanted: ["a 7"] },
  {
    name: "a line with two owners goes to neither",
    product: "CONNECTOR",
    cost: "7",
    owners: ["a", "b"],
    wanted: ["UNALLOCATED 7"],
  },
  {
    name: "a line of an unknown product goes to UNALLOCATED",
    product: "WHAT",
    cost: "7",
    even: ["a"],
    wanted: ["UNALLOCATED 7"],
  },
];

const identity = fc.constantFrom("sa-1", "sa-2", "sa-10", "u-é", "pool A", "UNALLOCATED", "Z", "a");
const resource = fc.constantFrom("r1", "r2", "r3");
const dayOfCase = fc.constantFrom(0, 1);
const cost = fc.oneof(
  fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
  fc.bigInt({ min: -100n * 10n ** 8n, max: 100n * 10n ** 8n }).map((units) => units * 10n ** 2n),
  fc.constantFrom(0n, 1n, -1n, unit, -unit, 10n ** 8n, 10n ** 27n),
);
const weight = fc.oneof(
  fc.constantFrom(0n, 1n, 1_000_000n),
  fc.bigInt({ min: 0n, max: 10n ** 9n }),
  fc.bigInt({ min: 0n, max: 10n ** 21n }),
);

/** One case: up to 25 lines of two days, with any usage, sets and gaps for them. */
const arbitraryCase = fc.record({
  lines: fc.array(
    fc.record({
      day: dayOfCase,
      resource_id: resource,
      product_type: fc.constantFrom("NETWORK", "CKU", "CONNECTOR", "UNKNOWN"),
      currency: fc.constantFrom("USD", "USD", "EUR"),
      cost,
    }),
    { maxLength: 25 },
  ),
  usage: fc.array(
    fc.record({
      day: dayOfCase,
      metric: fc.constantFrom("bytes_in", "bytes_out", "other"),
      resource_id: resource,
      identity_id: identity,
      weight,
    }),
    { maxLength: 40 },
  ),
  sets: fc.array(
    fc.record({
      day: dayOfCase,
      scope: fc.constantFrom("resource_active", "metrics_derived", "tenant_period", "owner"),
      resource_id: fc.constantFrom("r1", "r2", ""),
      identity_id: identity,
    }),
    { maxLength: 20 },
  ),
  gaps: fc.array(
    fc.record({
      day: dayOfCase,
      metric: fc.constantFrom("bytes_in", "bytes_out", "metrics_derived"),
      resource_id: resource,
    }),
    { maxLength: 4 },
  ),
});

const arbitraryInput = fc
  .record({
    cases: fc.array(arbitraryCase, { minLength: 1, maxLength: days.length / 2 }),
    decimalPlaces: fc.integer({ min: 2, max: 12 }),
  })
  .map(({ cases, decimalPlaces }) => {
    const place = <Item extends { day: number }>(items: readonly Item[], index: number) =>
      items.map(({ day, ...item }) => ({ ...item, day: days[2 * index + day] ?? "" }));
    return {
      lines: cases
        .flatMap((each, i) => place(each.lines, i))
        .map((line) => ({ ...line, key: `${line.day}/${line.resource_id}/${line.product_type}` })),
      usage: cases.flatMap((each, i) => place(each.usage, i)),
      sets: cases.flatMap((each, i) => place(each.sets, i)),
      gaps: cases.flatMap((each, i) => place(each.gaps, i)),
      decimalPlaces,
    };
  });
