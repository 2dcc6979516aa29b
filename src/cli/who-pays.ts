import { type IdentityCost, readTopIdentities } from "../query/chargebacks/top-identities.js";
import type { OpenedStores } from "../store/open-stores.js";
import type { CommandIo } from "./command.js";
import { type Table, writeTable } from "./table.js";

/** So many identities of each tenant, or one more rather than "1 other". */
const shown = 3;

/** Prints who pays most in each tenant, and what the others pay together is left to the API. */
export async function printWhoPays(
  stores: OpenedStores,
  tenants: readonly string[],
  io: Pick<CommandIo, "stdout" | "signal">,
): Promise<void> {
  const rows: string[][] = [];
  for (const tenant of tenants) {
    const { client } = await stores.tenant(tenant);
    rows.push(...rowsOf(tenant, await readTopIdentities(client, shown, io.signal)));
  }
  const table: Table = { head: ["TENANT", "WHO PAYS MOST", "COST", "SHARE"], rows, keys: 2 };
  writeTable(io.stdout, table);
}

function rowsOf(tenant: string, top: readonly IdentityCost[]): string[][] {
  const others = Number(top[0]?.identities ?? 0) - top.length;
  const rows = top.map(({ identity_id, cost, share }) => [tenant, identity_id, cost, `${share} %`]);
  return others > 0 ? [...rows, [tenant, `… and ${others} more`, "", ""]] : rows;
}
