/** Rules and identity sources that name columns of a FOCUS bill, through whole runs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openTestStores, temporaryFolder } from "../stores.js";
import { reconciled, runContext, runOnce, runRows } from "./runs.js";

const usual: Record<string, string> = {
  BilledCost: "0",
  ContractedCost: "0",
  ListCost: "0",
  BillingCurrency: "USD",
  ChargePeriodStart: "2026-06-24T00:00:00Z",
  ChargePeriodEnd: "2026-06-25T00:00:00Z",
  ServiceName: "VM",
};

/** Creates a bill with any columns. Cells that a row leaves out are empty. */
function billOf(...rows: readonly Record<string, string>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys({ ...usual, ...row })))];
  const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
  const lines = rows.map((row) => names.map((name) => quoted({ ...usual, ...row }[name] ?? "")).join(","));
  return [names.join(","), ...lines, ""].join("\n");
}

const tenant = (folder: string, allocation: string) => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    allocation: ${allocation}
    plugin_settings:
      sources:
        - name: cloud
          location: ${folder}
          limits: { settle_seconds: 0 }`;

const charged = `
SELECT concat_ws(' ', resource_id, rule, identity_id, toString(sum(amount_hi + amount_lo))) AS row
FROM chargebacks GROUP BY resource_id, rule, identity_id ORDER BY row`;

t.test("rules name any column of the standard without a declaration", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "2026-06"));
  writeFileSync(
    join(folder, "2026-06", "bill.csv"),
    billOf(
      { ResourceId: "account", EffectiveCost: "30", SubAccountId: "1", SubAccountName: "shop" },
      // Version 1.5 has the column, and the bill writes it in lower case.
      { ResourceId: "principal", EffectiveCost: "10", SubAccountName: "shop", principalid: "ann" },
      { ResourceId: "key", EffectiveCost: "6", principalid: "bob", CredentialId: "k1" },
      { ResourceId: "key-fee", EffectiveCost: "2", ServiceName: "Fee", CredentialId: "k1" },
      { ResourceId: "no-key-fee", EffectiveCost: "3", ServiceName: "Fee", CredentialId: "k2" },
      { ResourceId: "chat", EffectiveCost: "4", principalid: "ann", AllocatedServiceName: "chat" },
      { ResourceId: "chat-fee", EffectiveCost: "5", ServiceName: "Pool", AllocatedServiceName: "chat" },
      { ResourceId: "region", EffectiveCost: "7", RegionId: "eu-west-1" },
      { ResourceId: "json", EffectiveCost: "8", SkuPriceDetails: '{"GpuType":"T4"}' },
      { ResourceId: "time", EffectiveCost: "9", BillingPeriodStart: "2026-05-01" },
      { ResourceId: "dear", EffectiveCost: "100.01" },
      { ResourceId: "seller", EffectiveCost: "11", Provider: "Acme", PublisherName: "Books" },
    ),
  );
  const allocation = `
      identity: [{ column: PrincipalId }, { column: SubAccountName }]
      rules:
        - { name: key, where: { ServiceName: Fee }, split: [{ by: cost, of: direct, within: CredentialId }] }
        - { name: pool, where: { ServiceName: Pool }, split: [{ by: cost, within: AllocatedServiceName }] }
        - { name: europe, where: { RegionId: "eu-*" }, split: [{ by: fixed, shares: { eu: 1 } }] }
        - { name: gpu, where: { SkuPriceDetails: "*GpuType*" }, split: [{ by: fixed, shares: { ml: 1 } }] }
        - { name: late, where: { BillingPeriodStart: "2026-05-*" }, split: [{ by: fixed, shares: { may: 1 } }] }
        - { name: dear, where: { EffectiveCost: { above: 100 } }, split: [{ by: fixed, shares: { boss: 1 } }] }
        - name: former
          where: { ProviderName: Acme, PublisherName: Books }
          split: [{ by: fixed, shares: { books: 1 } }]`;
  const { config, stores } = await openTestStores(t, tenant(folder, allocation));
  const run = await runOnce(runContext(stores), config, "acme");
  t.strictSame([run.status, run.errors], ["completed", []]);
  t.strictSame((await reconciled(stores, "acme")).off, []);
  t.strictSame(
    (await runRows<{ row: string }>(stores, "acme", charged)).map(({ row }) => row),
    [
      "account  shop 30",
      "chat  ann 4",
      "chat-fee pool ann 5",
      "dear dear boss 100.01",
      "json gpu ml 8",
      "key  bob 6",
      "key-fee key bob 2",
      "no-key-fee key UNALLOCATED 3",
      "principal  ann 10",
      "region europe eu 7",
      "seller former books 11",
      "time late may 9",
    ],
  );
});
