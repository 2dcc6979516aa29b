/**
 * The host of a cluster that a run uses dies at one of its statements: before it is sent, or after it is executed and
 * before its response arrives. The other host takes over. `HOST_STRIDE=1` tests every statement.
 */
import t from "tap";
import { startCluster } from "../clickhouse/replicas/stand-in-cluster.js";
import fc from "../property.js";
import { openTestStores } from "../stores.js";
import { chargedOn, daysBefore, reconciled, runContext, runOnce, shortTenants } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const stride = Number(process.env.HOST_STRIDE ?? "17");

t.test("a run survives the death of a cluster's host at any statement", async (t) => {
  const cluster = await startCluster(t);
  const tenants = shortTenants(["acme"], ["gather_failure_threshold: 1000"]);
  const { config, stores } = await openTestStores(
    t,
    `clickhouse: { cluster: main }\n${tenants.replace("embedded:acme", cluster.connectionString("acme"))}`,
  );
  const { upstream, ecosystems } = scriptedUpstream();
  const context = runContext(stores, { ecosystems });
  for (const day of [2, 3, 4, 5, 6, 7, 8].map(daysBefore))
    upstream.bill.set(day, { "r-1": "10", "metered-1": "8" });

  let left = Number.POSITIVE_INFINITY;
  let mode: "before" | "after" = "before";
  let statements = 0;
  let hit: string | undefined;
  const isOfRun = (statement: string) =>
    !/^\s*SYSTEM SYNC|FROM system\.(databases|replicas) /.test(statement);
  for (const host of cluster.hosts) {
    const die = (statement: string) => {
      hit = statement.replaceAll(/\s+/g, " ").trim().slice(0, 60);
      host.stop();
    };
    host.before = (statement) => {
      if (!isOfRun(statement)) return;
      statements += 1;
      left -= 1;
      if (left === 0 && mode === "before") die(statement);
    };
    host.after = (statement) => {
      if (left !== 0 || mode !== "after" || hit !== undefined || !isOfRun(statement)) return undefined;
      die(statement);
      return "Code: 999. DB::Exception: nobody reads this";
    };
  }

  let version = 0;
  const change = () => {
    version += 1;
    upstream.bill.set(daysBefore(3), { "r-1": String(10 + version), "metered-1": "8" });
  };
  const half = () => (10 + version) / 2;
  const charged = () => chargedOn(stores, "acme", daysBefore(3));

  await runOnce(context, config, "acme");
  change();
  statements = 0;
  await runOnce(context, config, "acme");
  const count = statements;
  t.ok(count > 30, `a run has ${count} statements`);
  t.strictSame(await charged(), ["ann: 2", "bob: 6", `ann: ${half()}`, `bob: ${half()}`]);

  const [offset = 0] = fc.sample(fc.integer({ min: 1, max: Math.min(stride, count) }), 1);
  const ends = new Map<string, number>();
  for (mode of ["before", "after"] as const) {
    for (let statement = offset; statement <= count; statement += stride) {
      change();
      [hit, left] = [undefined, statement];
      const { status } = await runOnce(context, config, "acme");
      left = Number.POSITIVE_INFINITY;
      if (hit === undefined) continue;
      ends.set(status, (ends.get(status) ?? 0) + 1);
      await t.test(`${mode} statement ${statement}, ${hit}: ${status}`, async (t) => {
        t.strictSame((await reconciled(stores, "acme")).off, [], "the visible data adds up");
        const next = await runOnce(context, config, "acme");
        t.strictSame([next.status, next.errors], ["completed", []]);
        t.strictSame(await charged(), ["ann: 2", "bob: 6", `ann: ${half()}`, `bob: ${half()}`]);
        t.strictSame((await reconciled(stores, "acme")).staged, 0);
      });
      for (const host of cluster.hosts) await host.start().catch(() => undefined);
    }
  }
  const planned = 2 * Math.floor((count - offset) / stride + 1);
  const runs = [...ends.values()].reduce((sum, each) => sum + each, 0);
  t.ok(runs > planned * 0.8, `${runs} of ${planned} statements were hit`);
  t.comment(JSON.stringify(Object.fromEntries(ends)));
});
