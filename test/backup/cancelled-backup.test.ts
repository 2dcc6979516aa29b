/** Cancelling a backup removes its copy, and nothing else. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import t from "tap";
import { openBackupControl, requestBackup } from "../../src/backup/control.js";
import { openStores } from "../../src/stores/open-stores.js";
import { runContext, runOnce, shortTenants } from "../runner/runs.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import { until } from "../until.js";

const CANCELLED = 12;
const BUSY = "Another backup is being taken.";

t.test("a backup that is cancelled at any moment leaves neither a copy nor a broken service", async (t) => {
  const folder = temporaryFolder(t);
  const config = testConfig(`data_dir: ${folder}/live\n${shortTenants(["acme", "globex"])}`, folder);
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  for (const name of ["acme", "globex"])
    t.equal((await runOnce(runContext(stores), config, name)).status, "completed");
  const dataDir = config.data_dir;
  const control = await openBackupControl({ stores, dataDir, logger: testLogger });
  t.teardown(() => control?.close());
  const copies = join(folder, "copies");
  mkdirSync(copies);
  const began = performance.now();
  const never = new AbortController().signal;
  const whole = await requestBackup(dataDir, join(copies, "whole"), never);
  const lasted = performance.now() - began;
  t.equal(whole?.databases, 2);

  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown) => void uncaught.push(error);
  process.on("uncaughtException", onUncaught);
  t.teardown(() => process.off("uncaughtException", onUncaught));
  const cancelledAfter = async (wait: number): Promise<string> => {
    const stop = new AbortController();
    const outcome = requestBackup(dataDir, join(copies, "cut"), stop.signal).then(
      () => "taken",
      (error: Error) => (error.message === BUSY ? "busy" : error.name),
    );
    await delay(wait);
    stop.abort();
    const name = await outcome;
    // The service may still be giving the last one up.
    return name === "busy" ? await cancelledAfter(wait) : name;
  };
  let cancelled = 0;
  for (let turn = 0; turn < CANCELLED; turn++) {
    const name = await cancelledAfter((lasted * (turn + 0.5)) / CANCELLED);
    if (name !== "taken") t.equal(name, "AbortError");
    cancelled += name === "taken" ? 0 : 1;
    // The service gives the backup up a moment after the command did. A cancel that comes after the rename leaves a whole backup.
    await until(
      "the copy is gone, or whole",
      () => ["whole", "cut,whole"].includes(readdirSync(copies).sort().join()),
      20,
    );
    if (existsSync(join(copies, "cut"))) {
      t.ok(existsSync(join(copies, "cut", "manifest.json")), "a copy with its final name is complete");
      rmSync(join(copies, "cut"), { recursive: true });
    }
  }
  t.ok(cancelled >= CANCELLED / 4, `${cancelled} backups were cancelled`);
  t.strictSame(uncaught, [], "every error was handled");
  await delay(500);
  t.strictSame(readdirSync(copies), ["whole"], "nothing writes to a copy that was given up");
  // The service may still be giving the last one up.
  await until("it takes a backup again", async () => {
    try {
      return (await requestBackup(dataDir, join(copies, "again"), never))?.databases === 2;
    } catch (error) {
      t.equal((error as Error).message, BUSY);
      return false;
    }
  });
});
