/** Flipped bits in stored files are noticed, and the day can be repaired. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { printReconciliation } from "../../../src/cli/reconcile.js";
import { findDamage } from "../../../src/stores/facts/damage.js";
import { openStores } from "../../../src/stores/open-stores.js";
import { commandIo } from "../../cli/command-io.js";
import {
  chargedByDay,
  daysBefore,
  reconciled,
  runContext,
  runOnce,
  runRows,
  shortTenants,
} from "../../runner/runs.js";
import { scriptedUpstream } from "../../runner/scripted-upstream.js";
import { temporaryFolder, testConfig, testLogger } from "../../stores.js";

const days = [2, 3, 4].map(daysBefore).sort();

t.test("a flipped bit in a published day is found", async (t) => {
  const folder = temporaryFolder(t);
  const config = testConfig(`data_dir: ${folder}/data\n${shortTenants(["acme"])}`, folder);
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  const { upstream, ecosystems } = scriptedUpstream();
  for (const day of days) upstream.bill.set(day, { "r-1": "100", "metered-1": "8" });
  const run = (changes = {}) => runOnce(runContext(stores, { ecosystems }), config, "acme", changes);
  const { client } = await stores.tenant("acme");
  const proof = async () => {
    const { io, written } = commandIo();
    return [await printReconciliation(stores, ["acme"], io, { everyDay: false }), written.stdout];
  };
  t.strictSame((await run()).status, "completed");
  t.strictSame(await findDamage(client), []);
  t.equal((await proof())[0], "adds_up");
  const charged = await chargedByDay(stores, "acme");

  const [day = ""] = days;
  for (const table of ["chargebacks", "billing"]) {
    await t.test(
      `a flipped bit in any byte of ${table} is found, and the day can be calculated again`,
      async (t) => {
        const parts = await runRows<{ path: string }>(
          stores,
          "acme",
          `SELECT path FROM system.parts WHERE database = 'acme' AND table = '${table}' AND active AND partition_id = '${day.replaceAll("-", "")}'`,
        );
        const data = parts.flatMap(({ path }) =>
          readdirSync(path)
            .filter((name) => name.endsWith(".bin"))
            .map((name) => join(path, name)),
        );
        const [file = ""] = data;
        const good = readFileSync(file);
        for (let eighth = 0; eighth < 8; eighth++) {
          const bad = Buffer.from(good);
          const at = Math.floor((good.length * (eighth + 0.5)) / 8);
          bad[at] = (bad[at] ?? 0) ^ 1;
          writeFileSync(file, bad);
          t.strictSame(await findDamage(client), [{ table, period: day }], `byte ${at} of ${good.length}`);
        }
        const [verdict, said] = await proof();
        t.equal(verdict, "damaged");
        t.match(said, new RegExp(`^DAMAGED: acme: ${day}: the stored files of ${table} are damaged`));

        await stores.postgres.query("UPDATE tenants SET files_checked_at = NULL");
        const { status, errors } = await run();
        t.equal(status, "completed_with_errors");
        t.strictSame(
          errors.map(({ date, source }) => `${source} ${date}`),
          [`store ${day}`],
        );
        t.equal((await run()).errors.length, 1, "each run reports it until it is repaired");

        const again = await run({ force: true, window: { start: day, end: days[1] } });
        t.strictSame(
          again.errors.filter(({ source }) => source !== "store"),
          [],
        );
        t.strictSame(await findDamage(client), [], "a forced run has written the day again");
        t.strictSame((await run()).errors, []);
        t.strictSame(await chargedByDay(stores, "acme"), charged);
        t.strictSame((await reconciled(stores, "acme")).off, []);
        t.equal((await proof())[0], "adds_up");
      },
    );
  }

  await t.test("all files are checked once a day, not by each run", async (t) => {
    const checked = async () =>
      (await stores.postgres.query("SELECT files_checked_at::text AS at FROM tenants")).rows;
    const before = await checked();
    await run();
    t.strictSame(await checked(), before);
    await stores.postgres.query("UPDATE tenants SET files_checked_at = now() - interval '25 hours'");
    await run();
    const { rows } = await stores.postgres.query(
      "SELECT files_checked_at > now() - interval '1 hour' AS recent FROM tenants",
    );
    t.strictSame(rows, [{ recent: true }]);
  });
});
