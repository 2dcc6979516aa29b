/** Files in a folder and uploaded usage are charged without waiting for the next scheduled run. */
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { createWorker } from "../../src/cli/worker.js";
import { readRows } from "../../src/clickhouse/statement.js";
import { folderSource } from "../../src/ingest/ecosystems/focus/sources/files/folder.js";
import { watchFolders } from "../../src/runner/watch-folders.js";
import { startApi } from "../http/start-api.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder, testLogger } from "../stores.js";
import { until } from "../until.js";
import { runRecords } from "./runs.js";

t.test("each change of a folder is noticed once, when no file is still written", async (t) => {
  const folder = temporaryFolder(t);
  const later = join(temporaryFolder(t), "later");
  const stop = new AbortController();
  const noticed: string[] = [];
  let listings = 0;
  const watched = (path: string, settleMs: number) => {
    const { list } = folderSource({ path, glob: undefined, maxFiles: 10 });
    const counted = async (signal: AbortSignal) => {
      listings += 1;
      return await list(signal);
    };
    return { list: counted, settleMs };
  };
  const old = new Date(Date.now() - 3_600_000);
  const write = (path: string, text: string, modified = old) => {
    writeFileSync(path, text);
    utimesSync(path, modified, modified);
  };
  write(join(folder, "1.csv"), "1");
  const ended = watchFolders({
    tenants: [
      { name: "a", folders: [watched(folder, 60_000)] },
      { name: "b", folders: [watched(later, 0)] },
      { name: "none", folders: [] },
    ],
    onDelivery: (name) => noticed.push(name),
    signal: stop.signal,
    pauses: { atLeastMs: 1, listings: 1 },
  });
  /** Waits until each folder was listed twice. */
  const passes = async () => {
    const enough = listings + 6;
    await until("the folders were listed", () => listings >= enough);
  };
  const expect = async (what: string, ...names: readonly string[]) => {
    await passes();
    t.strictSame(noticed.splice(0), names, what);
  };
  await expect("files that are there from the beginning");
  write(join(folder, "2.csv"), "2");
  await expect("a new file", "a");
  await expect("no change");
  write(join(folder, "3.csv"), "3", new Date());
  await expect("a file that may still be written");
  write(join(folder, "3.csv"), "33", old);
  await expect("the same file, an hour old", "a");
  write(join(folder, "1.csv"), "changed");
  await expect("other content", "a");
  rmSync(join(folder, "2.csv"));
  await expect("a file less", "a");
  mkdirSync(later);
  await expect("a folder that was not there");
  write(join(later, "1.csv"), "1");
  await expect("its first file", "b");
  stop.abort();
  await ended;
});

t.test("a file that is written while the watch begins is noticed later", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "1.csv");
  writeFileSync(file, "1");
  const stop = new AbortController();
  let listings = 0;
  let noticed = 0;
  const { list } = folderSource({ path: folder, glob: undefined, maxFiles: 10 });
  const ended = watchFolders({
    tenants: [
      {
        name: "a",
        folders: [
          {
            async list(signal) {
              listings += 1;
              return await list(signal);
            },
            settleMs: 60_000,
          },
        ],
      },
    ],
    onDelivery: () => {
      noticed += 1;
    },
    signal: stop.signal,
    pauses: { atLeastMs: 1, listings: 1 },
  });
  await until("the folder was listed", () => listings > 2);
  t.equal(noticed, 0);
  const old = new Date(Date.now() - 3_600_000);
  utimesSync(file, old, old);
  await until("the file was noticed", () => noticed === 1);
  stop.abort();
  await ended;
});

t.test(
  "a bill in a folder and uploaded usage are charged at once, although the tenant is due in a day",
  async (t) => {
    const folder = temporaryFolder(t);
    const bills = join(folder, "bills");
    mkdirSync(bills);
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const { config, stores } = await openTestStores(
      t,
      `features: { enable_periodic_refresh: true, refresh_interval: 86400 }
tenants:
  cloud:
    ecosystem: focus
    tenant_id: cloud
    lookback_days: 5
    cutoff_days: 0
    storage: { connection_string: "embedded:cloud" }
    allocation:
      identity: [{ column: SubAccountId }]
      rules: [{ name: gpus, where: { resource_id: gpu-1 }, split: [{ by: usage, metric: gpu_hours }] }]
    plugin_settings:
      min_refresh_gap_seconds: 86400
      usage: { uploads: { metrics: [gpu_hours] } }
      sources: [{ name: bills, location: ${bills}, limits: { settle_seconds: 0 } }]`,
    );
    const stop = new AbortController();
    const worker = await createWorker({
      config,
      stores,
      logger: testLogger,
      observers: [],
      signal: stop.signal,
    });
    const ended = worker.repeat();
    const runs = async (count: number) =>
      await until(`${count} runs have ended`, async () => {
        const records = await runRecords(stores, "cloud");
        return records.length === count && records.every(({ status }) => status !== "running");
      });
    await runs(1);
    const written = join(folder, "bill.csv");
    const line = {
      ChargePeriodStart: `${yesterday}T00:00:00Z`,
      ChargePeriodEnd: `${yesterday}T01:00:00Z`,
      SubAccountId: "4711",
      EffectiveCost: "5",
    };
    writeFileSync(written, csv([line, { ...line, ResourceId: "gpu-1", EffectiveCost: "2" }]));
    renameSync(written, join(bills, "bill.csv"));
    await runs(2);
    const charged = async () => {
      const { client } = await stores.tenant("cloud");
      const query =
        "SELECT identity_id, toString(sum(amount_hi) + sum(amount_lo)) AS cost FROM chargebacks GROUP BY identity_id ORDER BY identity_id";
      return await readRows(client, { query, params: {} });
    };
    t.strictSame(await charged(), [
      { identity_id: "4711", cost: "5" },
      { identity_id: "UNALLOCATED", cost: "2" },
    ]);
    const app = await startApi(t, {
      config,
      stores,
      now: new Date(),
      mode: "both",
      control: worker.control,
    });
    const uploaded = await app.inject({
      method: "POST",
      url: "/api/v1/tenants/cloud/usage",
      headers: { "content-type": "text/csv", "idempotency-key": "a" },
      payload: `date,metric,resource_id,identity_id,quantity\n${yesterday},gpu_hours,gpu-1,web,1\n`,
    });
    t.equal(uploaded.statusCode, 200, uploaded.body);
    await runs(3);
    t.strictSame(await charged(), [
      { identity_id: "4711", cost: "5" },
      { identity_id: "web", cost: "2" },
    ]);
    const began = (await runRecords(stores, "cloud")).length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    t.equal((await runRecords(stores, "cloud")).length, began, "nothing runs again");
    stop.abort();
    await ended;
  },
);
