/** Stores that were lost, restored, exchanged or belong to another host are detected, reported and recalculated. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { printReconciliation } from "../../src/cli/reconcile.js";
import type { Config } from "../../src/config/config.js";
import { buildApp } from "../../src/http/app.js";
import { checkFacts } from "../../src/stores/facts/check-facts.js";
import { createStoreOwners } from "../../src/stores/facts/store-owners.js";
import { migrateClickHouse } from "../../src/stores/migrate-clickhouse.js";
import { migrationFolders, type OpenedStores, openStores } from "../../src/stores/open-stores.js";
import { addTag } from "../../src/tags/write.js";
import { commandIo } from "../cli/command-io.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import { mirrored, tag, writtenTags } from "../tags/tagging.js";
import {
  chargedOn,
  daysBefore,
  reconciled,
  runContext,
  runDay,
  runOnce,
  runRecords,
  runRows,
  shortTenants,
} from "./runs.js";
import { clusterWithTopics, topicUpstream } from "./topic-upstream.js";

const days = [2, 3, 4, 5, 6, 7, 8].map(daysBefore).sort();
const keepFrom = { chargebacks: "2000-01-01", topic_attributions: "2000-01-01" };

t.test("a store that differs from the records of Postgres is recovered", async (t) => {
  const { upstream, ecosystems } = topicUpstream();
  for (const day of days) upstream.bill.set(day, { "metered-1": "8", shared: "0.30" });
  const folder = temporaryFolder(t);
  const configOf = (database: string, data = `${folder}/data`): Config => {
    const yaml = shortTenants(["acme"]).replace("embedded:acme", `embedded:${database}`);
    return clusterWithTopics(testConfig(`data_dir: ${data}\n${yaml}`, folder));
  };
  const config = configOf("acme");
  const data = (name: string) => join(folder, "data", name);

  let stores: OpenedStores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  /** Stops the service, changes files, and starts it again. */
  const meanwhile = async (change: () => void, next = config) => {
    await stores.close();
    change();
    stores = await openStores({ config: next, logger: testLogger });
  };
  const run = async (next = config) => await runOnce(runContext(stores, { ecosystems }), next, "acme");
  const check = async () => {
    const { client } = await stores.tenant("acme");
    return await checkFacts({ client, postgres: stores.postgres, tenantName: "acme", keepFrom });
  };
  const differing = async (ledger = "chargebacks") =>
    (await check()).differing.filter((each) => each.ledger === ledger).map(({ day }) => day);
  /** Returns the reports of the API and of `reconcile`, from a new instance. */
  const reports = async () => {
    const app = await buildApp({
      config,
      stores,
      control: undefined,
      logger: testLogger,
      version: "1",
      mode: "api",
      clock: () => new Date(`${runDay}T12:00:00Z`),
    });
    try {
      const get = async (path: string) => await app.inject({ url: `/api/v1${path}` });
      const readiness = (await get("/readiness")).json();
      const [tenant] = readiness.tenants;
      const status: { state: string }[] = (await get("/tenants/acme/status")).json();
      const { io, written: printed } = commandIo();
      const proof = await printReconciliation(stores, ["acme"], io, { everyDay: false });
      return {
        status: readiness.status,
        store: tenant.store_state,
        has_data: tenant.has_data,
        lost: tenant.days_lost,
        strict: (await get("/readiness?strict=all")).statusCode,
        days: [...new Set(status.map(({ state }) => state))],
        calculated: (await get("/tenants")).json()[0].dates_calculated,
        proof,
        losses: printed.stdout.split("\n").filter((line) => line.startsWith("LOST: ")).length,
      };
    } finally {
      await app.close();
    }
  };
  const wholeStore = {
    status: "ready",
    store: "known",
    has_data: true,
    lost: 0,
    strict: 200,
    days: ["published"],
    calculated: 7,
    proof: "adds_up",
    losses: 0,
  };
  const rows = async () => ({
    chargebacks: await runRows(stores, "acme", "SELECT * FROM chargebacks ORDER BY ALL"),
    topics: await runRows(stores, "acme", "SELECT * FROM topic_attributions ORDER BY ALL"),
  });
  const lost = async () =>
    (await stores.postgres.query("SELECT FROM tracking_dates WHERE lost_at IS NOT NULL")).rowCount;

  const first = await run();
  t.strictSame([first.status, first.dates_calculated, first.notes], ["completed", 7, []]);
  t.strictSame(await differing(), []);
  const before = await rows();
  t.equal(before.topics.length > 0, true);
  const [dimension] = await runRows<{ id: string }>(
    stores,
    "acme",
    "SELECT min(dimension_id) AS id FROM dimensions",
  );
  await addTag(
    { postgres: stores.postgres, tenantName: "acme", dimensionId: Number(dimension?.id) },
    tag("team", "A"),
  );
  const tags = await writtenTags(stores, "acme");
  t.equal(tags.length, 1);

  /** Asserts that after a run everything is as before the loss. */
  const isWhole = async (t: Test) => {
    t.strictSame((await check()).differing, []);
    t.equal(await lost(), 0);
    t.strictSame(await reconciled(stores, "acme").then(({ days, off }) => ({ days, off })), {
      days: 7,
      off: [],
    });
    t.strictSame(await writtenTags(stores, "acme"), tags);
    t.strictSame(await mirrored(stores, "acme"), tags);
  };
  const hasNothingToDo = async (t: Test) => {
    const next = await run();
    t.strictSame([next.status, next.dates_calculated, next.notes], ["completed", 0, []]);
  };

  /** Copies what a backup contains: everything except the pipes of the engine's child. */
  const backUp = (name: string) =>
    cpSync(data(name), join(folder, name), { recursive: true, filter: (path) => !path.includes("/io/") });
  const setBack = (name: string) => {
    rmSync(data(name), { recursive: true });
    cpSync(join(folder, name), data(name), { recursive: true });
  };

  await t.test("days are recalculated after the folder of the store was deleted", async (t) => {
    const known = (await check()).knownStoreId;
    await meanwhile(() => rmSync(data("clickhouse"), { recursive: true }));
    t.strictSame(await differing(), days, "noticed before any run");
    t.strictSame(await differing("topic_attributions"), days);
    t.strictSame(await reports(), {
      status: "initializing",
      store: "lost",
      has_data: false,
      lost: 7,
      strict: 503,
      days: ["lost"],
      calculated: 0,
      proof: "lost",
      losses: 2,
    });
    const result = await run();
    t.strictSame([result.status, result.dates_calculated], ["completed", 7]);
    t.match(result.notes.join("\n"), /is not that of the last run, or was emptied/);
    t.match(result.notes.join("\n"), /7 days from .* lost by the store/);
    t.strictSame((await runRecords(stores, "acme")).at(-1)?.notes, result.notes, "its record says so");
    t.strictSame(await rows(), before);
    t.not((await check()).knownStoreId, known);
    await isWhole(t);
    t.strictSame(await reports(), wholeStore);
    await hasNothingToDo(t);
  });

  await t.test("lost days are reported while the upstream is down, and come back later", async (t) => {
    const server = await stores.serverClient("acme");
    await server.command({ query: "DROP DATABASE acme SYNC" });
    const { postgres: lock } = stores;
    await migrateClickHouse(server, {
      dir: migrationFolders.clickhouse,
      database: "acme",
      postgres: lock,
      logger: testLogger,
    });
    upstream.onWindow = () => Promise.reject(new Error("the upstream is away"));
    const result = await run();
    t.equal(result.status, "failed");
    t.equal(await lost(), 7);
    t.strictSame(await reports(), {
      status: "no_data",
      store: "known",
      has_data: false,
      lost: 7,
      strict: 503,
      days: ["lost"],
      calculated: 0,
      proof: "lost",
      losses: 1,
    });
    t.strictSame(await writtenTags(stores, "acme"), tags);
    upstream.onWindow = async () => undefined;
    t.equal((await run()).dates_calculated, 7);
    t.strictSame(await rows(), before);
    await isWhole(t);
  });

  await t.test("a single lost day is recalculated", async (t) => {
    const [day = ""] = days;
    const { client } = await stores.tenant("acme");
    await client.command({ query: `ALTER TABLE chargebacks DROP PARTITION '${day}'` });
    t.strictSame(await differing(), [day]);
    t.equal((await run()).dates_calculated, 1);
    await isWhole(t);
  });

  await t.test("days are recalculated after the store was restored from a backup", async (t) => {
    const [changed = "", same = ""] = days;
    await meanwhile(() => backUp("clickhouse"));
    upstream.bill.set(changed, { "metered-1": "16", shared: "0.30" });
    t.equal((await run()).dates_calculated, 1);
    const newer = await rows();
    await meanwhile(() => setBack("clickhouse"));
    t.strictSame(await differing(), [changed]);
    const result = await run();
    t.match(result.notes.join("\n"), /has another state than Postgres/);
    t.equal(result.dates_calculated, 1);
    t.strictSame(await rows(), newer);
    t.strictSame((await chargedOn(stores, "acme", same)).length, 4);
    await isWhole(t);
  });

  await t.test("a store that is newer than a restored Postgres is accepted", async (t) => {
    const [changed = ""] = days;
    await meanwhile(() => backUp("postgres"));
    upstream.bill.set(changed, { "metered-1": "24", shared: "0.30" });
    t.equal((await run()).dates_calculated, 1);
    t.equal((await run()).status, "completed");
    const newer = await rows();
    await meanwhile(() => setBack("postgres"));
    t.strictSame(await differing(), [changed]);
    const result = await run();
    t.strictSame(
      [result.status, result.dates_calculated],
      ["completed", 0],
      "what the store shows is up to date",
    );
    t.strictSame(await rows(), newer);
    await isWhole(t);
  });

  await t.test("a tenant that was moved to another database is gathered again", async (t) => {
    const newer = await rows();
    const moved = configOf("elsewhere");
    await meanwhile(() => undefined, moved);
    t.strictSame(await differing(), days);
    t.equal((await run(moved)).dates_calculated, 7);
    t.strictSame(await rows(), newer);
    await meanwhile(() => undefined, config);
    t.equal((await run()).dates_calculated, 0, "and back: the days are still there");
    await isWhole(t);
  });

  await t.test("a second host with facts of its own is refused while the first one runs", async (t) => {
    const other = temporaryFolder(t);
    const second = await openStores({ config: configOf("acme", `${other}/data`), logger: testLogger });
    t.teardown(() => second.close());
    const { postgres } = stores;
    const onOnePostgres = { ...second, postgres, owners: createStoreOwners(postgres, testLogger) };
    const runThere = async () =>
      await runOnce(runContext(onOnePostgres, { ecosystems, holder: "second" }), config, "acme");
    const refused = await runThere();
    t.equal(refused.status, "failed");
    t.match(
      refused.errors[0]?.message ?? "",
      /are in another store, which is in use: acme in .*\/data on host /,
    );
    const { client } = await second.tenant("acme");
    t.strictSame(
      await (
        await client.query({ query: "SELECT count() AS n FROM chargebacks", format: "JSONEachRow" })
      ).json(),
      [{ n: "0" }],
    );
    t.strictSame(await differing(), []);

    await stores.owners.release();
    const taken = await runThere();
    t.strictSame(
      [taken.status, taken.dates_calculated],
      ["completed", 7],
      "when the first has stopped, the tenant moves",
    );
    t.match(taken.notes.join("\n"), /is not that of the last run/);
    t.equal((await run()).status, "failed", "and the first one is refused");
    await onOnePostgres.owners.release();
    t.match((await run()).notes.join("\n"), /is not that of the last run/);
    await isWhole(t);
    await hasNothingToDo(t);
  });
});
