/** Parts of the configuration that count on some days: each day is charged as by the configuration of that day. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { addDays, daysOfWindow } from "../../src/common/days.js";
import fc from "../property.js";
import { openTestStores, temporaryFolder, testConfig } from "../stores.js";
import { runContext, runOnce, runRows } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const FIRST = "2026-05-30";
/** Two months, so that costs of a month begin again. */
const DAYS = daysOfWindow({ start: FIRST, end: addDays(FIRST, 4) });
const now = () => new Date(`${addDays(FIRST, 5)}T12:00:00Z`);

interface Dated {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

const dated: fc.Arbitrary<Dated> = fc
  .tuple(
    fc.option(fc.constantFrom(...DAYS), { nil: undefined }),
    fc.option(fc.constantFrom(...DAYS), { nil: undefined }),
  )
  .map(([from, to]) =>
    from !== undefined && to !== undefined && to < from ? { from: to, to: from } : { from, to },
  );

const counts = ({ from, to }: Dated, day: string) => (from ?? day) <= day && day <= (to ?? day);
const isPart = ({ from, to }: Dated) => from !== undefined || to !== undefined;
const daysText = ({ from, to }: Dated) =>
  `${from === undefined ? "" : `, valid_from: ${from}`}${to === undefined ? "" : `, valid_to: ${to}`}`;

interface Item extends Dated {
  /** The inside of a flow mapping of YAML, without braces and days. */
  readonly text: string;
}

interface Rule extends Item {
  /** Tiers, of which shares have days. */
  readonly split: readonly Item[];
}

interface Configuration {
  readonly rules: readonly Rule[];
  readonly steps: readonly Rule[];
  /** Rows `value,identity` of the map. */
  readonly rows: readonly Item[];
}

const undated = (text: string): Item => ({ text, from: undefined, to: undefined });
const fixed = fc.record({
  days: dated,
  shares: fc.constantFrom("ann: 1, bob: 3", "zoe: 1", "ann: 2, zoe: 5, eve: 1"),
});
const tiers = fc.oneof(
  fc.constant([undated("by: line")]),
  fc.constant([undated("by: cost")]),
  fixed
    .filter(({ days }) => isPart(days))
    .map(({ days, shares }) => [{ text: `by: fixed, shares: { ${shares} }`, ...days }, undated("by: line")]),
  // Only shares with days: on other days the rule finds nobody.
  fc
    .tuple(fixed, dated)
    .filter(
      ([{ days }, other]) => DAYS.some((day) => counts(other, day) && !counts(days, day)) && isPart(days),
    )
    .map(([{ days, shares }, other]) => [
      { text: `by: fixed, shares: { ${shares} }`, ...days },
      { text: "by: fixed, shares: { max: 1 }", ...other },
    ]),
);
const named = (name: string, inside: fc.Arbitrary<string>, split: fc.Arbitrary<readonly Item[]>) =>
  fc
    .record({ days: dated, inside, split })
    .map(({ days, inside, split }): Rule => ({ text: `name: ${name}, ${inside}`, split, ...days }));
const configuration: fc.Arbitrary<Configuration> = fc.record({
  rules: fc.tuple(
    named("one", fc.constantFrom("where: { resource_id: r-1 }", "where: { resource_id: [r-1, r-2] }"), tiers),
    named("two", fc.constantFrom("where: { resource_id: r-2 }", "where: { resource_id: r-3 }"), tiers),
    named("three", fc.constant("where: { resource_id: [r-3, r-4] }"), tiers),
  ),
  steps: fc.tuple(
    named(
      "first",
      fc.constantFrom("from: [ann]", "from: [UNALLOCATED]"),
      fc.constant([undated("by: cost"), undated("by: nobody")]),
    ),
    named("second", fc.constantFrom("from: [bob]", "from: [zoe, eve]"), fc.constant([undated("by: cost")])),
  ),
  rows: fc
    .tuple(
      fc.constantFrom("ann", "bob"),
      fc.constantFrom("zoe", "eve"),
      fc.constantFrom(...DAYS.slice(1)),
      dated,
    )
    .map(([before, after, day, days]) => [
      { text: `r-1,${before}`, from: undefined, to: addDays(day, -1) },
      { text: `r-1,${after}`, from: day, to: undefined },
      { text: "r-2,bob", ...days },
      undated("r-4,dan"),
    ]),
});

const listOf = (items: readonly string[]) => items.map((each) => `\n        - { ${each} }`).join("");
const ruleText = ({ text, split, ...days }: Rule) =>
  `${text}${daysText(days)}, split: [${split.map((tier) => `{ ${tier.text}${daysText(tier)} }`).join(", ")}]`;

function yamlOf(tenants: readonly (readonly [name: string, Configuration, map: string])[]): string {
  const one = ([name, { rules, steps }, map]: (typeof tenants)[number]) => `
  ${name}:
    ecosystem: generic_metrics_only
    tenant_id: ${name}
    lookback_days: 5
    cutoff_days: 1
    allocation:
      identity: [{ column: resource_id, map: ${map} }]
      rules: ${rules.length === 0 ? "[]" : listOf(rules.map(ruleText))}
      pass_on: ${steps.length === 0 ? "[]" : listOf(steps.map(ruleText))}
    storage: { connection_string: "embedded:${name}" }
    plugin_settings:
      cluster_id: c
      cost_types:
        - { name: COMPUTE, product_category: compute, rate: 0.10, cost_quantity: { type: fixed, count: 3 }, allocation_strategy: even_split }`;
  return `tenants:${tenants.map(one).join("")}`;
}

const mapText = (rows: readonly Item[], hasDays: boolean) =>
  [
    `value,identity${hasDays ? ",valid_from,valid_to" : ""}`,
    ...rows.map(({ text, from = "", to = "" }) => `${text}${hasDays ? `,${from},${to}` : ""}`),
    "",
  ].join("\n");

/** Nothing may be behind shares, because they always find somebody. */
function untilShares(split: readonly Item[]): readonly Item[] {
  const shares = split.findIndex(({ text }) => text.startsWith("by: fixed"));
  return shares < 0 ? split : split.slice(0, shares + 1);
}

/** Returns what counts on a day, without days: the referee's own reading of the configuration. */
function onDay({ rules, steps, rows }: Configuration, day: string): Configuration {
  const valid = <Each extends Item>(items: readonly Each[]) =>
    items.filter((each) => counts(each, day)).map((each) => ({ ...each, from: undefined, to: undefined }));
  const split = (items: readonly Rule[]) =>
    valid(items)
      .map((rule) => ({ ...rule, split: untilShares(valid(rule.split)) }))
      // A list of ways to split has an entry. This one finds nobody.
      .map((rule) =>
        rule.split.length > 0 ? rule : { ...rule, split: [undated('by: cost, exclude: ["*"]')] },
      );
  // A step that takes from nobody keeps the numbers of those behind it: the number takes part in how costs are rounded.
  const placeholder = (index: number): Rule => ({
    ...undated(`name: absent-${index}, from: [absent-${index}]`),
    split: [undated("by: nobody")],
  });
  return {
    rules: split(rules),
    steps: steps.flatMap((step, index) => (counts(step, day) ? split([step]) : [placeholder(index)])),
    rows: valid(rows),
  };
}

const kinds = [
  "a rule begins or ends",
  "a step begins or ends",
  "shares begin or end",
  "shares count in place of others",
  "all shares of a rule have ended",
  "a row of the map begins or ends",
  "no rule counts",
  "the second step counts while the first does not",
  "a step takes what shares gave",
] as const;
type Kind = (typeof kinds)[number];

/** Returns the kinds that a configuration is of. */
function kindsOf(drawn: Configuration): readonly Kind[] {
  const changes = (items: readonly Item[]) =>
    DAYS.some((day) => items.some((each) => counts(each, day) !== counts(each, FIRST)));
  const onSomeDay = (is: (configured: Configuration, day: string) => boolean) =>
    DAYS.some((day) => is(onDay(drawn, day), day));
  const [first, second] = drawn.steps;
  const met: Readonly<Record<Kind, boolean>> = {
    "a rule begins or ends": changes(drawn.rules),
    "a step begins or ends": changes(drawn.steps),
    "shares begin or end": changes(drawn.rules.flatMap(({ split }) => split)),
    "shares count in place of others": onSomeDay(({ rules }) =>
      rules.some(({ split }) => split.some(({ text }) => text.includes("max"))),
    ),
    "all shares of a rule have ended": onSomeDay(({ rules }) =>
      rules.some(({ split }) => split.some(({ text }) => text.includes("exclude"))),
    ),
    "a row of the map begins or ends": changes(drawn.rows),
    "no rule counts": onSomeDay(({ rules }) => rules.length === 0),
    "the second step counts while the first does not": onSomeDay(
      (_, day) => first !== undefined && second !== undefined && !counts(first, day) && counts(second, day),
    ),
    // No earlier rule takes all lines of the first and the third.
    "a step takes what shares gave": onSomeDay(
      ({ rules, steps }) =>
        steps.some(({ text }) => text.includes("from: [bob]")) &&
        rules.some(({ text, split }) => !text.includes("two") && split[0]?.text.includes("bob: 3")),
    ),
  };
  return kinds.filter((kind) => met[kind]);
}

/** Draws configurations and returns a few that are of all kinds together, because each takes several runs. */
function chosen(): Configuration[] {
  const drawn = fc.sample(configuration, 500);
  const result: Configuration[] = [];
  for (let missing: readonly Kind[] = kinds; missing.length > 0; ) {
    const found = (each: Configuration) => kindsOf(each).filter((kind) => missing.includes(kind)).length;
    const [best] = drawn.sort((a, b) => found(b) - found(a));
    if (best === undefined || found(best) === 0) throw new Error(`not drawn: ${missing.join(", ")}`);
    result.push(best);
    missing = missing.filter((kind) => !kindsOf(best).includes(kind));
  }
  return result;
}

const ROWS = `SELECT concat_ws('|', toString(day), resource_id, identity_id, rule, toString(amount_hi + amount_lo), allocation_method,
  allocation_detail, cost_type, arrayStringConcat(arrayMap(h -> h.2, passed_path), ',')) AS row FROM chargebacks`;

t.test("each day is charged as an undated configuration of that day would charge it", async (t) => {
  const folder = temporaryFolder(t);
  const maps = { dated: join(folder, "dated.csv"), undated: join(folder, "undated.csv") };
  for (const map of Object.values(maps)) writeFileSync(map, "value,identity\n");
  const nothing: Configuration = { rules: [], steps: [], rows: [] };
  const empty = yamlOf([
    ["dated", nothing, maps.dated],
    ["undated", nothing, maps.undated],
  ]);
  const { stores, folder: home } = await openTestStores(t, empty);
  const { upstream, ecosystems } = scriptedUpstream();
  for (const [index, day] of DAYS.entries())
    upstream.bill.set(day, { "r-1": `${10 + index}.01`, "r-2": "7", "r-3": "3.3333", "r-4": "100" });
  const context = runContext(stores, { ecosystems, now });
  const load = (yaml: string) => testConfig(`data_dir: ${home}/data\n${yaml}`, home);
  const rowsOf = async (tenant: string, day: string) =>
    (await runRows<{ row: string }>(stores, tenant, `${ROWS} WHERE day = '${day}' ORDER BY row`)).map(
      ({ row }) => row,
    );
  let passedOn = 0;
  for (const drawn of chosen()) {
    writeFileSync(maps.dated, mapText(drawn.rows, true));
    const config = load(yamlOf([["dated", drawn, maps.dated]]));
    const { status, errors } = await runOnce(context, config, "dated");
    t.strictSame([status, errors], ["completed", []]);
    for (const day of DAYS) {
      const configured = onDay(drawn, day);
      writeFileSync(maps.undated, mapText(configured.rows, false));
      const plain = load(yamlOf([["undated", configured, maps.undated]]));
      const window = { start: day, end: addDays(day, 1) };
      const run = await runOnce(context, plain, "undated", { window });
      t.strictSame([run.status, run.errors], ["completed", []]);
      const wanted = await rowsOf("undated", day);
      t.strictSame(await rowsOf("dated", day), wanted, `${day} of ${JSON.stringify(drawn)}`);
      t.ok(wanted.length > 0);
      passedOn += wanted.filter((row) => row.includes("|passed|")).length;
    }
  }
  t.ok(passedOn > 0, "costs were passed on");
});

const rated = (types: string) => `tenants:
  acme:
    ecosystem: generic_metrics_only
    tenant_id: acme
    lookback_days: 5
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      cluster_id: c
      cost_types:
${types}`;
const type = (rate: string, days = "") =>
  `        - { name: COMPUTE, product_category: compute, rate: ${rate}, cost_quantity: { type: fixed, count: 1 }, allocation_strategy: even_split${days} }\n`;

t.test("a rate counts from its day on, and only the days that it changes are calculated again", async (t) => {
  const first = rated(type("0.10", ", valid_to: 2026-05-31") + type("0.20", ", valid_from: 2026-06-02"));
  const { stores, folder } = await openTestStores(t, first);
  const run = async (yaml: string) => {
    const config = testConfig(`data_dir: ${folder}/data\n${yaml}`, folder);
    const { status, dates_calculated } = await runOnce(runContext(stores, { now }), config, "acme");
    const charged = await runRows<{ charge: string }>(
      stores,
      "acme",
      "SELECT concat_ws(' ', toString(day), toString(amount_hi + amount_lo)) AS charge FROM chargebacks ORDER BY charge",
    );
    return [status, dates_calculated, ...charged.map(({ charge }) => charge)];
  };
  t.strictSame(await run(first), ["completed", 3, "2026-05-30 2.4", "2026-05-31 2.4", "2026-06-02 4.8"]);
  const second = rated(type("0.10", ", valid_to: 2026-05-31") + type("0.30", ", valid_from: 2026-06-02"));
  t.strictSame(await run(second), ["completed", 1, "2026-05-30 2.4", "2026-05-31 2.4", "2026-06-02 7.2"]);
  t.strictSame((await run(second)).slice(0, 2), ["completed", 0], "the same configuration changes nothing");
});
