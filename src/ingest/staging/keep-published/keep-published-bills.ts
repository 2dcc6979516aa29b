/** Keeps the published bill, or its prices, where the gathered bill of a day would lose some of it. */
import { daysInWords } from "../../../common/days.js";
import { ledgers } from "../../../domain/ledger.js";
import type { DayStates } from "../../day-states.js";
import type { WindowReport } from "../../reports.js";
import type { StageWindowOptions } from "../../staged-window.js";
import { type MissingData, readMissingData } from "../missing-data.js";
import { holdSuspiciousBills } from "../suspicious-bills.js";
import { keepDroppedUsage } from "./keep-dropped-usage.js";
import { daysWithFullerBill } from "./keep-fuller-bill.js";
import { keepPricedDays } from "./keep-priced-days.js";

/** Messages about the bills that stay, and about those that are published although they lost most of their amount. */
export interface KeptBills {
  readonly errors: readonly string[];
  readonly notes: readonly string[];
  /** Data that the gathered bills lack, by day. */
  readonly missingData: MissingData;
}

/** Finds the measured days whose published bill or prices stay, and gives them the state that says why. */
export async function keepPublishedBills(
  options: StageWindowOptions,
  { partialDays = [], unreadDays = [] }: WindowReport,
  states: DayStates,
): Promise<KeptBills> {
  const { store, epoch, signal, force = false } = options;
  const { client, tenantName } = store;
  const partial = states.in("measured").filter((day) => partialDays.includes(day));
  const unread = partial.filter((day) => unreadDays.includes(day));
  const withFullerBill = await daysWithFullerBill(
    client,
    { epoch, days: partial },
    force ? [] : unread, // with `--force`, accept a smaller bill
    signal,
  );
  states.set(withFullerBill, "less_than_published");
  states.set(await restoreDropped(options, states.in("measured")), "restored");
  const days = states.in("measured", "restored");
  const suspicious = await holdSuspiciousBills({ ...options, client, tenantName, days, force }, signal);
  states.set(suspicious.held, "suspicious");
  const unreadDaysKept = withFullerBill.filter((day) => unread.includes(day));
  return {
    errors: [
      ...keptBills(
        suspicious.held,
        "the bill has lost most of its amount",
        " until the next run gets the same bill",
      ),
      ...keptBills(unreadDaysKept, "the bill has lines that cannot be read"),
    ],
    notes: lostNote(suspicious.confirmed),
    missingData: await readMissingData(client, { epoch, days: withFullerBill }, ledgers.chargebacks, signal),
  };
}

/**
 * Keeps published data whose samples the upstream has dropped since then. Returns the days that are staged exactly as
 * they are published.
 */
async function restoreDropped(
  options: StageWindowOptions,
  days: readonly string[],
): Promise<readonly string[]> {
  const { store, epoch, gatherer, window, signal, logger } = options;
  const { client, tenantName } = store;
  const retentionCovers = gatherer.retentionCovers?.bind(gatherer);
  if (retentionCovers === undefined) return [];
  const priced = await keepPricedDays(client, { epoch, days }, retentionCovers, signal);
  const others = days.filter((day) => !priced.includes(day));
  const facts = { ledger: ledgers.chargebacks };
  const measured = await keepDroppedUsage(
    client,
    { epoch, days: others },
    { facts, retentionCovers },
    signal,
  );
  if (priced.length + measured.length > 0) {
    const kept = [...priced, ...measured].length;
    logger.info(
      { tenant: tenantName, window, days: kept },
      "samples that the upstream has dropped do not change published days",
    );
  }
  return priced;
}

function lostNote({ length }: readonly string[]): string[] {
  if (length === 0) return [];
  const days = length === 1 ? "1 published day" : `${length} published days`;
  return [
    `the bill of ${days} has lost most of its amount, and a second run got the same bill: it is published`,
  ];
}

function keptBills(days: readonly string[], failure: string, until = ""): string[] {
  if (days.length === 0) return [];
  return [`${failure} for ${daysInWords(days)}: the bill that is published stays${until}`];
}
