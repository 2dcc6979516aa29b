import t, { type Test } from "tap";
import { topicRuleSet } from "../../src/allocate/topic-rules.js";
import { addDays, midnightOf } from "../../src/common/days.js";
import type { AnyEcosystem, Gatherer } from "../../src/ingest/ecosystem.js";
import { reconcileAttributions } from "../../src/query/state/reconcile.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import {
  chargedOn,
  daysBefore,
  lossSaidBefore,
  reconciled,
  runContext,
  runDay,
  runOnce,
  runRows,
  shortTenants,
  trackingDate,
} from "./runs.js";
import { attributedOn, attributionDate, clusterWithTopics, topicUpstream } from "./topic-upstream.js";

const tenants = [
  "usual",
  "outage",
  "partial",
  "moved",
  "broken",
  "switched",
  "kept",
  "abandoned",
  "excluded",
  "unchanged",
];
const [heavy, light, other] = [daysBefore(4), daysBefore(3), daysBefore(2)];

t.test("costs are attributed to topics in addition to identities", async (t) => {
  const opened = await openTestStores(t, shortTenants(tenants, ["topic_attribution_retry_limit: 2"]));
  const { stores } = opened;
  const config = clusterWithTopics(opened.config);
  const adds = (t: Test, tenant: string) => addsUp(t, stores, tenant);

  await t.test(
    "all costs are attributed by measured bytes, or evenly for products without metrics",
    async (t) => {
      const { upstream, ecosystems } = topicUpstream();
      upstream.bill.set(heavy, { "metered-1": "8", "r-1": "1" });
      upstream.bill.set(light, { "metered-1": "-0.333333333333" });
      upstream.bill.set(other, { "metered-1": "0", "metered-2": "5" });
      const context = runContext(stores, { ecosystems });
      const first = await runOnce(context, config, "usual");
      holds(t, first, { status: "completed", dates_calculated: 3, chargeback_rows_written: 9 });
      t.same(await attributedOn(stores, "usual", heavy), [
        "orders: 2",
        "users: 6",
        "idle: 0.3333",
        "orders: 0.3333",
        "users: 0.3334",
      ]);
      t.same(
        await attributedOn(stores, "usual", light),
        ["orders: -0.0833", "users: -0.250033333333"],
        "a refund is attributed",
      );
      t.same(await attributedOn(stores, "usual", other), ["users: 0", "orders: 1.25", "users: 3.75"]);
      await adds(t, "usual");
      holds(t, await attributionDate(stores, "usual", heavy), {
        staged_hash: null,
        publishing_hash: null,
        published_hash: String,
        attribution_rows: 5,
        billing_lines: 2,
      });
      holds(t, await reconciled(stores, "usual"), { off: [], staged: 0 });

      const parts = await partsOf(stores, "usual");
      holds(t, await runOnce(context, config, "usual"), { status: "completed", dates_calculated: 0 });
      t.same(await partsOf(stores, "usual"), parts, "a run with nothing new rewrites nothing");

      upstream.topics = { orders: 1, users: 1 };
      upstream.bill.set(light, { "metered-1": "4" });
      holds(t, await runOnce(context, config, "usual"), { status: "completed", dates_calculated: 1 });
      t.same(await attributedOn(stores, "usual", heavy), [
        "orders: 4",
        "users: 4",
        "orders: 0.5",
        "users: 0.5",
      ]);
      t.same(await attributedOn(stores, "usual", light), ["orders: 2", "users: 2"]);
      const now = await partsOf(stores, "usual");
      for (const table of ["billing", "chargebacks", "usage"]) {
        const of = (all: readonly string[]) => all.filter((part) => part.startsWith(`${table} ${heavy}`));
        t.same(of(now), of(parts), `new usage of topics leaves ${table} as it is`);
      }
      holds(t, await runOnce(context, config, "usual", { force: true }), { dates_calculated: 3 });
      await adds(t, "usual");

      upstream.topics = { orders: 0, users: 0 };
      upstream.topicRules = upstream.topicRules.filter((rule) => rule.product_type === "METERED");
      await runOnce(context, config, "usual");
      const unmeasured = ["orders: 4 no_metrics_located", "users: 4 no_metrics_located"];
      t.same(
        await attributedOn(stores, "usual", heavy),
        unmeasured,
        "without traffic, costs are attributed evenly, and SHARED has no rule now",
      );
      const skipping = clusterWithTopics(opened.config, { missing_metrics_behavior: "skip" });
      await runOnce(context, skipping, "usual");
      t.same(await attributedOn(stores, "usual", heavy), ["__UNATTRIBUTED__: 8 no_metrics_located"]);
      upstream.topicRules = [];
      await runOnce(context, skipping, "usual");
      t.same(await attributedOn(stores, "usual", heavy), [], "no product type is attributed any more");

      upstream.topicRules = [{ product_type: "SHARED", metrics: [] }];
      upstream.topics = {};
      await runOnce(context, config, "usual");
      t.same(await attributedOn(stores, "usual", heavy), ["__UNATTRIBUTED__: 1 no_topics_located"]);
      upstream.bill.clear();
      await lossSaidBefore(stores, "usual");
      await runOnce(context, config, "usual");
      t.same(await attributedOn(stores, "usual", heavy), [], "the bill of the day has been withdrawn");
      holds(t, await reconciled(stores, "usual"), { days: 0, staged: 0 });
    },
  );

  await t.test(
    "a change of topic usage alone is noticed by a tenant whose windows can be unchanged",
    async (t) => {
      const { upstream, ecosystems: scripted } = topicUpstream();
      upstream.bill.set(heavy, { "metered-1": "8" });
      const sentRequest: unknown[] = [];
      const comparing = (ecosystem: AnyEcosystem): AnyEcosystem => ({
        ...ecosystem,
        connect(settings, context) {
          const gatherer = ecosystem.connect(settings, context);
          return {
            ...gatherer,
            gatherWindow: async (...request) => ({
              ...(await gatherer.gatherWindow(...request)),
              responses: "the bill",
            }),
            gatherTopics: async (...request) => ({
              dropped: {},
              errors: [],
              ...(await gatherer.gatherTopics?.(...request)),
              responses: { ...upstream.topics },
            }),
            async isUnchanged(_window, { ofWindow, ofTopics }) {
              sentRequest.push(ofWindow, ofTopics);
              return JSON.stringify(ofTopics) === JSON.stringify(upstream.topics);
            },
          };
        },
      });
      const ecosystems = new Map([...scripted].map(([name, ecosystem]) => [name, comparing(ecosystem)]));
      const context = runContext(stores, { ecosystems });
      holds(t, await runOnce(context, config, "unchanged"), { status: "completed", dates_calculated: 1 });
      holds(t, await runOnce(context, config, "unchanged"), { status: "completed", dates_calculated: 0 });
      t.strictSame(sentRequest, ["the bill", { idle: 0, users: 3, orders: 1 }]);
      upstream.topics = { orders: 1, users: 1 };
      holds(t, await runOnce(context, config, "unchanged"), { status: "completed" });
      t.same(await attributedOn(stores, "unchanged", heavy), ["orders: 4", "users: 4"]);
    },
  );

  await t.test("an outage of topic metrics does not prevent chargebacks from being published", async (t) => {
    const { upstream, ecosystems } = topicUpstream();
    for (const day of [heavy, light]) upstream.bill.set(day, { "metered-1": "8", "r-1": "1" });
    upstream.topicGaps.set(heavy, ["topic_bytes_in", "topic_bytes_out", "topic_retained_bytes"]);
    const context = runContext(stores, { ecosystems });
    const first = await runOnce(context, config, "outage");
    const lack =
      "topic_bytes_in, topic_bytes_out, topic_retained_bytes of metered-1, r-1 could not be fetched: the test says so";
    t.same(first.errors, [
      { date: heavy, source: "gather", message: `the attributions to topics are provisional: ${lack}` },
    ]);
    t.equal(first.dates_calculated, 2);
    t.same(await chargedOn(stores, "outage", heavy), ["ann: 2", "bob: 6", "ann: 0.5", "bob: 0.5"]);
    const nowhere = ["__UNATTRIBUTED__: 8 metrics_fetch_failed", "__UNATTRIBUTED__: 1 metrics_fetch_failed"];
    t.same(await attributedOn(stores, "outage", heavy), nowhere);
    holds(t, await attributionDate(stores, "outage", heavy), { provisional: true, provisional_attempts: 1 });
    holds(
      t,
      await trackingDate(stores, "outage", heavy),
      { provisional: false },
      "the chargebacks are not provisional",
    );
    const marked = "SELECT DISTINCT toString(day) AS day FROM topic_attributions WHERE provisional";
    t.same(await runRows(stores, "outage", marked), [{ day: heavy }]);
    t.equal((await attributedOn(stores, "outage", light)).length, 5, "days without failures are complete");
    const published = await chargebackParts(stores, "outage");
    const settled = await runOnce(context, config, "outage");
    t.same(settled.errors, [
      {
        date: heavy,
        source: "gather",
        message: `the attributions to topics are final without it after 2 attempts: ${lack}`,
      },
    ]);
    t.equal(settled.dates_calculated, 0);
    t.same(await attributedOn(stores, "outage", heavy), nowhere);
    t.same(await runRows(stores, "outage", marked), []);
    upstream.topicGaps.clear();
    await runOnce(context, config, "outage");
    t.equal((await attributedOn(stores, "outage", heavy)).length, 5, "the attribution waits for the metrics");

    upstream.topicGaps.set(heavy, ["topic_bytes_in"]);
    const outage = await runOnce(context, config, "outage");
    t.same(
      outage.errors.map(({ message }) => message),
      [
        "topic_bytes_in of metered-1, r-1 could not be fetched: the test says so: the usage of topics that is published stays",
      ],
    );
    t.equal((await attributedOn(stores, "outage", heavy)).length, 5, "earlier measurements are kept");
    t.same(await chargebackParts(stores, "outage"), published, "chargebacks are not changed");
    await adds(t, "outage");
  });

  await t.test("attributions use the available metrics if some are missing", async (t) => {
    const { upstream, ecosystems } = topicUpstream();
    upstream.bill.set(heavy, { "metered-1": "8", "r-1": "1" });
    upstream.topicGaps.set(heavy, ["topic_bytes_in"]);
    const context = runContext(stores, { ecosystems });
    for (let attempt = 1; attempt <= 2; attempt += 1) await runOnce(context, config, "partial");
    const [even, rest] = ["metrics_fetch_failed", ""];
    t.same(await attributedOn(stores, "partial", heavy), [
      `idle: 2.6667 ${even}`,
      `orders: 2.6666 ${even}`,
      `users: 2.6667 ${even}`,
      `idle: 0.3333${rest}`,
      `orders: 0.3333${rest}`,
      `users: 0.3334${rest}`,
    ]);
    await adds(t, "partial");
  });

  await t.test("attributions follow a changed bill while their metrics are unavailable", async (t) => {
    const { upstream, ecosystems } = topicUpstream();
    upstream.bill.set(heavy, { "metered-1": "8" });
    upstream.bill.set(light, { "metered-1": "8" });
    const context = runContext(stores, { ecosystems });
    await runOnce(context, config, "moved");
    upstream.onTopics = () => {
      throw new Error("the metrics have moved out");
    };
    // A new cluster has no earlier usage, and another product has no topics.
    upstream.bill.set(heavy, { "metered-1": "8", "metered-2": "1" });
    upstream.bill.set(light, { "metered-1": "4" });
    const result = await runOnce(context, config, "moved");
    holds(t, result, { dates_calculated: 2 });
    t.equal(result.errors[0]?.message, "usage of topics could not be gathered: the metrics have moved out");
    t.same(
      await attributedOn(stores, "moved", heavy),
      ["orders: 2", "users: 6", "__UNATTRIBUTED__: 1 metrics_fetch_failed"],
      "the new cluster takes no usage from the other",
    );
    holds(t, await attributionDate(stores, "moved", heavy), { provisional: true, staged_hash: null });
    t.same(
      await attributedOn(stores, "moved", light),
      ["orders: 1", "users: 3"],
      "earlier measurements are used",
    );
    await adds(t, "moved");
    upstream.onTopics = () => undefined;
    await runOnce(context, config, "moved");
    t.same(await attributedOn(stores, "moved", heavy), [
      "orders: 2",
      "users: 6",
      "orders: 0.25",
      "users: 0.75",
    ]);
    await adds(t, "moved");
  });

  await t.test(
    "attributions that do not add up are not published, and abandoned after the attempts",
    async (t) => {
      const { upstream, ecosystems } = topicUpstream();
      upstream.bill.set(heavy, { "r-1": "10" });
      const context = runContext(stores, { ecosystems });
      const { client } = await stores.tenant("broken");
      // A tenth of every line is lost, as with a rule that is damaged in the store.
      const { hash } = topicRuleSet(upstream.topicRules, "even_split");
      upstream.onWindow = async () => {
        await client.command({
          query: `ALTER TABLE allocation_rules UPDATE ratio_to = 900000 WHERE rules_hash = '${hash}'`,
          clickhouse_settings: { mutations_sync: "1" },
        });
      };
      for (const attempt of [1, 2]) {
        const result = await runOnce(context, config, "broken");
        holds(t, result.errors, [
          {
            date: heavy,
            message: new RegExp(`^attribution to topics: attempt ${attempt} of 2: conservation check failed`),
          },
        ]);
        t.same(await chargedOn(stores, "broken", heavy), ["ann: 5", "bob: 5"]);
        const expected = attempt < 2 ? [] : ["__UNATTRIBUTED__: 10 attribution_failed"];
        t.same(await attributedOn(stores, "broken", heavy), expected);
      }
      await adds(t, "broken");
    },
  );

  await t.test("attributions stay after the feature is disabled, as long as their bill does", async (t) => {
    const { upstream, ecosystems } = topicUpstream();
    for (const day of [heavy, light]) upstream.bill.set(day, { "metered-1": "8" });
    const context = runContext(stores, { ecosystems });
    await runOnce(context, config, "switched");
    const off = clusterWithTopics(opened.config, { enabled: false });
    upstream.bill.set(heavy, { "metered-1": "4" });
    holds(t, await runOnce(context, off, "switched"), { status: "completed", dates_calculated: 1 });
    t.same(await attributedOn(stores, "switched", heavy), []);
    t.same(await attributedOn(stores, "switched", light), ["orders: 2", "users: 6"]);
    await runOnce(context, config, "switched");
    t.same(
      await attributedOn(stores, "switched", heavy),
      ["orders: 1", "users: 3"],
      "attributions are removed with the bill",
    );
    await adds(t, "switched");
  });

  await t.test("attributions have a retention of their own", async (t) => {
    const { upstream, ecosystems } = topicUpstream();
    for (let age = 2; age <= 7; age += 1) upstream.bill.set(daysBefore(age), { "metered-1": "8" });
    const requested: string[] = [];
    upstream.onTopics = (clusters) => requested.push(...clusters);
    const three = clusterWithTopics(opened.config, { retention_days: 3 });
    await runOnce(runContext(stores, { ecosystems }), three, "kept");
    const days = async () => (await attributionDays(stores, "kept")).map((row) => row.day);
    t.same(await days(), [daysBefore(3), daysBefore(2)], "older days are not attributed");
    t.same(requested, ["metered-1"]);
    const later = midnightOf(addDays(runDay, 1));
    await runOnce(runContext(stores, { ecosystems, now: () => later }), three, "kept");
    t.same(await days(), [daysBefore(2)]);
    t.equal(
      await attributionDate(stores, "kept", daysBefore(3)),
      undefined,
      "the state of the day is dropped as well",
    );
    holds(t, await trackingDate(stores, "kept", daysBefore(3)), { chargeback_calculated: true });
    holds(t, await reconciled(stores, "kept"), { days: 6, off: [], staged: 0 });
  });

  await t.test("excluded topics get no costs, even if earlier usage is kept", async (t) => {
    const { upstream, ecosystems: scripted } = topicUpstream();
    for (const day of [heavy, light]) upstream.bill.set(day, { "metered-1": "8" });
    let stillCovers: Gatherer["retentionCovers"];
    const forgetful = (ecosystem: AnyEcosystem): AnyEcosystem => ({
      ...ecosystem,
      connect: (...input) => ({
        ...ecosystem.connect(...input),
        ...(stillCovers && { retentionCovers: stillCovers }),
      }),
    });
    const ecosystems = new Map([...scripted].map(([name, ecosystem]) => [name, forgetful(ecosystem)]));
    const context = runContext(stores, { ecosystems });
    await runOnce(context, config, "excluded");
    const excluding = (...patterns: string[]) =>
      runOnce(context, clusterWithTopics(opened.config, { exclude_topic_patterns: patterns }), "excluded");
    const attributed = async () => [
      await attributedOn(stores, "excluded", heavy),
      await attributedOn(stores, "excluded", light),
    ];

    upstream.topicGaps.set(heavy, ["topic_bytes_in", "topic_bytes_out", "topic_retained_bytes"]);
    upstream.topics = { orders: 1, idle: 0 };
    await excluding("users");
    t.same(
      await attributed(),
      [["orders: 8"], ["orders: 8"]],
      "excluded topics get nothing during an outage",
    );

    upstream.topicGaps.clear();
    upstream.topics = { orders: 1, users: 3, idle: 0 };
    await runOnce(context, config, "excluded");
    t.same((await attributed())[0], ["orders: 2", "users: 6"]);
    stillCovers = async () => [];
    upstream.topics = {};
    t.strictSame((await excluding("use*")).errors, []);
    t.same(
      await attributed(),
      [["orders: 8"], ["orders: 8"]],
      "excluded topics get nothing after their samples are gone",
    );
    holds(t, await excluding("use*"), { dates_calculated: 0 });
    t.same(await attributed(), [["orders: 8"], ["orders: 8"]], "the next run changes nothing");
    await excluding("*");
    const nobody = ["__UNATTRIBUTED__: 8 no_topics_located"];
    t.same(await attributed(), [nobody, nobody]);
    await adds(t, "excluded");
    holds(t, await reconciled(stores, "excluded"), { off: [], staged: 0 });
  });

  await t.test("attributions become final when their day is no longer gathered", async (t) => {
    const { upstream, ecosystems } = topicUpstream();
    upstream.bill.set(heavy, { "metered-1": "8" });
    upstream.topicGaps.set(heavy, ["topic_bytes_in", "topic_bytes_out", "topic_retained_bytes"]);
    await runOnce(runContext(stores, { ecosystems }), config, "abandoned");
    const nowhere = ["__UNATTRIBUTED__: 8 metrics_fetch_failed"];
    t.same(await attributedOn(stores, "abandoned", heavy), nowhere);
    const chargebacks = await chargebackParts(stores, "abandoned");
    const later = midnightOf(daysBefore(-5));
    const context = runContext(stores, { ecosystems, now: () => later });
    const settling = await runOnce(context, config, "abandoned");
    t.same(settling.notes, [`${heavy} is older than lookback_days, and final without the missing data`]);
    t.same(await attributedOn(stores, "abandoned", heavy), nowhere);
    const rows =
      "SELECT toString(day) AS day, provisional, count() AS n FROM topic_attributions GROUP BY ALL";
    t.same(await runRows(stores, "abandoned", rows), [{ day: heavy, provisional: false, n: "1" }]);
    holds(t, await attributionDate(stores, "abandoned", heavy), { provisional: false, attribution_rows: 1 });
    t.same(
      await chargebackParts(stores, "abandoned"),
      chargebacks,
      "the chargebacks of the day stay as they are",
    );
    await adds(t, "abandoned");
    holds(t, await reconciled(stores, "abandoned"), { off: [], staged: 0 });
    t.same((await runOnce(context, config, "abandoned")).notes, []);
  });
});

