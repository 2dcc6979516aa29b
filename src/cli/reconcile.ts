import { runStatement } from "../postgres/statement.js";
import { type CurrencyControl, isAccountedFor, readControlTotals } from "../query/state/control-totals.js";
import {
  type DayReconciliation,
  type Reconciliation,
  reconcileAttributions,
  reconcileDays,
} from "../query/state/reconcile.js";
import { checkFacts } from "../stores/facts/check-facts.js";
import { damageText, findDamage } from "../stores/facts/damage.js";
import { type OpenedStores, openStores } from "../stores/open-stores.js";
import { type Command, type CommandIo, type Options, parseOptions } from "./command.js";
import { configOptions, configurationOf, tenantsOption } from "./configuration.js";
import { commandLogger } from "./logger.js";
import { className } from "./run-summary.js";
import { type AmountRow, writeAmounts } from "./table.js";
import { selectTenants } from "./tenants.js";

/** Includes all days. */
const keepFrom = { chargebacks: "1900-01-01", topic_attributions: "1900-01-01" };

/**
 * Finds published days that are missing from the store. The reconciliation cannot see them, because both their lines
 * and their rows are gone.
 */
async function lostDays(
  { postgres, tenant }: Pick<OpenedStores, "postgres" | "tenant">,
  tenantName: string,
  signal: AbortSignal,
): Promise<string[]> {
  const { client, location } = await tenant(tenantName);
  const { storeId, knownStoreId, differing } = await checkFacts({
    client,
    postgres,
    tenantName,
    keepFrom,
    signal,
  });
  const recorded = await runStatement<{ day: string }>(postgres, {
    query: "SELECT tracking_date AS day FROM tracking_dates WHERE tenant_name = $1 AND lost_at IS NOT NULL",
    params: [tenantName],
  });
  const days = [...new Set([...differing, ...recorded.rows].map(({ day }) => day))].sort();
  const isOtherStore = knownStoreId !== null && storeId !== knownStoreId;
  return [
    ...(isOtherStore
      ? [`${tenantName}: its facts are in another store than this one, or were lost: ${location.name}.`]
      : []),
    ...(days.length === 0
      ? []
      : [
          `${tenantName}: ${days.length === 1 ? "1 published day is" : `${days.length} published days are`} not in the store as published, ` +
            `${days.length === 1 ? days[0] : `from ${days[0]} to ${days.at(-1)}`}; the next run recalculates those that it still gathers.`,
        ]),
  ];
}

const options = { ...configOptions, ...tenantsOption } as const satisfies Options;

/** Checks that Σ chargebacks = Σ billing on published days, to the last digit, per tenant, day and currency. */
export const reconcile: Command = {
  usage: "reconcile --config FILE [--tenant NAME]... [--env-file FILE]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    const config = await configurationOf(given, io);
    const tenants = selectTenants(config, given.tenant).map((tenant) => tenant.tenant_name);
    const stores = await openStores({
      config,
      logger: commandLogger(config.logging, io.stderr),
      signal: io.signal,
    });
    try {
      return exitCodes[await printReconciliation(stores, tenants, io, { everyDay: true })];
    } finally {
      await stores.close();
    }
  },
};

/**
 * `nothing`: some tenants have no published day, and the others have no differences. `lost`: all stored amounts add up,
 * but published days are missing from the store. `damaged`: stored files do not match their checksums, so no sums were
 * read.
 */
export type ReconcileReport = "adds_up" | "differences" | "lost" | "damaged" | "nothing";

export const exitCodes: Readonly<Record<ReconcileReport, number>> = {
  adds_up: 0,
  differences: 1,
  lost: 1,
  damaged: 1,
  nothing: 3,
};

/**
 * Prints the days and totals of the tenants, including attributions to topics if there are any, and returns the
 * verdict.
 */
