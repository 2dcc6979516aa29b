/** Events that explain the costs of a period: days from which other rules apply, and days that newer deliveries of a bill changed. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import { addDays, earliest, latest } from "../../common/days.js";
import { FIRST_DAY, LAST_DAY } from "../../domain/stored-days.js";
import { instantText } from "../../postgres/instant-text.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";
import type { DateWindow } from "../time/date-window.js";

export const eventKinds = ["rules_changed", "bill_replaced"] as const;

/** Days are `2026-01-01`, instants `2026-01-01T00:00:00Z`. Null means that the kind of event has no such value. */
export interface CostEvent {
  readonly kind: (typeof eventKinds)[number];
  /** The first day of the period that it changed. */
  readonly day: string;
  readonly last_day: string | null;
  readonly source: string | null;
  readonly billing_period: string | null;
  /** How often the bill was delivered. */
  readonly delivery_count: number | null;
  readonly at: string | null;
}

/** A day is compared with the last one with costs before it, if that is not longer ago than this. */
const DAYS_BEFORE = 31;

type Days = Pick<DateWindow, "startDate" | "endDate">;

/**
 * Selects each day whose rules differ from those of the day before with costs. All rows of a day have the same rules,
 * so the first row of each part is enough.
 */
export function changesOfRules({ startDate, endDate }: Days): Statement {
  const stored = (day: string) => earliest(LAST_DAY, latest(FIRST_DAY, day));
  return {
    query: `
SELECT toString(day) AS changed_on FROM (
  SELECT day, rules, lagInFrame(rules, 1, rules) OVER (ORDER BY day ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS rules_before
  FROM (
    SELECT day, max(toString(rules_hash)) AS rules FROM chargebacks
    WHERE day >= {before:Date} AND day <= {end:Date} AND _part_offset = 0 GROUP BY day HAVING rules != ''
  )
)
WHERE rules != rules_before AND day >= {start:Date}
ORDER BY day`,
    params: {
      before: stored(addDays(startDate, -DAYS_BEFORE)),
      start: stored(startDate),
      end: stored(endDate),
    },
  };
}

/** Selects the bills that count and whose newer deliveries changed published days of the period. */
function replacedBills(tenantName: string, { startDate, endDate }: Days): PgStatement {
  return {
    query: `
WITH changed AS (
  SELECT source, scope, min(day) AS first_day, max(day) AS last_day
  FROM delivery_changes AS change CROSS JOIN unnest(days) AS day
  JOIN deliveries ON deliveries.tenant_name = change.tenant_name AND delivery_id = ANY (change.deliveries)
  WHERE change.tenant_name = $1 AND is_published AND day BETWEEN $2::date AND $3::date
  GROUP BY source, scope
)
SELECT changed.first_day::text AS day, changed.last_day::text AS last_day, source, billing_period,
  earlier.count::int + 1 AS delivery_count, ${instantText("coalesce(accepted_at, loaded_at)")} AS at
FROM changed JOIN deliveries AS bill USING (source, scope),
  LATERAL (SELECT count(*) FROM deliveries AS former WHERE former.tenant_name = bill.tenant_name AND former.source = bill.source
    AND former.scope = bill.scope AND former.state = 'replaced') AS earlier
WHERE bill.tenant_name = $1 AND bill.state = 'current' AND earlier.count > 0
ORDER BY changed.first_day, source, delivery_id`,
    params: [tenantName, startDate, endDate],
  };
}

/** By day. Both ends of the period are included. */
export async function readEvents(
  { client, postgres }: { readonly client: ClickHouseClient; readonly postgres: Pool },
  tenantName: string,
  days: Days,
  signal?: AbortSignal,
): Promise<CostEvent[]> {
  const [changes, bills] = await Promise.all([
    readRows<{ changed_on: string }>(client, changesOfRules(days), signal),
    readPostgres<Omit<CostEvent, "kind">>(postgres, replacedBills(tenantName, days), signal),
  ]);
  const ofBill = { last_day: null, source: null, billing_period: null, delivery_count: null, at: null };
  const events: CostEvent[] = [
    ...changes.map(({ changed_on: day }) => ({ kind: "rules_changed" as const, day, ...ofBill })),
    ...bills.map((bill) => ({ kind: "bill_replaced" as const, ...bill })),
  ];
  return events.sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
}
