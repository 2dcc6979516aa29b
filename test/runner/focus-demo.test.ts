/**
 * The bills of the demo's three clouds are exported as FOCUS datasets without errors, and read again with the same
 * costs.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { startCloudBills } from "../../src/simulator/bills/cloud-bills.js";
import { CLOUD_BILLS_TENANT, cloudBillsTenant } from "../../src/simulator/bills/tenant.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { errorsIn, readingTenant, sameCostsAgain } from "./read-again.js";
import { reconciled, runContext, runOnce } from "./runs.js";

const noon = "2026-06-30T12:00:00Z";
const now = () => new Date(noon);

t.test("bills of three clouds are charged, and charges of periods are spread over their days", async (t) => {
  const folder = temporaryFolder(t);
  const [bills, out] = [join(folder, "bills"), join(folder, "out")];
  mkdirSync(bills);
  const clouds = await startCloudBills({
    seed: 1,
    resources: 60,
    days: 45,
    folder: bills,
    now: () => Date.parse(noon),
  });
  t.teardown(() => clouds.close());
  const { tenant_name: name, ...tenant } = cloudBillsTenant(clouds);
  const emitters = ["parquet", "csv.gz"].map((format) => ({
    type: "focus",
    name: format,
    params: { location: join(out, format), format },
  }));
  const written = {
    ...tenant,
    storage: { connection_string: `embedded:${name}` },
    plugin_settings: { ...tenant.plugin_settings, emitters },
  };
  const yaml = `tenants:
  ${name}: ${JSON.stringify(written)}${readingTenant("parquet", join(out, "parquet", name), 45)}${readingTenant("packed", join(out, "csv.gz", name), 45)}`;
  const { config, stores } = await openTestStores(t, yaml);
  const { errors } = await runOnce(runContext(stores, { now }), config, CLOUD_BILLS_TENANT);
  t.strictSame(errors, []);
  t.strictSame((await reconciled(stores, name)).off, []);
  for (const [format, second] of [
    ["parquet", "parquet"],
    ["csv.gz", "packed"],
  ] as const)
    await t.test(format, async (t) => {
      t.strictSame(await errorsIn(t, join(out, format, name)), {});
      await sameCostsAgain(t, { config, stores, first: name, second, now });
    });
});
