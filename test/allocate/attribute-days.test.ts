import type { ClickHouseClient } from "@clickhouse/client";
import t, { type Test } from "tap";
import { calculateDays, unallocate } from "../../src/allocate/calculate.js";
import { topicLedger } from "../../src/allocate/ledger.js";
import { type RuleSet, storeRuleSet } from "../../src/allocate/rules.js";
import { topicRuleSet } from "../../src/allocate/topic-rules.js";
import { claimStaging, stagedTable } from "../../src/clickhouse/staging.js";
import { addDays } from "../../src/common/days.js";
import { type TopicRule, topicMetrics } from "../../src/domain/topic-rule.js";
import { holds } from "../holds.js";
import fc from "../property.js";
import { openTestStores } from "../stores.js";
import { allocate, type RefereeInput } from "./referee.js";
import { amountsOf, decimalUnits, scaledText, sums } from "./staged-days.js";

const epoch = 1;
const days = Array.from({ length: 20 }, (_, i) => addDays("2026-01-01", i));
const rules: readonly TopicRule[] = [
  { product_type: "WRITE", metrics: ["topic_bytes_in"] },
  { product_type: "CKU", metrics: ["topic_bytes_in", "topic_bytes_out"] },
  { product_type: "STORAGE", metrics: ["topic_retained_bytes"] },
  { product_type: "BASE", metrics: [] },
];

interface Input extends Omit<RefereeInput, "rules" | "sets"> {
  readonly rules: RuleSet;
}

/** Returns the reference's rows. It computes the split, but does not know the names in a ledger. */
function wanted(input: Input): string[] {
  const ruled = new Set(input.rules.rows.map((row) => row.product_type));
  const topics = input.usage.map(
    ({ day, resource_id, identity_id }) => `${day} ${resource_id} ${identity_id}`,
  );
  const sets = [...new Set(topics)].map((each) => {
    const [day = "", resource_id = "", identity_id = ""] = each.split(" ");
    return { day, scope: "topic", resource_id, identity_id };
  });
  const lines = input.lines.filter((line) => ruled.has(line.product_type));
  const names: Record<string, string> = { usage_ratio: "bytes_ratio" };
  return allocate({ ...input, lines, sets, hasLineIds: false }).map(
    ({ key, currency, identity_id, method, detail, amount }) => {
      const stored = method === "usage_ratio" && key.includes("STORAGE") ? "retained_bytes_ratio" : method;
      const topic = identity_id === "UNALLOCATED" ? "__UNATTRIBUTED__" : identity_id;
      return `${key} ${topic} ${names[stored] ?? stored} ${detail} ${amount} ${currency}`;
    },
  );
}

async function stage(client: ClickHouseClient, { lines, usage, gaps }: Input): Promise<void> {
  const put = async (table: Parameters<typeof stagedTable>[0], values: Record<string, unknown>[]) => {
    await client.command({ query: `TRUNCATE TABLE ${stagedTable(table, epoch)}` });
    if (values.length > 0)
      await client.insert({ table: stagedTable(table, epoch), values, format: "JSONEachRow" });
  };
  await put(
    "billing",
    lines.map((line) => ({
      timestamp: `${line.day} 00:00:00`,
      ecosystem: "test",
      tenant_id: "t",
      env_id: line.key,
      resource_id: line.resource_id,
      product_category: "C",
      product_type: line.product_type,
      quantity: "1",
      unit_price: "1",
      total_cost: scaledText(line.cost),
      currency: line.currency,
      granularity: "daily",
      metadata: "{}",
    })),
  );
  await put(
    "topic_usage",
    usage.map(({ day, weight, identity_id, ...fact }, i) => ({
      timestamp: `${day} ${String(i % 24).padStart(2, "0")}:00:00`,
      ...fact,
      topic_name: identity_id,
      micro_units: weight.toString(),
    })),
  );
  await put(
    "topic_usage_gaps",
    gaps.map((gap) => ({ ...gap, reason: "test" })),
  );
}

async function staged(client: ClickHouseClient): Promise<string[]> {
  const result = await client.query({
    query: `
SELECT env_id, topic_name, attribution_method, attribution_detail, toString(amount) AS amount, currency
FROM ${stagedTable("topic_attributions", epoch)} ORDER BY CAST(env_id AS String), CAST(currency AS String), CAST(topic_name AS String)`,
    format: "JSONCompactEachRow",
  });
  const rows = await result.json<[string, string, string, string, string, string]>();
  return rows.map(([key, topic, method, detail, amount, currency]) =>
    [key, topic, method, detail, decimalUnits(amount), currency].join(" "),
  );
}

