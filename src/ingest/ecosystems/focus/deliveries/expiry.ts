/**
 * Bills all of whose days are older than the retention: their lines go. Their records stay, so that they are not read again, and say until when
 * they reach, so that they are once the retention is longer.
 *
 * Postgres comes first. Lines that a crash leaves behind are then of no bill, and the next run drops them.
 */
import { runStatement } from "../../../../store/postgres/statement.js";
import { lastOfMonth, latest } from "../../../../time/days.js";
import type { Spread } from "../lines/charge-days.js";
import type { DeliveryStore, LoadSettings } from "./delivery-store.js";
import { dropDelivery } from "./partitions.js";
import { expireDeliveries, type RecordedDelivery } from "./records.js";

export type CoveredDays = Pick<
  RecordedDelivery,
  "billing_period" | "last_start_day" | "last_day" | "has_undated_lines"
>;

type Kept = Pick<LoadSettings, "keepFrom" | "spread">;

/** The last day that one of its lines is charged to, or may belong to as it has no date. Null where that is not known. */
function coveredUntil(
  { billing_period: period, last_start_day, last_day, has_undated_lines }: CoveredDays,
  spread: Spread,
): string | null {
  if (last_day === null) return null;
  const charged = spread === "none" ? (last_start_day ?? last_day) : last_day;
  if (!has_undated_lines) return charged;
  return latest(charged, period === null ? last_day : lastOfMonth(`${period}-01`));
}

/** Why a delivery has expired, as a sentence; undefined where a day of it is kept. */
export function expiryOf(delivery: CoveredDays, { keepFrom, spread }: Kept): string | undefined {
  const until = coveredUntil(delivery, spread);
  if (until === null || until >= keepFrom) return undefined;
  return `its last day is ${until}, and retention_days keeps days from ${keepFrom} on`;
}

/** Of deliveries of a tenant, expires those that count, those that count in others, and those that wait to replace nothing else. Returns whether there were any. */
export async function expireOld(
  store: DeliveryStore,
  records: readonly RecordedDelivery[],
  settings: Kept,
): Promise<boolean> {
  const { client, postgres, tenantName, epoch } = store;
  const stays = records.filter((each) => each.state === "current" && expiryOf(each, settings) === undefined);
  const expired = records.flatMap((each) => {
    const reason = expiryOf(each, settings);
    const waits = each.state === "waiting_for_acceptance";
    if (reason === undefined || !(waits || each.state === "current" || each.state === "superseded"))
      return [];
    if (waits && stays.some((other) => wouldReplace(each, other))) return [];
    return [{ id: each.delivery_id, reason }];
  });
  if (expired.length === 0) return false;
  const update = expireDeliveries({ tenantName, epoch, expired });
  const { rows } = await runStatement<{ delivery_id: string }>(postgres, update);
  for (const { delivery_id } of rows) await dropDelivery(client, delivery_id);
  return true;
}

function wouldReplace(waiting: RecordedDelivery, other: RecordedDelivery): boolean {
  const isOfScope = waiting.source === other.source && waiting.scope === other.scope;
  return isOfScope || waiting.replaces.includes(other.delivery_id);
}
