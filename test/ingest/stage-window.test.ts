/** Gathering into the staging tables: what is staged, and what a day's hash notices. On the real stores. */
import t from "tap";
import { midnightSeconds } from "../../src/common/days.js";
import type { Gatherer, UsageSeries } from "../../src/ingest/ecosystem.js";
import type { StageWindowOptions } from "../../src/ingest/staged-window.js";
import { factsOf } from "../../src/ingest/usage-series.js";
import { holds } from "../holds.js";
import {
  billing,
  DAYS,
  fact,
  line,
  openStaging,
  type StagingScript,
  scripted,
  usage,
} from "./staging-script.js";

t.test("a window is staged", async (t) => {
  const { postgres, store, stage, rows, dates, hashes, publish } = await openStaging(t);

  await t.test("everything is stored as it came, to the last digit and character", async (t) => {
    const result = await stage({ billing, stagedUsage: usage, members: ["s"] });
    holds(t, result, { staged: DAYS, unchanged: [], empty: [], incomplete: [], errors: [], dropped: {} });
    holds(t, result, { billingLines: 3, usageFacts: 6 });
    const [first] = await rows("billing");
    const { metadata, timestamp, ...rest } = line("2026-01-01");
    holds(t, first, { ...rest, day: "2026-01-01", ecosystem: store.ecosystem, tenant_id: store.tenantId });
    t.same(JSON.parse(String(first?.metadata)), metadata);
    t.equal(Date.parse(String(first?.timestamp)), Date.parse(timestamp));
    const used = await rows("usage", "identity_id, micro_units");
    t.equal(used[0]?.micro_units, "170141183460469231731687303715");
    const sets = await rows("identity_sets", "scope, identity_id, count() OVER () AS n");
    holds(t, sets.at(-1), { scope: "resource_active", identity_id: "s", n: "7" });
    holds(t, sets[0], { scope: "metrics_derived", identity_id: "a" });
    holds(t, (await dates())[0], {
      tracking_date: "2026-01-01",
      billing_gathered: true,
      resources_gathered: true,
      chargeback_calculated: false,
      lacks: [],
      billing_lines: 1,
    });
  });

  /** The same line of the cloud on three days; `changes` are SQL. */
  const selected = (changes: Readonly<Record<string, string>> = {}) => {
    const values = {
      timestamp: "toDateTime({first:String}, 'UTC') + INTERVAL number DAY",
      env_id: "'acct'",
      resource_id: "'i-1'",
      product_category: "'Compute'",
      product_type: "'EC2'",
      quantity: "1",
      unit_price: "0",
      total_cost: "toDecimal128('0.1', 12)",
      currency: "'EUR'",
      line_id: "9007199254740991",
      charge_category: "'Usage'",
      service_provider: "'AWS'",
      account_id: "'1'",
      region_id: "'eu'",
      sku_id: "'S'",
      line_tags: "map('org', '', 'team', 'a''b')",
      billed_cost: "2",
      effective_cost: "2.5",
      list_cost: "3",
      granularity: "'daily'",
      metadata: "'{}'",
      ...changes,
    };
    const columns = Object.entries(values).map(([name, value]) => `${value} AS ${name}`);
    return {
      query: `SELECT ${columns.join(", ")} FROM numbers(3)`,
      params: { first: "2026-01-01 00:00:00" },
    };
  };

  await t.test("lines that the engine selects are staged beside those of an upstream", async (t) => {
    const result = await stage({ billing, selected: selected() });
    holds(t, result, { staged: DAYS, billingLines: 6, errors: [] });
    const found = (await rows("billing")).filter(({ line_id }) => line_id !== "0");
    t.equal(found.length, 3);
    t.strictSame(found[0], {
      day: "2026-01-01",
      timestamp: "2026-01-01T00:00:00Z",
      ecosystem: store.ecosystem,
      tenant_id: store.tenantId,
      env_id: "acct",
      resource_id: "i-1",
      product_category: "Compute",
      product_type: "EC2",
      quantity: "1",
      unit_price: "0",
      total_cost: "0.1",
      currency: "EUR",
      line_id: "9007199254740991",
      charge_category: "Usage",
      service_provider: "AWS",
      account_id: "1",
      region_id: "eu",
      sku_id: "S",
      line_tags: { org: "", team: "a'b" },
      rule: "",
      billed_cost: "2",
      effective_cost: "2.5",
      list_cost: "3",
      named_identity: "",
      granularity: "daily",
      metadata: "{}",
    });
    const base = await hashes();
    for (const [column, value] of Object.entries({
      line_id: "2",
      charge_category: "'Tax'",
      service_provider: "'GCP'",
      account_id: "'2'",
      region_id: "''",
      sku_id: "'T'",
      line_tags: "map('team', 'a''b')",
      billed_cost: "4",
      list_cost: "4",
    })) {
      await stage({ billing, selected: selected({ [column]: value }) });
      t.notSame(await hashes(), base, `${column} counts`);
    }
  });

  await t.test("the hash ignores the order of rows, and nothing else", async (t) => {
    const two = [...billing, line("2026-01-01", { product_type: "Q" })];
    await stage({ billing: two, stagedUsage: usage });
    const base = await hashes();
    await stage({ billing: [...two].reverse(), stagedUsage: [...usage].reverse() });
    t.same(await hashes(), base, "the order of rows does not matter");
    const others: [string, StagingScript, Partial<StageWindowOptions>?][] = [
      ["a cost", { billing: [line("2026-01-01", { total_cost: "1" }), ...two.slice(1)], stagedUsage: usage }],
      ["a repeated line", { billing: [...two, line("2026-01-01")], stagedUsage: usage }],
      [
        "a line twice is not no line",
        { billing: [...two, line("2026-01-01"), line("2026-01-01")], stagedUsage: usage },
      ],
      [
        "a quantity of usage",
        { billing: two, stagedUsage: [fact("2026-01-01", "a", { micro_units: "1" }), ...usage.slice(1)] },
      ],
      ["a member", { billing: two, stagedUsage: usage, members: ["x"] }],
      [
        "a gap",
        {
          billing: two,
          stagedUsage: usage,
          gaps: [{ day: "2026-01-01", metric: "m", resource_id: "c1", reason: "down" }],
        },
      ],
      ["the rules", { billing: two, stagedUsage: usage }, { rulesHash: "other" }],
      ["the decimal places", { billing: two, stagedUsage: usage }, { decimalPlaces: 5 }],
    ];
    const seen = new Set([base[0]]);
    for (const [name, script, changes] of others) {
      await stage(script, changes);
      const [first] = await hashes();
      t.notOk(seen.has(first ?? null), name);
      seen.add(first ?? null);
    }
    const gap = (reason: string) => ({
      billing,
      gaps: [{ day: "2026-01-02", metric: "m", resource_id: "c1", reason }],
    });
    await stage(gap("503"));
    const before = await hashes();
    await stage(gap("timeout"));
    t.same(await hashes(), before, "the text of a gap does not matter");
    t.same(
      (await dates()).map((date) => date.lacks),
      [[], ["m of c1 could not be fetched: timeout"], []],
    );
  });

  await t.test(
    "a day that is published with the same input is not staged, unless it is forced",
    async (t) => {
      await stage({ billing, stagedUsage: usage });
      await publish();
      holds(t, await stage({ billing, stagedUsage: usage }), { staged: [], unchanged: DAYS });
      t.same(await rows("billing"), []);
      t.same(await rows("usage"), []);
      t.same(await hashes(), [null, null, null]);
      const changed = [line("2026-01-01"), line("2026-01-02", { total_cost: "-1" }), line("2026-01-03")];
      holds(t, await stage({ billing: changed, stagedUsage: usage }), { staged: ["2026-01-02"] });
      holds(t, await rows("billing", "day, total_cost"), [{ day: "2026-01-02", total_cost: "-1" }]);
      holds(t, await stage({ billing, stagedUsage: usage }, { force: true }), {
        staged: DAYS,
        unchanged: [],
      });
    },
  );

  await t.test("attempts continue with the same input, and restart with new input", async (t) => {
    await stage({ billing, stagedUsage: usage });
    await postgres.query("UPDATE tracking_dates SET allocation_attempts = 2, last_error = 'x'");
    await stage({ billing, stagedUsage: usage });
    holds(t, (await dates())[0], { allocation_attempts: 2, last_error: "x" });
    await stage({
      billing: [line("2026-01-01", { total_cost: "9" }), ...billing.slice(1)],
      stagedUsage: usage,
    });
    holds(t, await dates(), [
      { allocation_attempts: 0, last_error: null },
      { allocation_attempts: 2, last_error: "x" },
      { allocation_attempts: 2, last_error: "x" },
    ]);
  });

  await t.test("a day without lines needs nothing, unless something was published of it", async (t) => {
    holds(t, await stage({ billing: billing.slice(0, 1), stagedUsage: usage }), {
      staged: ["2026-01-01"],
      empty: DAYS.slice(1),
    });
    t.equal((await dates()).length, 1);
    t.same(
      await rows("usage", "DISTINCT toString(day) AS day"),
      [{ day: "2026-01-01" }],
      "usage of a day without lines is not stored",
    );
    await publish();
    holds(t, await stage({ stagedUsage: usage }), { staged: ["2026-01-01"], empty: DAYS.slice(1) });
    t.same(await rows("usage"), []);
    await publish();
    holds(t, await stage({}), { staged: [], unchanged: ["2026-01-01"] }, "the published day stays empty");
    await stage({ billing });
    holds(
      t,
      await stage({}),
      { staged: [], unchanged: ["2026-01-01"], empty: DAYS.slice(1) },
      "the day was staged and never published",
    );
    t.equal((await dates()).length, 1);
  });

  await t.test("an incomplete day stays as it is published", async (t) => {
    await stage({ billing, stagedUsage: usage });
    await publish();
    const before = await dates();
    const other = DAYS.map((day) => line(day, { total_cost: "5" }));
    const result = await stage({
      billing: other,
      stagedUsage: usage,
      complete: [DAYS[0] ?? "", DAYS[2] ?? ""],
    });
    holds(t, result, { staged: [DAYS[0], DAYS[2]], incomplete: [DAYS[1]] });
    t.same((await dates())[1], before[1]);
    t.same(await rows("billing", "DISTINCT toString(day) AS day"), [{ day: DAYS[0] }, { day: DAYS[2] }]);
  });

  await t.test("resources_gathered is that of the inventory that the day was gathered with", async (t) => {
    const flags = async () => (await dates()).map((date) => date.resources_gathered);
    await stage({ billing, stagedUsage: usage }, { inventoryLacks: ["connectors: HTTP 403"] });
    t.same(await flags(), [false, false, false]);
    await stage({ billing, stagedUsage: usage });
    await publish();
    const changed = [line("2026-01-01", { total_cost: "1" }), ...billing.slice(1)];
    await stage({ billing: changed, stagedUsage: usage }, { inventoryLacks: ["connectors: HTTP 403"] });
    t.same(await flags(), [false, true, true], "an unchanged day keeps its flag");
  });

  await t.test("series are stored, and refused, like their facts", async (t) => {
    const start = midnightSeconds("2026-01-01");
    const of = (identity_id: string, starts: number[], microUnits: UsageSeries["microUnits"]) => ({
      metric: "m",
      resource_id: "c\\1",
      identity_id,
      scale: 0,
      starts,
      microUnits,
    });
    const hours = Array.from({ length: 72 }, (_, hour) => start + 3600 * hour);
    const series: UsageSeries[] = [
      of(
        "all",
        hours,
        hours.map((_, hour) => 1_000_003 * hour),
      ),
      of("ünï\"🦀 'quoted", hours.slice(0, 5), [0, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 5]),
      of("large", hours.slice(0, 4), [2n ** 53n, 2n ** 64n, 2n ** 96n + 1n, 10n ** 31n - 1n]),
      of("none", [], []),
      of("x".repeat(200), hours.slice(0, 1), [1]),
      of("too large", hours.slice(0, 3), [1, 10n ** 31n, 2]),
      of("negative", hours.slice(24, 26), [1, -1]),
      of("outside", [start - 3600, start, start + 3 * 86_400], [1, 2, 3]),
      of("control\u0007", hours.slice(48, 50), [1, 2]),
    ];
    const staged = async (script: StagingScript) => {
      const billed = billing.map((each) => ({ ...each, resource_id: "c\\1" }));
      const result = await stage({ billing: billed, ...script });
      return { result, usage: await rows("usage"), gaps: await rows("usage_gaps"), hashes: await hashes() };
    };
    const facts = await staged({ stagedUsage: factsOf(series) });
    t.strictSame(await staged({ series }), facts);
    t.equal(facts.usage.length, 72 + 5 + 4 + 1 + 2 + 1 + 1);
    t.equal(facts.gaps.length, 2 * 3, "the metric and its derived identity set have gaps");
    t.strictSame(facts.result.dropped, { malformed: 4, outside_window: 2 });
  });

  await t.test("many rows are sent in batches, and all of them arrive", async (t) => {
    const facts = 400_000;
    const many: Gatherer = {
      ...scripted({}),
      async gatherWindow(_window, sink) {
        await sink.billing([line("2026-01-01")]);
        const each = async (part: number) => {
          for (let from = 0; from < facts / 4; from += 10_000) {
            const batch = Array.from({ length: 10_000 }, (_, index) =>
              fact("2026-01-01", `User:some-principal-with-a-name-${part}-${from + index}`, {
                micro_units: "1",
              }),
            );
            await sink.usage(batch);
          }
        };
        await Promise.all([0, 1, 2, 3].map(each));
        return { completeDays: DAYS, dropped: {}, errors: [] };
      },
    };
    holds(t, await stage({}, { gatherer: many }), { usageFacts: facts });
    const [count] = await rows(
      "usage",
      "toString(sum(micro_units)) AS sum, toString(uniqExact(identity_id)) AS ids",
    );
    t.same(count, { sum: String(facts), ids: String(facts) });
  });
});