t.test("the allocation statement splits lines among topics", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  await claimStaging(client, epoch);
  const ruleSets = (["even_split", "skip"] as const).map((unmeasured) => topicRuleSet(rules, unmeasured));
  for (const each of ruleSets) await storeRuleSet(client, each);
  const [even, skip] = ruleSets;
  if (even === undefined || skip === undefined) throw new Error("two rule sets");
  const calculation = (input: Pick<Input, "rules" | "decimalPlaces">) => ({
    ledger: topicLedger,
    client,
    epoch,
    rules: input.rules,
    decimalPlaces: input.decimalPlaces,
    signal: new AbortController().signal,
    maxMemoryBytes: 2 ** 30,
  });
  const compare = async (t: Test, input: Input) => {
    await stage(client, input);
    const checks = await calculateDays(calculation(input), days);
    t.same(await staged(client), wanted(input), "rows equal the reference's");
    t.ok(checks.every((check) => Number(check.lines_off) === 0));
    const ruled = input.lines.filter((line) => rules.some((rule) => rule.product_type === line.product_type));
    const billed = sums(ruled.map(({ currency, cost }) => [currency, cost]));
    const charged = sums(checks.flatMap((check) => amountsOf(check.charged)));
    t.strictSame(charged, billed, "the sums are those of the lines with a rule");
  };

  await t.test("random lines, topics, weights and gaps are attributed as by the reference", async (t) => {
    await fc.assert(
      fc.asyncProperty(arbitraryInput, fc.constantFrom(even, skip), async (input, set) => {
        await compare(t, { ...input, rules: set });
      }),
      { numRuns: 6, endOnFailure: true },
    );
  });

  await t.test("topics without usage share even costs, and costs that no topic used", async (t) => {
    const day = "2026-01-01";
    const line = (product_type: string, cost: bigint) => ({
      key: product_type,
      currency: "USD",
      day,
      resource_id: "lkc-1",
      product_type,
      cost,
    });
    const idle = (identity_id: string) => ({
      day,
      metric: "topic_bytes_in" as const,
      resource_id: "lkc-1",
      identity_id,
      weight: 0n,
    });
    const input: Input = {
      lines: [line("WRITE", 6n * 10n ** 8n), line("BASE", 4n * 10n ** 8n)],
      gaps: [],
      usage: [idle("orders"), idle("users")],
      rules: even,
      decimalPlaces: 4,
    };
    await compare(t, input);
    t.strictSame(await staged(client), [
      "BASE orders even_split even_split_allocation 200000000 USD",
      "BASE users even_split even_split_allocation 200000000 USD",
      "WRITE orders even_split no_metrics_located 300000000 USD",
      "WRITE users even_split no_metrics_located 300000000 USD",
    ]);
  });

  await t.test("each line of a day that is given up goes to nobody", async (t) => {
    const day = "2026-01-01";
    const line = (product_type: string, cost: bigint) => ({
      key: product_type,
      currency: "USD",
      day,
      resource_id: "lkc-1",
      product_type,
      cost,
    });
    const lines = [line("WRITE", 5n), line("BASE", -7n), line("SUPPORT", 9n)];
    const input: Input = { lines, usage: [], gaps: [], rules: even, decimalPlaces: 4 };
    await stage(client, input);
    const [check] = await unallocate(calculation(input), days);
    holds(t, check, { lines: 2, rows: 2, lines_off: 0 });
    t.same(await staged(client), [
      "BASE __UNATTRIBUTED__ terminal attribution_failed -7 USD",
      "WRITE __UNATTRIBUTED__ terminal attribution_failed 5 USD",
    ]);
  });
});

const cluster = fc.constantFrom("lkc-1", "lkc-2");
const dayOfCase = fc.constantFrom(...days);
const cost = fc.oneof(
  fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
  fc.constantFrom(0n, 1n, -1n, 10n ** 8n, 10n ** 27n),
);
const weight = fc.oneof(fc.constantFrom(0n, 0n, 1n, 1_000_000n), fc.bigInt({ min: 0n, max: 10n ** 24n }));

const arbitraryInput = fc
  .record({
    lines: fc.array(
      fc.record({
        day: dayOfCase,
        resource_id: cluster,
        cost,
        product_type: fc.constantFrom("WRITE", "CKU", "STORAGE", "BASE", "SUPPORT"),
        currency: fc.constantFrom("USD", "USD", "EUR"),
      }),
      { maxLength: 120 },
    ),
    usage: fc.array(
      fc.record({
        day: dayOfCase,
        resource_id: cluster,
        metric: fc.constantFrom(...topicMetrics),
        weight,
        identity_id: fc.constantFrom("orders", "users", "a.b", "_x", "Z", "ö"),
      }),
      { maxLength: 250 },
    ),
    gaps: fc.array(
      fc.record({ day: dayOfCase, resource_id: cluster, metric: fc.constantFrom(...topicMetrics) }),
      { maxLength: 10 },
    ),
    decimalPlaces: fc.integer({ min: 2, max: 12 }),
  })
  .map((input) => ({
    ...input,
    lines: input.lines.map((line) => ({
      ...line,
      key: `${line.day}/${line.resource_id}/${line.product_type}`,
    })),
  }));
