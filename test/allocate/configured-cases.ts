import type { Conditions, WrittenWhere } from "../../src/config/allocation/condition.js";
import type { ConfiguredRule } from "../../src/config/allocation/configured-rule.js";
import type { ConfiguredStep } from "../../src/config/allocation/pass-on.js";
import type { ConfiguredTier } from "../../src/config/allocation/tier.js";
import fc from "../property.js";
import { type Configuration, type RefereeBillLine, stageOfRule } from "./configured-referee.js";
import { unit } from "./staged-days.js";

/** Random configurations and bills. They span two months, so that costs over a month start again. */
export const caseDays = ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"];

/**
 * Upper limits of the identities that share a line. They are drawn deliberately, because chance alone gives two or
 * three.
 */
export const crowds = [2, 10, 1000] as const;

const teams = ["team-a", "team-b", "Ä team", "z", "UNALLOCATED", " padded ", ""];
const resources = ["r-ann-1", "r-bob-2", "x", "100%_off", "a\\b"];
const products = ["COMPUTE", "SUPPORT", "TAX", "NETWORK", "OTHER"];
const categories = ["123", "456", "789"];

const own: Configuration["own"] = [
  {
    product_type: "COMPUTE",
    components: [
      {
        ratio: "1",
        tiers: [
          { kind: "line", detail: "line_identity_allocation" },
          { kind: "terminal", detail: "no_identity_on_line" },
        ],
      },
    ],
  },
  {
    product_type: "NETWORK",
    components: [
      {
        ratio: "1",
        tiers: [
          { kind: "usage", metrics: ["cpu"], detail: "usage_ratio_allocation" },
          { kind: "terminal", detail: "no_identities_located" },
        ],
      },
    ],
  },
  {
    product_type: "*",
    components: [{ ratio: "1", tiers: [{ kind: "terminal", detail: "no_allocator_for_product_type" }] }],
  },
];

const condition: fc.Arbitrary<Conditions> = fc.constantFrom<Conditions>(
  { product_type: "SUPPORT" },
  { product_type: ["TAX", "SUP*"] },
  { product_type: { not: ["COMPUTE", "N*"] } },
  { product_category: { matches: "^[14]" } },
  { "tag.team": { exists: true } },
  { "tag.team": { exists: false } },
  { "tag.env": "prod", currency: "USD" },
  { "tag.env": { not: "prod" } },
  { resource_id: "100%_*" },
  { resource_id: "a\\b" },
  { resource_id: ["r-*", "x"] },
  { amount: { below: "0" } },
  { amount: { above: "0.5", below: "50" } },
);

const where: fc.Arbitrary<WrittenWhere> = fc
  .tuple(condition, fc.option(fc.array(condition, { minLength: 1, maxLength: 2 }), { nil: undefined }))
  .map(([conditions, any]): WrittenWhere => ({ ...conditions, ...(any !== undefined && { any }) }));

const names = (count: number) => Array.from({ length: count }, (_, i) => `n-${(i * 7919) % 100_003}`);

