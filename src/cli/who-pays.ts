import { type IdentityCost, readTopIdentities } from "../query/chargebacks/top-identities.js";
import type { OpenedStores } from "../stores/open-stores.js";
import type { CommandIo } from "./command.js";
import { type AmountRow, writeAmounts } from "./table.js";

/** Identities per tenant and currency. One more is shown rather than "1 other". */
const MOST_IDENTITIES = 3;

/** Prints the identities with the highest costs of each tenant and currency. */
export async function printWhoPays(
  stores: OpenedStores,
  tenants: readonly string[],
  io: Pick<CommandIo, "stdout" | "signal">,
): Promise<void> {
  const rows: AmountRow[] = [];
  for (const tenant of tenants) {
    const { client } = await stores.tenant(tenant);
    const top = await readTopIdentities(client, MOST_IDENTITIES, io.signal);
    for (const currency of new Set(top.map((each) => each.currency)))
      rows.push(
        ...rowsOf(
          tenant,
          top.filter((each) => each.currency === currency),
        ),
      );
  }
  const head = ["TENANT", "WHO PAYS MOST", "TEAM", "COST", "SHARE"];
  writeAmounts(io.stdout, { head, keys: 3 }, rows, ["COST"]);
}

/** Returns the rows of one currency. */
function rowsOf(tenant: string, top: readonly IdentityCost[]): AmountRow[] {
  const others = Number(top[0]?.identities ?? 0) - top.length;
  const rows = top.map(({ name, team, currency, cost, share }) => ({
    currency,
    cells: [tenant, name, team, cost, `${share} %`],
  }));
  if (others <= 0) return rows;
  return [...rows, { currency: top[0]?.currency ?? "", cells: [tenant, `… and ${others} more`, "", "", ""] }];
}
