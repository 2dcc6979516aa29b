/**
 * Time buckets of an aggregation: the key that rows are grouped by, and the label of a bucket. Both are in the
 * request's zone.
 */
import type { Params } from "../../clickhouse/statement.js";
import { storable } from "../chargebacks/scan.js";
import type { DateWindow } from "./date-window.js";
import { repeatedSpans } from "./start-of-day.js";

export const timeBuckets = ["hour", "day", "week", "month"] as const;
export type TimeBucket = (typeof timeBuckets)[number];

/**
 * SQL of the key that identifies and orders buckets. Labels cannot be the key: in the hour that repeats when clocks are
 * set back, labels with a positive offset sort in the wrong order.
 *
 * Hours begin at minute 0 of local time. The engine's own `toStartOfHour` is half an hour off for the rest of a day on
 * which clocks change by half an hour (Lord Howe). If clocks change within an hour, the hour begins at that change, or
 * where it first occurs.
 */
const keySql: Readonly<Record<TimeBucket, (instant: string) => string>> = {
  hour: () => hourSql(),
  day: (instant) => `toDate(${instant}, {timezone:String})`,
  week: (instant) => `toMonday(${instant}, {timezone:String})`,
  month: (instant) => `toStartOfMonth(${instant}, {timezone:String})`,
};

/**
 * Returns an expression over `timestamp` and its parameters. A day begins at its first midnight, as in `dateWindow`.
 */
export function bucketKey(
  bucket: TimeBucket,
  window: Pick<DateWindow, "from" | "to" | "timezone">,
): { readonly sql: string; readonly params: Params } {
  const { timezone } = window;
  const repeated = bucket === "hour" ? [] : repeatedSpans(storable(window), timezone);
  if (repeated.length === 0) return { sql: keySql[bucket]("timestamp"), params: { timezone } };
  return {
    sql: keySql[bucket](AFTER_COMEBACK),
    params: {
      timezone,
      comebacks_from: repeated.map(({ from }) => from),
      comebacks_to: repeated.map(({ to }) => to),
    },
  };
}

/** Treats an instant within a repeated span as the span's end. */
const AFTER_COMEBACK = `(timestamp + arraySum((begin, end) ->
    if(toUnixTimestamp(timestamp) >= begin AND toUnixTimestamp(timestamp) < end, end - toUnixTimestamp(timestamp), 0),
    {comebacks_from:Array(UInt32)}, {comebacks_to:Array(UInt32)}))`;

function hourSql(): string {
  const minute = (instant: string) => `toMinute(${instant}, {timezone:String})`;
  const hour = (instant: string) => `toHour(${instant}, {timezone:String})`;
  const start = `(timestamp - toIntervalSecond(60 * ${minute("timestamp")} + toSecond(timestamp, {timezone:String})))`;
  return `multiIf(${minute(start)} = 0, ${start},
    ${hour(start)} = ${hour("timestamp")}, ${start} - toIntervalMinute(${minute(start)}),
    ${start} + toIntervalMinute(60 - ${minute(start)}))`;
}

/**
 * Expects the key as `bucket`. Weeks are ISO weeks: the one around new year belongs to the year that has its Thursday.
 */
export function bucketLabelSql(bucket: TimeBucket, timezone: string): string {
  switch (bucket) {
    case "hour":
      return isUtc(timezone)
        ? "formatDateTime(bucket, '%Y-%m-%dT%H:%i:%SZ', {timezone:String})"
        : `concat(formatDateTime(bucket, '%Y-%m-%dT%H:%i:%S', {timezone:String}), ${OFFSET})`;
    case "day":
      return "toString(bucket)";
    case "week":
      return "formatDateTime(bucket, '%G-W%V')";
    case "month":
      return "formatDateTime(bucket, '%Y-%m')";
  }
}

/** The IANA names of UTC. Their hours end with `Z`, those of all other zones with an offset. */
export function isUtc(timezone: string): boolean {
  return ["UTC", "UCT", "Universal", "Zulu"].includes(timezone.replace(/^Etc\//, ""));
}

/**
 * Computed as the difference between local time and UTC: the engine's own offset is a day off where it is +14:00
 * (Kiritimati).
 */
const SECONDS =
  "dateDiff('second', bucket, toDateTime(formatDateTime(bucket, '%Y-%m-%d %H:%i:%S', {timezone:String}), 'UTC'))";
const OFFSET = `if(${SECONDS} < 0, '-', '+'), leftPad(toString(intDiv(abs(${SECONDS}), 3600)), 2, '0'), ':', leftPad(toString(intDiv(abs(${SECONDS}) % 3600, 60)), 2, '0')`;