const tierFor = (size: fc.Arbitrary<number>): fc.Arbitrary<ConfiguredTier> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<ConfiguredTier>({ by: "line" }) },
    { weight: 2, arbitrary: fc.constant<ConfiguredTier>({ by: "owner" }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<ConfiguredTier>(
        { by: "usage", metric: "cpu" },
        { by: "usage", metrics: ["cpu", "bytes"] },
      ),
    },
    {
      weight: 5,
      arbitrary: fc
        .record({
          within: fc.constantFrom(undefined, undefined, "product_category", "tag.env", "zone"),
          over: fc.constantFrom("day" as const, "day" as const, "month" as const),
          of: fc.constantFrom("allocated" as const, "allocated" as const, "direct" as const),
          exclude: fc.constantFrom(
            undefined,
            undefined,
            undefined,
            ["team-a", "nobody of this bill"],
            ["t-1*", "z"],
          ),
        })
        .map(
          ({ within, over, of, exclude }): ConfiguredTier => ({
            by: "cost",
            of,
            over,
            ...(within !== undefined && { within }),
            ...(exclude !== undefined && { exclude }),
          }),
        ),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(size, fc.nat(999)).map(
        ([count, salt]): ConfiguredTier => ({
          by: "fixed",
          shares: Object.fromEntries(
            names(count).map((name, i) => [name, `${((i * 37 + salt) % 50) + 1}.${(i + salt) % 9}`]),
          ),
        }),
      ),
    },
    {
      weight: 2,
      arbitrary: size.map((count): ConfiguredTier => ({ by: "even", among: names(count) })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<ConfiguredTier>(
        { by: "even", among: "tenant_period" },
        { by: "even", among: "resource_active" },
      ),
    },
    { weight: 1, arbitrary: fc.constant<ConfiguredTier>({ by: "nobody" }) },
  );

/** The configuration rejects tiers after one that takes everything. */
const splitFor = (tier: fc.Arbitrary<ConfiguredTier>) =>
  fc
    .uniqueArray(tier, { minLength: 1, maxLength: 4, selector: (each) => JSON.stringify(each) })
    .map((tiers) => {
      const end = tiers.findIndex(
        ({ by, ...rest }) =>
          by === "nobody" || by === "fixed" || ("among" in rest && Array.isArray(rest.among)),
      );
      return end < 0 ? tiers : tiers.slice(0, end + 1);
    });

const wayFor = (split: ReturnType<typeof splitFor>): fc.Arbitrary<Omit<ConfiguredRule, "name" | "where">> =>
  fc.oneof(
    { weight: 6, arbitrary: split.map((each) => ({ split: each })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(split, split, fc.constantFrom(["0.7", "0.3"], ["0.333333", "0.666667"]))
        .map(([a, b, [first = "", second = ""]]) => ({
          components: [
            { ratio: first, split: a },
            { ratio: second, split: b },
          ],
        })),
    },
    { weight: 2, arbitrary: fc.constant({ allocation: "keep" as const }) },
  );

const direct: ConfiguredRule = {
  name: "direct",
  where: { product_type: "COMPUTE" },
  split: [{ by: "line" }, { by: "cost", of: "direct", over: "day" }],
};
const support = (of: "allocated" | "direct"): ConfiguredRule => ({
  name: "support",
  where: { product_type: "SUPPORT" },
  split: [{ by: "cost", of, over: "day" }],
});
const unattributable: ConfiguredRule = {
  name: "unattributable",
  where: { product_type: "OTHER" },
  split: [{ by: "nobody" }],
};
const fixedAmong = (size: number): ConfiguredTier => ({
  by: "fixed",
  shares: Object.fromEntries(names(size).map((name) => [name, "1"])),
});
const ownedOtherwise: Readonly<Record<number, ConfiguredTier>> = {
  10: fixedAmong(10),
  1000: { by: "even", among: names(1000) },
};

/** Cases with a thousand identities are slow, so there are few of them. Each has every way to split among so many. */
const measured = (size: number): ConfiguredRule => {
  const split: ConfiguredTier[] = [
    { by: "usage", metric: "cpu" },
    size === 10 ? { by: "even", among: "tenant_period" } : fixedAmong(size),
  ];
  const rule = { name: "measured", where: { product_type: "NETWORK" } };
  if (size !== 2) return { ...rule, split };
  return {
    ...rule,
    components: [
      { ratio: "0.75", split },
      { ratio: "0.25", split: [{ by: "even", among: names(5) }] },
    ],
  };
};

const owned = (size: number): ConfiguredRule => ({
  name: "owned",
  where: { product_type: "TAX" },
  split: [{ by: "owner" }, ownedOtherwise[size] ?? { by: "line" }],
});

const shared: ConfiguredTier[] = [{ by: "cost", of: "allocated", over: "day" }];

/** The stages of a chain, the last one of all included. Each takes a line of the crowd. */
const chained = [2, 3, 4, 5, 8];
const chain = chained.map(
  (stage): ConfiguredRule => ({
    name: `chain-${stage}`,
    where: { "tag.chain": `${stage}` },
    stage,
    split: [{ by: "cost", of: "allocated", over: "day" }],
  }),
);

/** Identities of every kind, so that most steps take something. */
const emptied = ["team-a", "z", "UNALLOCATED", "u-1", "u-*", "n-*1*", "t-1*", "t-*", "ann", "own-1", "Ä *"];

/** Five steps, of which each passes on to identities that the later ones empty. */
const chainOfSteps: ConfiguredStep[] = [
  { from: ["u-1", "n-*1*", "own-1"], first: [{ by: "usage" as const, metric: "cpu" }] },
  { from: ["n-*2*", "t-1*"] },
  { from: ["team-a", "n-*3*", "t-2*"], where: { "tag.env": { not: "prod" } } },
  { from: ["UNALLOCATED", "n-*4*"] },
  { from: ["z", "t-*", "n-*5*"] },
].map(({ first = [], ...step }, index) => ({
  ...step,
  name: `chain-${index}`,
  split: [...first, { by: "cost", of: "allocated", over: "day" }],
}));

/** A step that passes on to a thousand: chance alone rarely draws one that takes something. */
const toThousand: ConfiguredStep = {
  name: "to-thousand",
  from: ["UNALLOCATED"],
  split: [{ by: "even", among: names(1000) }],
};

/** Every part of every line that a thousand share would be a million rows for each step: few identities are emptied then. */
const stepsFor = (split: ReturnType<typeof splitFor>, size: number): fc.Arbitrary<ConfiguredStep[]> =>
  size === 1000
    ? fc.oneof(
        { weight: 1, arbitrary: fc.constant<ConfiguredStep[]>([toThousand]) },
        { weight: 1, arbitrary: drawnSteps(split, ["team-a", "z", "UNALLOCATED", "u-*", "ann", "own-1"]) },
      )
    : fc.oneof(
        { weight: 1, arbitrary: fc.constant(chainOfSteps) },
        { weight: 3, arbitrary: drawnSteps(split, emptied) },
      );

const drawnSteps = (
  split: ReturnType<typeof splitFor>,
  from: readonly string[],
): fc.Arbitrary<ConfiguredStep[]> =>
  fc
    .tuple(
      fc.constantFrom(0, 1, 2, 2, 3, 5),
      fc.array(
        fc.record({
          from: fc.uniqueArray(fc.constantFrom(...from), { minLength: 1, maxLength: 4 }),
          where: fc.option(where, { nil: undefined, freq: 1 }),
          split,
        }),
        { minLength: 5, maxLength: 5 },
      ),
    )
    .map(([count, drawn]) =>
      drawn.slice(0, count).map(({ from: takenFrom, where: taken, split: tiers }, index): ConfiguredStep => {
        const passing = tiers.filter(({ by }) => by !== "line");
        const step = {
          name: `step-${index}`,
          from: takenFrom,
          split: passing.length === 0 ? shared : passing,
        };
        return taken === undefined ? step : { ...step, where: taken };
      }),
    );

/** Values that are likely to find an identity, and some random ones. */
const rulesFor = (way: ReturnType<typeof wayFor>, size: number) =>
  fc
    .tuple(
      fc.constantFrom("allocated" as const, "direct" as const).chain((of) =>
        fc.shuffledSubarray([direct, support(of), measured(size), owned(size), unattributable], {
          minLength: size === 1000 ? 5 : 4,
        }),
      ),
      fc.array(fc.tuple(where, way), { minLength: 1, maxLength: 5 }),
      // Each stage of a case takes a second.
      fc.array(fc.constantFrom(undefined, undefined, undefined, undefined, 3, 8), {
        minLength: 10,
        maxLength: 10,
      }),
      fc.constantFrom(true, false, false, false),
    )
    .map(([likely, all, stages, hasChain]) => [
      ...(hasChain ? chain : []),
      ...[
        ...likely,
        ...all.map(([each, how], index): ConfiguredRule => ({ name: `rule-${index}`, where: each, ...how })),
      ].map((rule, index) => {
        const stage = stages[index];
        return stage === undefined || stageOfRule(rule) === 1 ? rule : { ...rule, stage };
      }),
    ]);

/** The tag that direct lines have mostly comes first, so that an identity is named. */
const identity = fc
  .tuple(
    fc.constantFrom(true, true, true, true, false),
    fc.shuffledSubarray<Configuration["identity"][number]>([
      { tag: "owner" },
      { column: "product_category", map: "accounts.csv" },
      { column: "resource_id", pattern: "^r-(?<identity>[a-z]+)(-\\d)" },
    ]),
  )
  .map(([byTeam, others]) => (byTeam ? [{ tag: "team" }, ...others] : others));

const maps = { "accounts.csv": { "123": "team-a", "456": "acc'o\\unt" } };

const cost = fc.oneof(
  fc.bigInt({ min: 1n, max: 10n ** 14n }),
  fc.bigInt({ min: 1n, max: 10n ** 7n }).map((cents) => cents * 10n ** 10n),
  fc.constantFrom(1n, 10n ** 8n, unit, 7n * unit, 3n),
);

const line = fc.record({
  day: fc.constantFrom(...caseDays),
  resource_id: fc.constantFrom(...resources),
  product_type: fc.constantFrom(...products),
  product_category: fc.constantFrom(...categories),
  currency: fc.constantFrom("USD", "USD", "EUR"),
  tags: fc.record(
    {
      team: fc.constantFrom(...teams),
      owner: fc.constantFrom("own-1", "own-2"),
      env: fc.constantFrom("prod", "dev", ""),
    },
    { requiredKeys: [] },
  ),
  cost: fc.tuple(cost, fc.boolean(), fc.boolean()).map(([amount, a, b]) => (a && b ? -amount : amount)),
});

/** Direct lines of so many teams on one day, and lines that are split by their costs, in several stages. */
const crowdOf = (size: fc.Arbitrary<number>) =>
  fc.tuple(size, fc.nat(9999), fc.constantFrom(...caseDays)).map(([count, salt, day]) => {
    const shared = { day, resource_id: "x", product_category: "123", currency: "USD" };
    const lines = Array.from({ length: count }, (_, i) => ({
      ...shared,
      product_type: "COMPUTE",
      tags: { team: `t-${(i * 7919 + salt) % 100_003}`, env: "prod" },
      cost: 1_000_000n + ((BigInt(i + 1) * 2_654_435_761n + BigInt(salt)) % 10n ** 13n),
    }));
    const support = { ...shared, product_type: "SUPPORT", cost: 123_456_789_012_345n };
    return [
      ...lines,
      { ...support, tags: {} },
      ...chained.map((stage) => ({ ...support, tags: { chain: `${stage}` } })),
    ];
  });

const fact = {
  day: fc.constantFrom(...caseDays),
  resource_id: fc.constantFrom(...resources),
  identity_id: fc.constantFrom("u-1", "u-2", "u-3", "UNALLOCATED"),
};

/** One configuration with a bill and usage. Each line is shared by up to so many identities, or by one. */
export const configuredCase = (size: number) =>
  fc
    .record({
      rules: rulesFor(wayFor(splitFor(tierFor(fc.constantFrom(1, size, size)))), size),
      identity,
      steps: stepsFor(splitFor(tierFor(fc.constantFrom(1, size, size))), size),
      lines: fc.array(line, { minLength: 15, maxLength: 40 }),
      crowd: crowdOf(fc.constantFrom(size === 1000 ? size : 0, size, size, size)),
      usage: fc.array(
        fc.record({
          ...fact,
          metric: fc.constantFrom("cpu", "bytes"),
          weight: fc.bigInt({ min: 0n, max: 10n ** 9n }),
        }),
        { maxLength: 20 },
      ),
      sets: fc.array(fc.record({ ...fact, scope: fc.constantFrom("resource_active", "owner") }), {
        maxLength: 15,
      }),
      tenantSets: fc.array(
        fc.record({ ...fact, resource_id: fc.constant(""), scope: fc.constant("tenant_period") }),
        { maxLength: 6 },
      ),
      gaps: fc.array(
        fc.record({ day: fact.day, resource_id: fact.resource_id, metric: fc.constantFrom("cpu", "bytes") }),
        { maxLength: 2 },
      ),
      decimalPlaces: fc.constantFrom(2, 4, 12),
    })
    .map(({ lines, crowd: crowded, sets, tenantSets, identity: sources, rules: drawn, steps, ...rest }) => ({
      ...rest,
      sets: [...sets, ...tenantSets],
      lines: [...lines, ...crowded].map((each, index): RefereeBillLine => ({ ...each, key: `k${index}` })),
      configuration: { identity: sources, maps, rules: drawn, own, steps } satisfies Configuration,
    }));

export type ConfiguredCase =
  ReturnType<typeof configuredCase> extends fc.Arbitrary<infer Case> ? Case : never;
