import { type IdentityCost, readTopIdentities } from "../query/chargebacks/top-identities.js";
import type { OpenedStores } from "../store/open-stores.js";
import type { CommandIo } from "./command.js";
import { type AmountRow, writeAmounts } from "./table.js";

/** So many identities of each tenant and currency, or one more rather than "1 other". */
const shown = 3;

/** Prints who pays most in each tenant and currency, and what the others pay together is left to the API. */
export async function printWhoPays(
  stores: OpenedStores,
  tenants: readonly string[],
  io: Pick<CommandIo, "stdout" | "signal">,
): Promise<void> {
  const rows: AmountRow[] = [];
  for (const tenant of tenants) {
    const { client } = await stores.tenant(tenant);
    const top = await readTopIdentities(client, shown, io.signal);
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

/** Of one currency. */
function rowsOf(tenant: string, top: readonly IdentityCost[]): AmountRow[] {
  const others = Number(top[0]?.identities ?? 0) - top.length;
  const rows = top.map(({ name, team, currency, cost, share }) => ({
    currency,
    cells: [tenant, name, team, cost, `${share} %`],
  }));
  if (others <= 0) return rows;
  return [...rows, { currency: top[0]?.currency ?? "", cells: [tenant, `… and ${others} more`, "", "", ""] }];
}
