/** A Postgres server over TCP goes away while an upstream is gathered. The upstream is not blamed. */
import { setTimeout as delay } from "node:timers/promises";
import t from "tap";
import { poolOverTcp } from "../postgres/tcp-proxy.js";
import { openTestStores } from "../stores.js";
import { chargedOn, daysBefore, runContext, runOnce, shortTenants } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

t.test("a run that loses a Postgres server names it, and counts no failure of the upstream", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], ["gather_failure_threshold: 1"]));
  const { pool, goDown, comeBack } = await poolOverTcp(t, stores.postgres);
  const { upstream, ecosystems } = scriptedUpstream();
  upstream.bill.set(daysBefore(3), { "r-1": "10" });
  const context = runContext({ ...stores, postgres: pool }, { ecosystems });
  let back: Promise<void> = Promise.resolve();
  upstream.onWindow = async () => {
    goDown();
    back = delay(300).then(comeBack);
  };
  const { status, errors } = await runOnce(context, config, "acme");
  await back;
  t.equal(status, "failed");
  t.strictSame(
    errors.map(({ source }) => source),
    ["run"],
  );
  t.match(errors[0]?.message ?? "", /^Postgres went away: (connect ECONNREFUSED|(read|write) ECONNRESET)/);
  const { rows } = await stores.postgres.query(
    "SELECT gather_failures, suspended_at FROM tenants WHERE tenant_name = 'acme'",
  );
  t.strictSame(rows, [{ gather_failures: 0, suspended_at: null }]);

  upstream.onWindow = async () => undefined;
  const next = await runOnce(context, config, "acme");
  t.strictSame([next.status, next.errors], ["completed", []]);
  t.strictSame(await chargedOn(stores, "acme", daysBefore(3)), ["ann: 5", "bob: 5"]);
});
