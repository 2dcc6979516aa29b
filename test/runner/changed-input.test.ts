import t from "tap";
import type { PluginSettings } from "../../src/config/settings/plugin-settings.js";
import type { AnyEcosystem } from "../../src/ingest/ecosystem.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import {
  chargedOn,
  daysBefore,
  reconciled,
  runContext,
  runOnce,
  runRows,
  shortTenants,
  tenantOf,
} from "./runs.js";
import { evenRule, scriptedUpstream } from "./scripted-upstream.js";

const published = (stores: Parameters<typeof runRows>[0]) =>
  runRows(
    stores,
    "acme",
    "SELECT toString(day) AS day, groupBitXor(cityHash64(*)) AS h FROM chargebacks GROUP BY day ORDER BY day",
  );

t.test("a run calculates exactly the days whose input has changed", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
  const { upstream, ecosystems } = scriptedUpstream();
  for (let age = 2; age <= 8; age += 1) upstream.bill.set(daysBefore(age), { "r-1": "10", "metered-1": "8" });
  const calculated: string[] = [];
  const context = runContext(stores, { ecosystems });
  const observed = {
    ...context,
    observer: {
      ...context.observer,
      published: (_: string, day: { day: string }) => calculated.push(day.day),
    },
  };
  const run = async (changes = {}, tenants = config) => {
    calculated.length = 0;
    return await runOnce(observed, tenants, "acme", changes);
  };

  holds(t, await run(), {
    status: "completed",
    dates_gathered: 7,
    dates_calculated: 7,
    chargeback_rows_written: 28,
  });
  t.same(await chargedOn(stores, "acme", daysBefore(8)), ["ann: 2", "bob: 6", "ann: 5", "bob: 5"]);

  await t.test("unchanged input calculates nothing", async (t) => {
    const before = await published(stores);
    holds(t, await run(), { status: "completed", dates_gathered: 7, dates_pending: 0, dates_calculated: 0 });
    t.same(await published(stores), before);
  });

  await t.test("a changed line of an old day recalculates exactly that day", async (t) => {
    upstream.bill.set(daysBefore(8), { "r-1": "20", "metered-1": "8" });
    await run();
    t.same(calculated, [daysBefore(8)]);
    t.same(await chargedOn(stores, "acme", daysBefore(8)), ["ann: 2", "bob: 6", "ann: 10", "bob: 10"]);
  });

  await t.test("a line that vanished from the bill is removed, and so is a whole day", async (t) => {
    upstream.bill.set(daysBefore(7), { "r-1": "10" });
    upstream.bill.delete(daysBefore(6));
    await run();
    t.same(calculated, [daysBefore(7)]);
    await run();
    t.same(calculated, [daysBefore(6)], "a day without any line is believed when it is found so twice");
    t.same(await chargedOn(stores, "acme", daysBefore(7)), ["ann: 5", "bob: 5"]);
    t.same(await chargedOn(stores, "acme", daysBefore(6)), []);
    holds(t, await reconciled(stores, "acme"), { days: 6, off: [], staged: 0 });
  });

  await t.test("a new line on a calculated day is charged", async (t) => {
    upstream.bill.set(daysBefore(7), { "r-1": "10", "r-2": "1" });
    await run();
    t.same(calculated, [daysBefore(7)]);
    t.same(await chargedOn(stores, "acme", daysBefore(7)), ["ann: 5", "bob: 5", "ann: 0.5", "bob: 0.5"]);
  });

  await t.test("a line of a product without a rule is charged to UNALLOCATED", async (t) => {
    upstream.rules = [evenRule];
    await run();
    t.equal(calculated.length, 6, "changed rules calculate every day");
    t.same(await chargedOn(stores, "acme", daysBefore(8)), [
      "UNALLOCATED: 8 no_allocator_for_product_type",
      "ann: 10",
      "bob: 10",
    ]);
  });

  await t.test("changed decimal_places recalculate every day", async (t) => {
    upstream.bill.set(daysBefore(5), { "r-1": "0.333333" });
    await run();
    await run();
    t.same(await chargedOn(stores, "acme", daysBefore(5)), ["ann: 0.1666", "bob: 0.166733"]);
    const tenant = tenantOf(config, "acme");
    const finer = { ...tenant, allocation: { ...tenant.allocation, decimal_places: 6 } };
    await run({}, { ...config, tenants: new Map([["acme", finer]]) });
    t.equal(calculated.length, 6);
    t.same(await chargedOn(stores, "acme", daysBefore(5)), ["ann: 0.166666", "bob: 0.166667"]);
    await run();
  });

  await t.test("--force recalculates every day, with the same rows", async (t) => {
    const before = await published(stores);
    holds(t, await run({ force: true }), { status: "completed", dates_calculated: 7 });
    t.same(await published(stores), before);
  });

  await t.test("a day whose bill failed keeps its chargebacks", async (t) => {
    upstream.bill.set(daysBefore(4), {});
    upstream.incomplete.add(daysBefore(4));
    holds(t, await run(), { dates_gathered: 6, dates_calculated: 0 });
    t.equal((await chargedOn(stores, "acme", daysBefore(4))).length, 3);
  });
  holds(t, await reconciled(stores, "acme"), { off: [], staged: 0 });
});

t.test("an unchanged upstream is read again when a relevant setting changes", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
  const { upstream, ecosystems } = scriptedUpstream();
  upstream.bill.set(daysBefore(3), { "r-1": "10" });
  const remembering = [...ecosystems].map(([name, ecosystem]): [string, AnyEcosystem] => {
    const connect: AnyEcosystem["connect"] = (...given) => {
      const gatherer = ecosystem.connect(...given);
      return {
        ...gatherer,
        gatherWindow: async (...of) => ({
          ...(await gatherer.gatherWindow(...of)),
          responses: "all of them",
        }),
        isUnchanged: async () => true,
      };
    };
    return [name, { ...ecosystem, connect }];
  });
  const context = runContext(stores, { ecosystems: new Map(remembering) });
  const tenant = tenantOf(config, "acme");
  const read = async (changes: Partial<PluginSettings> = {}) => {
    const before = upstream.windows;
    const changed = { ...tenant, plugin_settings: { ...tenant.plugin_settings, ...changes } };
    await runOnce(context, { ...config, tenants: new Map([["acme", changed]]) }, "acme");
    return upstream.windows - before;
  };
  t.equal(await read(), 1);
  t.equal(await read(), 0);
  t.equal(await read({ min_refresh_gap_seconds: 5 }), 0);
  t.equal(await read({ metrics_step_seconds: 60 }), 1);
  t.equal(await read({ metrics_step_seconds: 60 }), 0);
});
