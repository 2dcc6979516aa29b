/** What a delivery changed is recorded when its days are published, and stays as it was. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { dropStagedDays } from "../../src/clickhouse/staging.js";
import { readDeliveries } from "../../src/query/state/deliveries.js";
import { readDeliveryPayers } from "../../src/query/state/delivery-payers.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder, testConfig } from "../stores.js";
import { runContext, runOnce } from "./runs.js";

const tenant = (folders: readonly string[], allocation = "") => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    allocation:
      identity: [{ tag: team }]
${allocation}
    plugin_settings:
      sources:
${folders
  .map((folder, at) => `        - { name: cloud-${at}, location: ${folder}, limits: { settle_seconds: 0 } }`)
  .join("\n")}`;

const line = (day: number, team: string, cost: string, more = {}) => ({
  ChargePeriodStart: `2026-06-${day}T00:00:00Z`,
  ChargePeriodEnd: `2026-06-${day + 1}T00:00:00Z`,
  EffectiveCost: cost,
  ResourceId: `i-${team}`,
  Tags: JSON.stringify({ team }),
  ...more,
});

function write(folder: string, rows: Parameters<typeof csv>[0]) {
  mkdirSync(join(folder, "2026-06"), { recursive: true });
  writeFileSync(join(folder, "2026-06", "bill.csv"), csv(rows));
}

const nothing = {
  first_days: [],
  changed_days: [],
  lines_new: 0,
  lines_changed: 0,
  lines_gone: 0,
  sums: [],
  together_with: [],
  has_other_causes: false,
};

t.test("a delivery says which days, lines and payers it changed", async (t) => {
  const folders = [temporaryFolder(t), temporaryFolder(t)];
  const [folder = "", second = ""] = folders;
  const before = [line(23, "a", "1.5"), line(23, "b", "2"), line(24, "a", "10"), line(24, "b", "0.1")];
  write(folder, before);
  write(second, [line(25, "z", "1", { BillingAccountId: "other" })]);
  const { config, stores, folder: data } = await openTestStores(t, tenant(folders));
  const withRule = (rule: string) =>
    testConfig(`data_dir: ${data}/data\n${tenant(folders, `      rules: [${rule}]`)}`, data);
  const run = async (settings = config) => {
    const result = await runOnce(runContext(stores), settings, "acme");
    t.strictSame([result.status, result.errors], ["completed", []]);
    return result.dates_calculated;
  };
  const deliveries = async () =>
    (await readDeliveries(stores.postgres, "acme", { page: 1, page_size: 10 })).items;
  const newest = async (source = "cloud-0") => {
    const found = (await deliveries()).find((each) => each.source === source);
    return { id: found?.delivery_id ?? 0, change: found?.change };
  };
  const payers = async (id: number) =>
    (await readDeliveryPayers(stores.postgres, "acme", id, { page: 1, page_size: 10 })).items.map(
      ({ identity_id, currency, amount }) => `${identity_id} ${amount} ${currency}`,
    );

  await t.test("the first delivery of days has no differences", async (t) => {
    t.equal(await run(), 3);
    const { id, change } = await newest();
    t.strictSame(change, { ...nothing, first_days: ["2026-06-23", "2026-06-24", "2026-06-25"] });
    t.strictSame(await payers(id), []);
  });

  await t.test("a new delivery has the differences of published days", async (t) => {
    write(folder, [
      line(23, "a", "1.5"),
      line(23, "b", "2"),
      line(24, "a", "12.5"),
      line(24, "c", "0.3"),
      line(26, "a", "9"),
    ]);
    t.equal(await run(), 2);
    const { id, change } = await newest();
    t.strictSame(change, {
      ...nothing,
      first_days: ["2026-06-26"],
      changed_days: ["2026-06-24"],
      lines_new: 1,
      lines_changed: 1,
      lines_gone: 1,
      sums: [{ currency: "USD", amount: "2.7" }],
    });
    t.strictSame(await payers(id), ["a 2.5 USD", "c 0.3 USD", "b -0.1 USD"]);
  });

  await t.test("what changes later is not attributed to it", async (t) => {
    const known = await newest();
    const other = withRule("{ name: all, where: { ResourceId: '*' }, split: [{ by: even, among: [ops] }] }");
    t.equal(await run(other), 4, "all days are allocated by another rule");
    t.strictSame(await newest(), known);
    t.strictSame(await payers(known.id), ["a 2.5 USD", "c 0.3 USD", "b -0.1 USD"]);
    t.equal(await run(), 4);
    t.strictSame(await newest(), known);
  });

  await t.test("a delivery that another one replaces before a run changes nothing", async (t) => {
    const { id } = await newest();
    write(
      folder,
      [
        line(23, "a", "1.5"),
        line(23, "b", "2"),
        line(24, "a", "12.5"),
        line(24, "c", "0.3"),
        line(26, "a", "9"),
      ].reverse(),
    );
    t.equal(await run(), 0, "the same lines in another order");
    const same = await newest();
    t.not(same.id, id);
    t.strictSame(same.change, nothing);
  });

  await t.test("deliveries of one run share the days that both change, and rules are named", async (t) => {
    write(folder, [line(23, "a", "1.5"), line(24, "a", "12.5"), line(24, "c", "0.3"), line(26, "a", "9")]);
    write(second, [
      line(25, "z", "1", { BillingAccountId: "other" }),
      line(23, "z", "4", { BillingAccountId: "other" }),
    ]);
    await run(withRule("{ name: of-c, where: { ResourceId: i-c }, split: [{ by: even, among: [ops] }] }"));
    const [first, both] = [await newest(), await newest("cloud-1")];
    const change = {
      ...nothing,
      changed_days: ["2026-06-23"],
      lines_new: 1,
      lines_gone: 1,
      sums: [{ currency: "USD", amount: "2" }],
      has_other_causes: true,
    };
    t.strictSame(first.change, { ...change, together_with: [both.id] });
    t.strictSame(both.change, { ...change, together_with: [first.id] });
    t.strictSame(await payers(first.id), ["z 4 USD", "b -2 USD"]);
    const { rows } = await stores.postgres.query("SELECT count(*)::int AS n FROM delivery_changes");
    t.strictSame(rows, [{ n: 2 }], "days that only the rules changed have no record");
  });

  const interrupted = async (amount: string) => {
    await stores.postgres.query(`CREATE OR REPLACE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the process dies here'; END $$`);
    await stores.postgres.query(`CREATE TRIGGER stop BEFORE UPDATE ON tracking_dates FOR EACH ROW
      WHEN (OLD.publishing_hash IS NOT NULL AND NEW.publishing_hash IS NULL) EXECUTE FUNCTION stop()`);
    write(folder, [line(23, "a", amount), line(24, "a", "12.5"), line(24, "c", "0.3"), line(26, "a", "9")]);
    await runOnce(runContext(stores), config, "acme");
    await stores.postgres.query("DROP TRIGGER stop ON tracking_dates");
    const { id, change } = await newest();
    t.strictSame(
      [change, await payers(id)],
      [nothing, []],
      "nothing is shown before the publish has a result",
    );
    return id;
  };

  await t.test("a publish that was cut off has its differences once it is finished", async (t) => {
    await run();
    const id = await interrupted("2.5");
    t.equal(await run(), 0);
    const { change } = await newest();
    const sums = [{ currency: "USD", amount: "1" }];
    t.strictSame(change, { ...nothing, changed_days: ["2026-06-23"], lines_changed: 1, sums });
    t.strictSame(await payers(id), ["a 1 USD"]);
  });

  await t.test("a publish that was lost has unknown differences", async (t) => {
    const id = await interrupted("3.5");
    const { client } = await stores.tenant("acme");
    const { rows } = await stores.postgres.query("SELECT max(epoch)::int AS epoch FROM leases");
    await dropStagedDays(client, rows[0].epoch, ["2026-06-23"]);
    await runOnce(runContext(stores), config, "acme");
    const { change } = await newest();
    t.strictSame(change, { ...nothing, changed_days: ["2026-06-23"], lines_changed: 1, sums: null });
    t.strictSame(await payers(id), []);
  });
});
