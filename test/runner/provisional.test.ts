/**
 * Days with missing data are published at once, marked, and become final when it arrives or the attempts are used up.
 */
import t from "tap";
import { addDays } from "../../src/common/days.js";
import type { AllocationRule } from "../../src/domain/allocation-rule.js";
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
  trackingDate,
} from "./runs.js";
import { evenRule, scriptedUpstream, usageRule } from "./scripted-upstream.js";

const [heavy, light] = [daysBefore(4), daysBefore(3)];

/** Divides evenly among the identities of the metric. */
const derivedRule: AllocationRule = {
  product_type: "SHARED",
  components: [
    {
      ratio: "1",
      tiers: [
        {
          kind: "even",
          scopes: ["metrics_derived", "resource_active"],
          of: "resource",
          detail: "shared_by_design",
        },
        { kind: "terminal", detail: "no_identities_located" },
      ],
    },
  ],
};

t.test("days with missing data are provisional and then final", async (t) => {
  const tenants = ["outage", "kept", "late", "derived", "settled", "refused", "abandoned", "newly"];
  const { config, stores } = await openTestStores(t, shortTenants(tenants, ["allocation_retry_limit: 3"]));
  const state = async (tenant: string, day: string) => {
    const { provisional, provisional_attempts, lacks } = await trackingDate(stores, tenant, day);
    return { provisional, provisional_attempts, lacks };
  };
  const marked = async (tenant: string) => {
    const rows = await runRows<{ day: string }>(
      stores,
      tenant,
      "SELECT DISTINCT toString(day) AS day FROM chargebacks WHERE provisional ORDER BY day",
    );
    return rows.map(({ day }) => day);
  };
  const messages = (result: Awaited<ReturnType<typeof runOnce>>) =>
    result.errors.map(({ date, message }) => `${date ?? ""}: ${message}`);
  const lack = "work of metered-1 could not be fetched: the test says so";

  await t.test("a day is published with the known data until the rest arrives", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [heavy, light]) upstream.bill.set(day, { "metered-1": "8", "r-1": "2" });
    upstream.gaps.add(heavy);
    const context = runContext(stores, { ecosystems });
    const first = await runOnce(context, config, "outage");
    t.equal(first.dates_calculated, 2);
    t.same(messages(first), [`${heavy}: the chargebacks are provisional: ${lack}`]);
    t.same(await chargedOn(stores, "outage", heavy), [
      "UNALLOCATED: 8 metrics_fetch_failed",
      "ann: 1",
      "bob: 1",
    ]);
    t.same(await state("outage", heavy), { provisional: true, provisional_attempts: 1, lacks: [lack] });
    t.same(await state("outage", light), { provisional: false, provisional_attempts: 0, lacks: [] });
    t.same(await marked("outage"), [heavy], "each row says so, and only of this day");

    const second = await runOnce(context, config, "outage");
    t.equal(second.dates_calculated, 0, "what is the same is not published again");
    t.same(messages(second), messages(first));
    upstream.gaps.clear();
    const third = await runOnce(context, config, "outage");
    t.equal(third.dates_calculated, 1);
    t.same(messages(third), []);
    t.same(await chargedOn(stores, "outage", heavy), ["ann: 2", "bob: 6", "ann: 1", "bob: 1"]);
    t.same(await state("outage", heavy), { provisional: false, provisional_attempts: 0, lacks: [] });
    t.same(await marked("outage"), []);
    t.same((await reconciled(stores, "outage")).off, []);
  });

  await t.test("a day becomes final when its attempts are used up, and the run reports it", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [heavy, light]) upstream.bill.set(day, { "metered-1": "8" });
    upstream.gaps.add(heavy).add(light);
    const context = runContext(stores, { ecosystems });
    const run = () => runOnce(context, config, "settled");
    const both = `2 days from ${heavy} to ${light}`;
    for (const calculated of [2, 0]) {
      const result = await run();
      t.equal(result.dates_calculated, calculated);
      t.same(
        messages(result),
        [`: ${both}: the chargebacks are provisional: ${lack}`],
        "once, not once a day",
      );
    }
    t.same(await marked("settled"), [heavy, light]);
    const settling = await run();
    const given = [`: ${both}: the chargebacks are final without it after 3 attempts: ${lack}`];
    t.same(messages(settling), given);
    t.equal(settling.dates_calculated, 2);
    t.same(await marked("settled"), []);
    t.same(await chargedOn(stores, "settled", heavy), ["UNALLOCATED: 8 metrics_fetch_failed"]);
    t.same(await state("settled", heavy), { provisional: false, provisional_attempts: 3, lacks: [lack] });
    const after = await run();
    t.equal(after.dates_calculated, 0, "and it stays so while it lasts");
    t.strictSame(after.errors, [], "which is no error of a later run");
    t.equal(after.status, "completed");
    t.strictSame(
      after.notes.map((note) => `: ${note}`),
      given,
      "but a note as long as it is so",
    );
    upstream.gaps.clear();
    t.equal((await run()).dates_calculated, 2);
    t.same(await chargedOn(stores, "settled", heavy), ["ann: 2", "bob: 6"], "until the metrics are back");
  });

  await t.test("neither an outage nor its end recalculates days that stay the same", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [heavy, light]) upstream.bill.set(day, { "metered-1": "8" });
    const context = runContext(stores, { ecosystems });
    await runOnce(context, config, "kept");
    upstream.gaps.add(heavy).add(light);
    const outage = await runOnce(context, config, "kept");
    t.equal(outage.dates_calculated, 0);
    t.same(messages(outage), [
      `: 2 days from ${heavy} to ${light}: ${lack}: the usage that is published stays`,
    ]);
    t.same(await marked("kept"), []);

    upstream.bill.set(heavy, { "metered-1": "4" });
    t.equal((await runOnce(context, config, "kept")).dates_calculated, 1);
    t.same(await chargedOn(stores, "kept", heavy), ["ann: 1", "bob: 3"], "a revised bill is split by it");
    t.same(await state("kept", heavy), { provisional: false, provisional_attempts: 0, lacks: [] });
    upstream.gaps.clear();
    t.equal((await runOnce(context, config, "kept")).dates_calculated, 0);
    t.same((await reconciled(stores, "kept")).off, []);
  });

  await t.test("a late line of a new resource keeps the measured usage of the others", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(heavy, { "metered-1": "8" });
    const context = runContext(stores, { ecosystems });
    await runOnce(context, config, "late");
    upstream.gaps.add(heavy);
    upstream.bill.set(heavy, { "metered-1": "8", "metered-2": "4", "r-1": "2" });
    const late = await runOnce(context, config, "late");
    t.equal(late.dates_calculated, 1);
    t.same(messages(late), [
      `${heavy}: ${lack}: the usage that is published stays`,
      `${heavy}: the chargebacks are provisional: work of metered-2 could not be fetched: the test says so`,
    ]);
    const others = ["ann: 2", "bob: 6", "UNALLOCATED: 4 metrics_fetch_failed"];
    t.same(await chargedOn(stores, "late", heavy), [...others, "ann: 1", "bob: 1"]);
    t.same(await marked("late"), [heavy]);
    upstream.gaps.clear();
    await runOnce(context, config, "late");
    t.same(await chargedOn(stores, "late", heavy), [
      "ann: 2",
      "bob: 6",
      "ann: 1",
      "bob: 3",
      "ann: 1",
      "bob: 1",
    ]);
    t.same((await reconciled(stores, "late")).off, []);
  });

  await t.test(
    "a list of the inventory that always fails does not prevent days from being published",
    async (t) => {
      const refusal = "connectors: the upstream returned 403";
      const { upstream, ecosystems } = scriptedUpstream({ inventoryErrors: [refusal] });
      upstream.bill.set(heavy, { "r-1": "2" });
      const run = () => runOnce(runContext(stores, { ecosystems }), config, "refused");
      const incomplete = `the inventory is incomplete: ${refusal}`;
      for (const [attempt, calculated] of [1, 0].entries()) {
        const result = await run();
        t.equal(result.status, "completed_with_errors");
        t.equal(result.dates_calculated, calculated);
        t.same(messages(result), [
          `: ${refusal}`,
          `${heavy}: the chargebacks are provisional: ${incomplete}`,
        ]);
        t.same(await state("refused", heavy), {
          provisional: true,
          provisional_attempts: attempt + 1,
          lacks: [incomplete],
        });
      }
      t.same(await chargedOn(stores, "refused", heavy), ["ann: 1", "bob: 1"]);
      holds(t, await trackingDate(stores, "refused", heavy), { resources_gathered: false });
      t.same(await marked("refused"), [heavy]);
      const settling = await run();
      t.equal(settling.dates_calculated, 1);
      t.same(messages(settling), [
        `: ${refusal}`,
        `${heavy}: the chargebacks are final without it after 3 attempts: ${incomplete}`,
      ]);
      t.same(await marked("refused"), []);
      upstream.bill.set(light, { "r-1": "2" });
      t.equal((await run()).dates_calculated, 1);
      t.same(await marked("refused"), [light], "each new day waits for it as often");
      upstream.inventoryErrors = [];
      const whole = await run();
      t.same(messages(whole), []);
      t.same(await marked("refused"), []);
      t.equal(whole.dates_calculated, 1, "only the day that was provisional is published again");
      holds(t, await trackingDate(stores, "refused", heavy), { resources_gathered: true });
      t.same((await reconciled(stores, "refused")).off, []);
    },
  );

  await t.test(
    "a failed metric that defines an identity set is reported on the lines of the set",
    async (t) => {
      const { upstream, ecosystems } = scriptedUpstream({ derives: true, rules: [derivedRule, usageRule] });
      upstream.bill.set(heavy, { "metered-1": "8" });
      upstream.bill.set(light, { "metered-1": "8" });
      upstream.shared.push("metered-1");
      upstream.gaps.add(heavy);
      await runOnce(runContext(stores, { ecosystems }), config, "derived");
      const shared = async (day: string) => {
        const rows = await runRows<{ text: string }>(
          stores,
          "derived",
          `SELECT concat(identity_id, ' ', allocation_detail) AS text FROM chargebacks
         WHERE day = '${day}' AND product_type = 'SHARED' ORDER BY text`,
        );
        return rows.map(({ text }) => text);
      };
      t.same(await shared(heavy), ["ann metrics_fetch_failed", "bob metrics_fetch_failed"]);
      t.same(await shared(light), ["ann shared_by_design", "bob shared_by_design"]);
    },
  );

  await t.test("a newly metered product has no measured zero usage before", async (t) => {
    const unmetered = [evenRule, { ...evenRule, product_type: "METERED" }];
    const { upstream, ecosystems } = scriptedUpstream({ rules: unmetered, measured: false });
    for (const day of [heavy, light]) upstream.bill.set(day, { "metered-1": "8" });
    const run = () => runOnce(runContext(stores, { ecosystems }), config, "newly");
    await run();
    upstream.rules = [evenRule, usageRule];
    upstream.measured = true;
    upstream.gaps.add(heavy);
    t.same(messages(await run()), [`${heavy}: the chargebacks are provisional: ${lack}`]);
    t.same(await marked("newly"), [heavy]);
    t.same(await chargedOn(stores, "newly", heavy), ["UNALLOCATED: 8 metrics_fetch_failed"]);
    t.same(await chargedOn(stores, "newly", light), ["ann: 2", "bob: 6"]);
    upstream.gaps.clear();
    t.same(messages(await run()), []);
    t.same(await chargedOn(stores, "newly", heavy), ["ann: 2", "bob: 6"]);
    upstream.measured = false;
    upstream.gaps.add(light);
    t.same(
      messages(await run()),
      [`${light}: ${lack}: the usage that is published stays`],
      "measured by now",
    );

    upstream.measured = true;
    upstream.rules = [evenRule, usageRule, { ...evenRule, product_type: "EXTRA" }];
    upstream.lacking = "EXTRA";
    const price = "EXTRA of metered-1 could not be fetched: the test says so";
    t.same(messages(await run()), [`${light}: the chargebacks are provisional: ${price}`]);
    t.same(await marked("newly"), [light]);
  });

  await t.test("a provisional day that is no longer gathered becomes final as published", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [heavy, light]) upstream.bill.set(day, { "metered-1": "8", "r-1": "2" });
    upstream.gaps.add(heavy).add(light);
    await runOnce(runContext(stores, { ecosystems }), config, "abandoned");
    t.same(await marked("abandoned"), [heavy, light]);
    const whole = "SELECT * EXCEPT (provisional, revision) FROM chargebacks ORDER BY ALL";
    const before = await runRows(stores, "abandoned", whole);
    const hash = (await trackingDate(stores, "abandoned", heavy)).published_hash;

    // The rule has changed, so a gathered day would be calculated with it.
    const other = scriptedUpstream({ rules: [evenRule, { ...evenRule, product_type: "METERED" }] });
    for (const day of [heavy, light]) other.upstream.bill.set(day, { "metered-1": "8", "r-1": "2" });
    const later = new Date(`${daysBefore(-6)}T12:00:00Z`);
    const context = runContext(stores, { ecosystems: other.ecosystems, now: () => later });
    const forced = await runOnce(context, config, "abandoned", {
      window: { start: light, end: addDays(light, 1) },
    });
    t.same(forced.notes, [`${heavy} is older than lookback_days, and final without the missing data`]);
    t.same(await marked("abandoned"), [], "the other day was gathered, and is complete now");
    t.same(await state("abandoned", heavy), { provisional: false, provisional_attempts: 1, lacks: [lack] });
    const after = await trackingDate(stores, "abandoned", heavy);
    t.equal(`${after.published_hash}-provisional`, hash);
    const { revision } = (
      await runRows<{ revision: string }>(
        stores,
        "abandoned",
        `SELECT DISTINCT toString(revision) AS revision FROM chargebacks WHERE day = '${heavy}'`,
      )
    )[0] ?? { revision: "" };
    t.equal(revision, after.published_hash);
    const stays = (rows: readonly unknown[]) => rows.filter((row) => (row as { day: string }).day === heavy);
    t.equal(stays(before).length, 3);
    t.same(
      stays(await runRows(stores, "abandoned", whole)),
      stays(before),
      "by the rules of then, to the cent",
    );
    t.same(await chargedOn(stores, "abandoned", light), ["ann: 4", "bob: 4", "ann: 1", "bob: 1"]);
    const { staged, ...proof } = await reconciled(stores, "abandoned");
    t.same(proof.off, []);
    t.equal(staged, 0, "nothing stays staged");
    const again = await runOnce(context, config, "abandoned");
    t.same(again.notes, []);
    t.equal(again.dates_calculated, 0);
  });
});
