/**
 * Expires bills whose days are all older than the retention. Their lines are dropped. Their records stay, so that the
 * bills are not read again; a record states its last day, so that its bill is read again if the retention becomes
 * longer.
 *
 * Postgres comes first: lines that a crash leaves behind then belong to no bill, and the next run drops them.
 */
import { lastOfMonth, latest } from "../../../../common/days.js";
import { type PgStatement, runStatement } from "../../../../postgres/statement.js";
import type { Spread } from "../lines/charge-days.js";
import type { DeliveryStore, LoadSettings } from "./delivery-store.js";
import { dropDelivery } from "./partitions.js";
import type { RecordedDelivery } from "./records.js";

export type CoveredDays = Pick<
  RecordedDelivery,
  "billing_period" | "last_start_day" | "last_day" | "has_undated_lines"
>;

type RetentionSettings = Pick<LoadSettings, "keepFrom" | "spread">;

/**
 * Returns the last day that a line is charged to, or that a line without a date may belong to. Null if that is not
 * known.
 */
function coveredUntil(
  { billing_period: period, last_start_day, last_day, has_undated_lines }: CoveredDays,
  spread: Spread,
): string | null {
  if (last_day === null) return null;
  const charged = spread === "none" ? (last_start_day ?? last_day) : last_day;
  if (!has_undated_lines) return charged;
  return latest(charged, period === null ? last_day : lastOfMonth(`${period}-01`));
}

/** Returns why a delivery has expired, as a sentence. Undefined if one of its days is kept. */
export function expiryOf(delivery: CoveredDays, { keepFrom, spread }: RetentionSettings): string | undefined {
  const until = coveredUntil(delivery, spread);
  if (until === null || until >= keepFrom) return undefined;
  return `its last day is ${until}, and retention_days keeps days from ${keepFrom} on`;
}

/**
 * Expires deliveries of a tenant that count, that count in others, or that wait and would replace nothing else. Returns
 * whether there were any.
 */
export async function expireOld(
  store: DeliveryStore,
  records: readonly RecordedDelivery[],
  settings: RetentionSettings,
): Promise<boolean> {
  const { client, postgres, tenantName, epoch } = store;
  const remaining = records.filter(
    (record) => record.state === "current" && expiryOf(record, settings) === undefined,
  );
  const expired = records.flatMap((record) => {
    const reason = expiryOf(record, settings);
    const waits = record.state === "waiting_for_acceptance";
    if (reason === undefined || !(waits || record.state === "current" || record.state === "superseded"))
      return [];
    if (waits && remaining.some((other) => wouldReplace(record, other))) return [];
    return [{ id: record.delivery_id, reason }];
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

interface ExpiredDeliveries {
  readonly tenantName: string;
  readonly epoch: number;
  readonly expired: readonly { readonly id: string; readonly reason: string }[];
}

/** Returns the ids of the deliveries that have expired now; none if the lease is lost. */
function expireDeliveries({ tenantName, epoch, expired }: ExpiredDeliveries): PgStatement {
  return {
    query: `UPDATE deliveries SET state = 'expired', expired_at = now(), problem = old.reason
      FROM unnest($3::bigint[], $4::text[]) AS old (id, reason)
      WHERE tenant_name = $1 AND delivery_id = old.id AND state IN ('current', 'waiting_for_acceptance', 'superseded')
        AND EXISTS (SELECT FROM leases WHERE leases.tenant_name = $1 AND leases.epoch = $2)
      RETURNING delivery_id::text`,
    params: [tenantName, epoch, expired.map(({ id }) => id), expired.map(({ reason }) => reason)],
  };
}
