import {
  type DayReconciliation,
  type Reconciliation,
  reconcileAttributions,
  reconcileDays,
} from "../query/reconcile.js";
import { type OpenedStores, openStores } from "../store/open-stores.js";
import { type Command, type CommandIo, parseOptions } from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { createLogger } from "./logger.js";
import { selectTenants } from "./tenants.js";

/** Proves the promise: Σ chargebacks = Σ billing, to the last digit, per tenant and day. */
export const reconcile: Command = {
  name: "reconcile",
  summary: "print billing, chargebacks and their difference per tenant and day; fail unless all are 0",
  usage: "reconcile --config FILE [--tenant NAME]... [--env-file FILE]",
  async run(args, io) {
    const options = parseOptions(args, { ...configOptions, tenant: { type: "string", multiple: true } });
    const config = await configurationOf(options, io);
    const tenants = selectTenants(config, options.tenant).map((tenant) => tenant.tenant_name);
    const stores = await openStores({ config, logger: createLogger(config.logging), signal: io.signal });
    try {
      return (await printReconciliation(stores, tenants, io, { everyDay: true })) ? 0 : 1;
    } finally {
      await stores.close();
    }
  },
};

/** Prints the tenants' days and totals, also of attributions to topics where there are any; answers whether all add up. */
export async function printReconciliation(
  stores: OpenedStores,
  tenants: readonly string[],
  io: Pick<CommandIo, "stdout" | "signal">,
  { everyDay }: { everyDay: boolean },
): Promise<boolean> {
  const chargebacks: TenantSums[] = [];
  const attributions: TenantSums[] = [];
  for (const tenant of tenants) {
    const { client } = await stores.tenant(tenant);
    chargebacks.push({ tenant, sums: await reconcileDays(client, io.signal) });
    const sums = await reconcileAttributions(client, io.signal);
    if (sums.days.length > 0) attributions.push({ tenant, sums });
  }
  io.stdout.write(alignRight(tableOf("CHARGEBACKS", chargebacks, everyDay)));
  if (attributions.length > 0) {
    io.stdout.write("\nLines attributed to topics:\n");
    io.stdout.write(alignRight(tableOf("ATTRIBUTED", attributions, everyDay)));
  }
  const good = [...chargebacks, ...attributions].every(({ sums }) => addsUp(sums));
  io.stdout.write(
    good ? "Every line adds up.\n" : "THERE ARE DIFFERENCES: lines whose chargebacks are not their cost.\n",
  );
  return good;
}

interface TenantSums {
  readonly tenant: string;
  readonly sums: Reconciliation;
}

function addsUp({ days, total }: Reconciliation): boolean {
  return days.every((day) => day.lines_off === "0") && total.difference === "0";
}

function tableOf(given: string, tenants: readonly TenantSums[], everyDay: boolean): string[][] {
  const rows = tenants.flatMap(({ tenant, sums: { days, total } }) => [
    ...days.filter((day) => everyDay || day.lines_off !== "0").map((day) => cells(tenant, day.day, day)),
    cells(tenant, `all ${days.length} days`, total),
  ]);
  return [["TENANT", "DAY", "LINES", "ROWS", "BILLING", given, "DIFFERENCE"], ...rows];
}

function cells(tenant: string, day: string, sums: Omit<DayReconciliation, "day">): string[] {
  return [tenant, day, sums.lines, sums.rows, sums.billing, sums.chargebacks, sums.difference];
}

function alignRight(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  ");
  return rows.map((row) => `${line(row)}\n`).join("");
}
