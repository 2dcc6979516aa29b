/** The tenant of the configuration with the simulated bills of three clouds. */
import { join } from "node:path";
import { type SimulatedTenant, wholeHistory } from "../tenants.js";
import type { CloudBills } from "./cloud-bills.js";
import { teams } from "./month.js";

export const CLOUD_BILLS_TENANT = "clouds";

export function cloudBillsTenant(bills: CloudBills): SimulatedTenant {
  const { bucket, endpoint, key, folder } = bills;
  return {
    tenant_name: CLOUD_BILLS_TENANT,
    tenant_id: "sim-clouds",
    ecosystem: "focus",
    ...wholeHistory(bills.days),
    plugin_settings: {
      spread: "daily",
      sources: [
        {
          name: "aws",
          location: `s3://${bucket}/exports`,
          s3: {
            endpoint,
            credentials: "keys",
            access_key_id: key.id,
            secret_access_key: key.secret,
          },
        },
        { name: "azure", location: join(folder, "azure") },
        { name: "google", location: join(folder, "google"), layout: "plain" },
      ],
    },
    allocation: {
      identity: [
        { assigned: "resource_id" },
        { tag: "team" },
        { column: "SubAccountId", map: bills.accountsFile },
      ],
      rules: [
        {
          name: "tax-and-support",
          where: { any: [{ ChargeCategory: "Tax" }, { ServiceName: "*Support*" }] },
          split: [{ by: "cost", within: "BillingAccountId" }],
        },
        {
          name: "unused-commitments",
          where: { CommitmentDiscountStatus: "Unused" },
          split: [{ by: "cost", within: "BillingAccountId" }],
        },
        {
          name: "shared",
          where: { "tag.shared": "true" },
          components: [
            { ratio: 0.6, split: [{ by: "fixed", shares: { checkout: 3, payments: 2, search: 1 } }] },
            { ratio: 0.4, split: [{ by: "even", among: [...teams] }] },
          ],
        },
        { name: "by-name", split: [{ by: "line" }] },
      ],
    },
  };
}