export async function printReconciliation(
  stores: OpenedStores,
  tenants: readonly string[],
  io: Pick<CommandIo, "stdout" | "signal">,
  { everyDay }: { everyDay: boolean },
): Promise<ReconcileReport> {
  const chargebacks: TenantSums[] = [];
  const attributions: TenantSums[] = [];
  const delivered: TenantControl[] = [];
  const losses: string[] = [];
  let isDamaged = false;
  for (const tenant of tenants) {
    const { client, location } = await stores.tenant(tenant);
    const damage = location.isEmbedded ? await findDamage(client, io.signal) : [];
    for (const each of damage) io.stdout.write(`DAMAGED: ${tenant}: ${each.period}: ${damageText(each)}.\n`);
    if (damage.length > 0) {
      isDamaged = true;
      continue;
    }
    losses.push(...(await lostDays(stores, tenant, io.signal)));
    chargebacks.push({ tenant, sums: await reconcileDays(client, io.signal) });
    const sums = await reconcileAttributions(client, io.signal);
    if (sums.days.length > 0) attributions.push({ tenant, sums });
    const control = await readControlTotals(stores.postgres, tenant, { signal: io.signal });
    if (control.length > 0) delivered.push({ tenant, control });
  }
  const [without, having] = [chargebacks.filter(isEmpty), chargebacks.filter((each) => !isEmpty(each))];
  if (having.length > 0) writeSums(io, "CHARGEBACKS", having, everyDay);
  if (attributions.length > 0) {
    io.stdout.write("\nLines attributed to topics:\n");
    writeSums(io, "ATTRIBUTED", attributions, everyDay);
  }
  if (delivered.length > 0) {
    io.stdout.write("\nDelivered rows, or hours of priced metrics, by class:\n");
    writeControl(io, delivered);
  }
  const isAccounted = delivered.every(({ control }) => control.every(isAccountedFor));
  const proof = isAccounted ? proofOf([...having, ...attributions], without) : "differences";
  io.stdout.write(verdict(proof, having.length > 0, without));
  for (const loss of losses) io.stdout.write(`LOST: ${loss}\n`);
  if (proof === "differences") return proof;
  if (isDamaged) return "damaged";
  return losses.length > 0 ? "lost" : proof;
}

interface TenantSums {
  readonly tenant: string;
  readonly sums: Reconciliation;
}

interface TenantControl {
  readonly tenant: string;
  readonly control: readonly CurrencyControl[];
}

/** Prints the delivered rows, the rows of each class, and the rows that are not accounted for. */
function writeControl({ stdout }: Pick<CommandIo, "stdout">, tenants: readonly TenantControl[]): void {
  const rows = tenants.flatMap(({ tenant, control }) =>
    control.flatMap(({ currency, delivered, classes, difference }) => [
      { currency, cells: [tenant, "delivered", String(delivered.rows), delivered.cost] },
      ...classes.map((each) => ({
        currency,
        cells: [tenant, className(each), String(each.rows), each.cost],
      })),
      { currency, cells: [tenant, "not accounted for", String(difference.rows), difference.cost] },
    ]),
  );
  writeAmounts(stdout, { head: ["TENANT", "CLASS", "ROWS", "COST"], keys: 2 }, rows, ["COST"]);
}

function isEmpty({ sums: { days } }: TenantSums): boolean {
  return days.length === 0;
}

function proofOf(proven: readonly TenantSums[], without: readonly TenantSums[]): ReconcileReport {
  if (!proven.every(({ sums }) => addsUp(sums))) return "differences";
  return without.length === 0 ? "adds_up" : "nothing";
}

function addsUp({ days, totals }: Reconciliation): boolean {
  return days.every((day) => day.lines_off === "0") && totals.every(({ difference }) => difference === "0");
}

function verdict(proof: ReconcileReport, some: boolean, without: readonly TenantSums[]): string {
  const empty = without.map(({ tenant }) => `Nothing to prove: ${tenant} has no published days.\n`).join("");
  if (proof === "differences")
    return `${empty}THERE ARE DIFFERENCES: some lines differ from their chargebacks, or rows are not accounted for.\n`;
  return `${some ? "Every line adds up.\n" : ""}${empty}`;
}

function writeSums(
  { stdout }: Pick<CommandIo, "stdout">,
  ledgerColumn: string,
  tenants: readonly TenantSums[],
  everyDay: boolean,
): void {
  const rows = tenants.flatMap(({ tenant, sums: { days, totals } }) => [
    ...days.filter((day) => everyDay || day.lines_off !== "0").map((day) => cells(tenant, day.day, day)),
    ...totals.map((total) => cells(tenant, daysOf(total.currency, days), total)),
  ]);
  const head = ["TENANT", "DAY", "LINES", "ROWS", "BILLING", ledgerColumn, "DIFF"];
  writeAmounts(stdout, { head, keys: 2 }, rows, ["BILLING", ledgerColumn]);
}

function daysOf(currency: string, days: readonly DayReconciliation[]): string {
  const count = days.filter((day) => day.currency === currency).length;
  return count === 1 ? "1 day" : `${count} days`;
}

function cells(tenant: string, day: string, sums: Omit<DayReconciliation, "day">): AmountRow {
  const { currency } = sums;
  const cells = [tenant, day, sums.lines, sums.rows, sums.billing, sums.chargebacks, sums.difference];
  return { currency, cells };
}
