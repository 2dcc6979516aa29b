/** Lines of the window that cannot be charged as they are, and the days that are incomplete without them. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../../../clickhouse/statement.js";
import { addDays, daysOfWindow } from "../../../../common/days.js";
import { withoutLines } from "../deliveries/partitions.js";
import { isChargedIn, type RecordedDelivery } from "../deliveries/records.js";
import { isCharged, type LinesRequest, ofWindow } from "./billing-lines.js";
import { lastDay } from "./charge-days.js";

export interface MalformedLines {
  readonly lines: number;
  readonly days: readonly string[];
  /** One sentence for each delivery. */
  readonly errors: readonly string[];
}

export async function malformedLines(
  client: ClickHouseClient,
  request: LinesRequest,
  deliveries: readonly RecordedDelivery[],
  signal: AbortSignal,
): Promise<MalformedLines> {
  const { window, spread, cost } = request;
  const params = { deliveries: request.deliveries, start: window.start, end: window.end };
  const rows = await readRows<{
    delivery: string;
    day: string;
    last: string;
    dated: boolean;
    lines: string;
  }>(
    client,
    {
      query: `SELECT toString(delivery) AS delivery, toString(charge_day) AS day,
          toString(${lastDay(spread)}) AS last, charge_day > toDate(0) AS dated, toString(count()) AS lines
        FROM focus_lines
        WHERE delivery IN {deliveries:Array(UInt64)} AND NOT (${isCharged(cost)}) AND ${request.counted} AND ((${ofWindow(spread)}) OR charge_day = toDate(0))
        GROUP BY delivery, day, last, dated ORDER BY delivery, day, last`,
      params,
    },
    signal,
  );
  const days = daysOfWindow(window);
  const incomplete = new Set<string>();
  const counts = new Map<string, number>();
  for (const { delivery, day, last, dated, lines } of rows) {
    const touched = days.filter(
      dated ? (each) => each >= day && each <= last : periodOf(deliveries, delivery),
    );
    if (dated && touched.length === 0) continue;
    counts.set(delivery, (counts.get(delivery) ?? 0) + Number(lines));
    for (const each of touched) incomplete.add(each);
  }
  const errors = [...counts].map(([delivery, lines]) => {
    const of = deliveries.find(({ delivery_id }) => delivery_id === delivery);
    const what = lines === 1 ? "line has" : "lines have";
    return `${billOf(of)}: ${lines} ${what} no readable date, currency or ${cost}, and ${lines === 1 ? "is" : "are"} not charged`;
  });
  return {
    lines: [...counts.values()].reduce((a, b) => a + b, 0),
    days: days.filter((day) => incomplete.has(day)),
    errors,
  };
}

export interface LostLines {
  readonly days: readonly string[];
  readonly errors: readonly string[];
}

/** Returns the days of the window whose lines the store has lost. They stay as they are published. */
export async function lostLines(
  client: ClickHouseClient,
  { window }: Pick<LinesRequest, "window">,
  deliveries: readonly RecordedDelivery[],
  signal: AbortSignal,
): Promise<LostLines> {
  const lost = await withoutLines(client, deliveries, signal);
  const touches = (day: string, of: RecordedDelivery) =>
    isChargedIn(of, { start: day, end: addDays(day, 1) }) ||
    (of.has_undated_lines && periodOf(deliveries, of.delivery_id)(day));
  return {
    days: daysOfWindow(window).filter((day) => lost.some((each) => touches(day, each))),
    errors: lost.map(
      (each) =>
        `${billOf(each)}: the store has lost its lines, and the source does not have the bill any more`,
    ),
  };
}

function billOf(delivery: RecordedDelivery | undefined): string {
  return [delivery?.source, delivery?.billing_period].filter((part) => part != null).join(" ");
}

/** Days that a line without a date may belong to: any day of its delivery. */
function periodOf(deliveries: readonly RecordedDelivery[], delivery: string): (day: string) => boolean {
  const of = deliveries.find(({ delivery_id }) => delivery_id === delivery);
  const { billing_period: period = null, first_day = null, last_day = null } = of ?? {};
  return (day) =>
    period === null
      ? (first_day === null || day >= first_day) && (last_day === null || day <= last_day)
      : day.startsWith(period);
}
