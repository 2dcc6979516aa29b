/** Gathering into the staging tables: what is staged, and what a day's hash notices. On the real stores. */
import t from "tap";
import type { Gatherer } from "../../src/ingest/ecosystem.js";
import type { StageWindowOptions } from "../../src/ingest/staged-window.js";
import { holds } from "../holds.js";
import { billing, DAYS, fact, line, openStaging, type Script, scripted, usage } from "./staging-script.js";

t.test("staging a window", async (t) => {
  const { postgres, store, stage, rows, dates, hashes, publish } = await openStaging(t);

  await t.test("everything is stored as it came, to the last digit and character", async (t) => {
    const result = await stage({ billing, usage, members: ["s"] });
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

  await t.test("the hash does not mind the order, and minds everything else", async (t) => {
    const two = [...billing, line("2026-01-01", { product_type: "Q" })];
    await stage({ billing: two, usage });
    const base = await hashes();
    await stage({ billing: [...two].reverse(), usage: [...usage].reverse() });
    t.same(await hashes(), base, "order");
    const others: [string, Script, Partial<StageWindowOptions>?][] = [
      ["a cost", { billing: [line("2026-01-01", { total_cost: "1" }), ...two.slice(1)], usage }],
      ["a repeated line", { billing: [...two, line("2026-01-01")], usage }],
      ["a line twice is not no line", { billing: [...two, line("2026-01-01"), line("2026-01-01")], usage }],
      [
        "a quantity of usage",
        { billing: two, usage: [fact("2026-01-01", "a", { micro_units: "1" }), ...usage.slice(1)] },
      ],
      ["a member", { billing: two, usage, members: ["x"] }],
      [
        "a gap",
        {
          billing: two,
          usage,
          gaps: [{ day: "2026-01-01", metric: "m", resource_id: "c1", reason: "down" }],
        },
      ],
      ["the rules", { billing: two, usage }, { rulesHash: "other" }],
      ["the decimal places", { billing: two, usage }, { decimalPlaces: 5 }],
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
    t.same(await hashes(), before, "the words of a gap");
    t.same(
      (await dates()).map((date) => date.lacks),
      [[], ["m of c1 could not be fetched: timeout"], []],
    );
  });

  await t.test(
    "a day that is published with the same input is not staged, unless it is forced",
    async (t) => {
      await stage({ billing, usage });
      await publish();
      holds(t, await stage({ billing, usage }), { staged: [], unchanged: DAYS });
      t.same(await rows("billing"), []);
      t.same(await rows("usage"), []);
      t.same(await hashes(), [null, null, null]);
      const changed = [line("2026-01-01"), line("2026-01-02", { total_cost: "-1" }), line("2026-01-03")];
      holds(t, await stage({ billing: changed, usage }), { staged: ["2026-01-02"] });
      holds(t, await rows("billing", "day, total_cost"), [{ day: "2026-01-02", total_cost: "-1" }]);
      holds(t, await stage({ billing, usage }, { force: true }), { staged: DAYS, unchanged: [] });
    },
  );

  await t.test("attempts go on with the same input, and start anew with another", async (t) => {
    await stage({ billing, usage });
    await postgres.query("UPDATE tracking_dates SET allocation_attempts = 2, last_error = 'x'");
    await stage({ billing, usage });
    holds(t, (await dates())[0], { allocation_attempts: 2, last_error: "x" });
    await stage({ billing: [line("2026-01-01", { total_cost: "9" }), ...billing.slice(1)], usage });
    holds(t, await dates(), [
      { allocation_attempts: 0, last_error: null },
      { allocation_attempts: 2, last_error: "x" },
      { allocation_attempts: 2, last_error: "x" },
    ]);
  });

  await t.test("a day without lines needs nothing, unless something was published of it", async (t) => {
    holds(t, await stage({ billing: billing.slice(0, 1), usage }), {
      staged: ["2026-01-01"],
      empty: DAYS.slice(1),
    });
    t.equal((await dates()).length, 1);
    t.same(
      await rows("usage", "DISTINCT toString(day) AS day"),
      [{ day: "2026-01-01" }],
      "usage of nothing is not kept",
    );
    await publish();
    holds(t, await stage({ usage }), { staged: ["2026-01-01"], empty: DAYS.slice(1) });
    t.same(await rows("usage"), []);
    await publish();
    holds(t, await stage({}), { staged: [], unchanged: ["2026-01-01"] }, "gone for good");
    await stage({ billing });
    holds(
      t,
      await stage({}),
      { staged: [], unchanged: ["2026-01-01"], empty: DAYS.slice(1) },
      "staged, but never published",
    );
    t.equal((await dates()).length, 1);
  });

  await t.test("an incomplete day keeps what it had", async (t) => {
    await stage({ billing, usage });
    await publish();
    const before = await dates();
    const other = DAYS.map((day) => line(day, { total_cost: "5" }));
    const result = await stage({ billing: other, usage, complete: [DAYS[0] ?? "", DAYS[2] ?? ""] });
    holds(t, result, { staged: [DAYS[0], DAYS[2]], incomplete: [DAYS[1]] });
    t.same((await dates())[1], before[1]);
    t.same(await rows("billing", "DISTINCT toString(day) AS day"), [{ day: DAYS[0] }, { day: DAYS[2] }]);
  });

  await t.test("resources_gathered is that of the inventory the day was gathered with", async (t) => {
    const flags = async () => (await dates()).map((date) => date.resources_gathered);
    await stage({ billing, usage }, { inventoryLacks: ["connectors: HTTP 403"] });
    t.same(await flags(), [false, false, false]);
    await stage({ billing, usage });
    await publish();
    const changed = [line("2026-01-01", { total_cost: "1" }), ...billing.slice(1)];
    await stage({ billing: changed, usage }, { inventoryLacks: ["connectors: HTTP 403"] });
    t.same(await flags(), [false, true, true], "an unchanged day keeps its own");
  });

  await t.test("many rows go through in batches, and all of them arrive", async (t) => {
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
