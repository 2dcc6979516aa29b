/** A changed map of identities moves the charges of days that are gathered again. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder, testConfig } from "../stores.js";
import { runContext, runOnce, runRows } from "./runs.js";

t.test("a changed map moves a charge to another identity, although the bill is unchanged", async (t) => {
  const folder = temporaryFolder(t);
  const map = join(folder, "accounts.csv");
  const write = (...entries: readonly string[]) =>
    writeFileSync(map, ["value,identity", ...entries, ""].join("\n"));
  mkdirSync(join(folder, "bills", "2026-06"), { recursive: true });
  const day = { ChargePeriodStart: "2026-06-24T00:00:00Z", ChargePeriodEnd: "2026-06-25T00:00:00Z" };
  const bill = [
    { ...day, EffectiveCost: "5", ResourceId: "i-1", SubAccountId: "111" },
    { ...day, EffectiveCost: "7", ResourceId: "i-2", SubAccountId: "222" },
  ];
  writeFileSync(join(folder, "bills", "2026-06", "bill.csv"), csv(bill));
  const yaml = `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    allocation:
      identity: [{ column: SubAccountId, map: ${map} }]
    plugin_settings:
      sources: [{ name: cloud, location: ${join(folder, "bills")}, limits: { settle_seconds: 0 } }]`;
  write("111,web", "222,data");
  const { stores, folder: home } = await openTestStores(t, yaml);
  const run = async () => {
    const config = testConfig(`data_dir: ${home}/data\n${yaml}`, home);
    const { status, dates_calculated } = await runOnce(runContext(stores), config, "acme");
    const charged = await runRows<{ charge: string }>(
      stores,
      "acme",
      "SELECT concat_ws(' ', resource_id, identity_id, toString(amount_hi + amount_lo)) AS charge FROM chargebacks ORDER BY charge",
    );
    return [status, dates_calculated, ...charged.map(({ charge }) => charge)];
  };
  t.strictSame(await run(), ["completed", 1, "i-1 web 5", "i-2 data 7"]);
  t.strictSame(await run(), ["completed", 0, "i-1 web 5", "i-2 data 7"], "an unchanged map changes nothing");
  write("111,web", "222,ops");
  t.strictSame(await run(), ["completed", 1, "i-1 web 5", "i-2 ops 7"]);
});
