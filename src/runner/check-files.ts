import type { Pool } from "pg";
import { runStatement } from "../postgres/statement.js";
import { damageText, findDamage } from "../stores/facts/damage.js";
import type { TenantStore } from "../stores/stores.js";
import type { RunError } from "./sql/runs.js";
import { filesCheckIsDue, recordFilesCheck } from "./sql/tenants.js";

const REPAIR_ADVICE =
  "check the disk; `chargehouse run --force --from DAY --to DAY` calculates a day again while its bill is still to be had, else restore a backup";

/**
 * Reads all files of an embedded store once a day and returns the damage. While there is damage, every run reads the
 * files again. Servers have their own checks.
 */
export async function checkFiles(
  { client, tenantName, location }: TenantStore,
  postgres: Pool,
  signal: AbortSignal,
): Promise<RunError[]> {
  if (!location.isEmbedded) return [];
  const { rowCount } = await runStatement(postgres, filesCheckIsDue(tenantName));
  if (rowCount === 0) return [];
  const damage = await findDamage(client, signal);
  await runStatement(postgres, recordFilesCheck({ tenantName, areGood: damage.length === 0 }));
  return damage.map((each) => ({
    date: each.period.length === "2026-01-31".length ? each.period : null,
    source: "store",
    message: `${each.period}: ${damageText(each)} (${REPAIR_ADVICE})`,
  }));
}
