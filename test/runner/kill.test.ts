import t from "tap";
import { reconcileAttributions } from "../../src/query/reconcile.js";
import { expireLeases } from "../../src/runner/sql/leases.js";
import { openStores } from "../../src/store/open-stores.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import { changingUpstream } from "./changing-upstream.js";
import { childProcess } from "./child.js";
import { daysBefore, reconciled, rowsOf, runContext, runOnce, runRecords, shortTenants } from "./runs.js";
import { withTopics } from "./topic-upstream.js";

const rounds = Number(process.env.KILL_ROUNDS ?? 3);

t.test("kill -9 of a running worker, again and again", { timeout: 230_000 }, async (t) => {
  const folder = temporaryFolder(t);
  const yaml = `data_dir: ${folder}/data\n${shortTenants(["acme"]).replace("lookback_days: 8", "lookback_days: 40")}`;
  const config = withTopics(testConfig(yaml, folder));
  const killedIn: string[] = [];
  let version = 1;

  for (let round = 0; round < rounds; round += 1) {
    const child = childProcess(t, "worker-process.ts", { yaml, folder, version });
    t.equal(await child.message(), `run ${version}`);
    // A random moment of the first run, or of one after it, which swaps days that are visible already.
    const patience = Math.random() * (round % 2 === 0 ? 1200 : 4000);
    await new Promise((resolve) => setTimeout(resolve, patience));
    child.kill("SIGKILL");
    await child.exited;
    version += 10;

    const stores = await openStores({ config, logger: testLogger });
    try {
      await stores.postgres.query(expireLeases());
      const before = await runRecords(stores, "acme");
      killedIn.push(String(before.at(-1)?.stage));
      const visible = await rowsOf<{ off: string }>(
        stores,
        "acme",
        `SELECT toString(day) AS off FROM (
           SELECT day, sum(amount) AS charged, count() AS n FROM chargebacks GROUP BY day
         ) WHERE round(charged, 2) NOT IN (200.35, 202.35, 204.35)`,
      );
      t.same(visible, [], "before anything is repaired, each visible day is whole");
      const result = await runOnce(
        runContext(stores, { ecosystems: changingUpstream(version) }),
        config,
        "acme",
      );
      const outages = result.errors.filter((error) => !error.message.startsWith("attribution to topics:"));
      t.same(
        outages.filter((error) => !error.message.startsWith("metrics of topics could not be fetched")),
        [],
      );
      const days = Array.from({ length: 25 }, (_, i) => i + 2).filter((age) => (age + version) % 7 !== 0);
      t.match(await reconciled(stores, "acme"), { days: days.length, off: [] });
      const { client } = await stores.tenant("acme");
      const attributed = await reconcileAttributions(client, new AbortController().signal);
      t.ok(attributed.days.length >= days.length - 1, "at most the day without metrics waits");
      t.same(
        attributed.days.filter((day) => day.lines_off !== "0"),
        [],
      );
      const published = await rowsOf<{ day: string }>(
        stores,
        "acme",
        "SELECT DISTINCT toString(day) AS day FROM chargebacks ORDER BY day",
      );
      t.same(
        published.map((row) => row.day),
        days.map(daysBefore).sort(),
      );
      const open = await stores.postgres.query(
        `SELECT FROM tracking_dates WHERE publishing_hash IS NOT NULL OR staged_hash IS NOT NULL
         UNION ALL SELECT FROM topic_attribution_dates WHERE publishing_hash IS NOT NULL`,
      );
      t.equal(open.rowCount, 0);
      const records = await runRecords(stores, "acme");
      t.same(
        records.filter((run) => run.status === "running"),
        [],
        "no record stays open",
      );
      for (const { run_id } of before.filter((run) => run.status === "running")) {
        t.match(
          records.find((run) => run.run_id === run_id),
          { status: "failed", errors: [{ message: /orphaned/ }] },
        );
      }
    } finally {
      await stores.close();
    }
    version += 1;
  }
  t.comment(`killed while: ${killedIn.join(", ")}`);
});