/** Returns the active parts of the facts, which change whenever a day is swapped. */
async function partsOf(stores: OpenedStores, tenant: string): Promise<string[]> {
  const rows = await runRows<{ part: string }>(
    stores,
    tenant,
    `SELECT concat(table, ' ', partition, ' ', name) AS part FROM system.parts
     WHERE database = currentDatabase() AND active AND rows > 0
       AND table IN ('billing', 'usage', 'chargebacks', 'topic_usage', 'topic_attributions') ORDER BY part`,
  );
  return rows.map((row) => row.part);
}

async function chargebackParts(stores: OpenedStores, tenant: string): Promise<string[]> {
  return (await partsOf(stores, tenant)).filter((part) => part.startsWith("chargebacks"));
}

async function attributionDays(stores: OpenedStores, tenant: string) {
  return await runRows<{ day: string }>(
    stores,
    tenant,
    "SELECT DISTINCT toString(day) AS day FROM topic_attributions ORDER BY day",
  );
}

async function addsUp(t: Test, stores: OpenedStores, tenant: string): Promise<void> {
  const { client } = await stores.tenant(tenant);
  const { days } = await reconcileAttributions(client, new AbortController().signal);
  t.ok(days.length > 0);
  t.same(
    days.filter((day) => day.lines_off !== "0" || day.difference !== "0"),
    [],
    "attributions sum to their lines",
  );
}
