import type { Pool } from "pg";
import { damageText, findDamage } from "../store/facts/damage.js";
import { runStatement } from "../store/postgres/statement.js";
import type { TenantStore } from "../store/stores.js";
import type { RunError } from "./sql/runs.js";
import { filesChecked, filesCheckIsDue } from "./sql/tenants.js";

const MENDS =
  "check the disk; `chargehouse run --force --from DAY --to DAY` calculates a day again while its bill is still to be had, else restore a backup";

/**
 * Once a day, reads all files of an embedded store, and returns what is damaged. A store with damage is read again by each run, until it has
 * none. Servers have checks of their own.
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
  await runStatement(postgres, filesChecked({ tenantName, areGood: damage.length === 0 }));
  return damage.map((each) => ({
    date: each.period.length === "2026-01-31".length ? each.period : null,
    source: "store",
    message: `${each.period}: ${damageText(each)} (${MENDS})`,
  }));
}
