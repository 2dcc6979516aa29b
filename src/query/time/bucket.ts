/** Time buckets of an aggregation: what rows are grouped by, and the label of a bucket. Both are in the request's zone. */
import type { Params } from "../../store/clickhouse/statement.js";
import { storable } from "../chargebacks/scan.js";
import type { DateWindow } from "./date-window.js";
import { comebacks } from "./start-of-day.js";

export const timeBuckets = ["hour", "day", "week", "month"] as const;
export type TimeBucket = (typeof timeBuckets)[number];

/**
 * What identifies and orders the buckets. Not the label: in the hour that comes twice when clocks are set back, labels with
 * a positive offset sort the wrong way round.
 *
 * Hours begin where the minutes do. The engine's own `toStartOfHour` is half an hour off for the rest of a day on which clocks change by
 * half an hour (Lord Howe). Where they change within the hour, it begins at that change, or at its first coming.
 */
const keySql: Readonly<Record<TimeBucket, (instant: string) => string>> = {
  hour: () => hourSql(),
  day: (instant) => `toDate(${instant}, {timezone:String})`,
  week: (instant) => `toMonday(${instant}, {timezone:String})`,
  month: (instant) => `toStartOfMonth(${instant}, {timezone:String})`,
};

/** An expression over `timestamp`, and its values. A day begins at its first midnight, as in `dateWindow`. */
export function bucketKey(
  bucket: TimeBucket,
  window: Pick<DateWindow, "from" | "to" | "timezone">,
): { readonly sql: string; readonly params: Params } {
  const { timezone } = window;
  const again = bucket === "hour" ? [] : comebacks(storable(window), timezone);
  if (again.length === 0) return { sql: keySql[bucket]("timestamp"), params: { timezone } };
  return {
    sql: keySql[bucket](AFTER_COMEBACK),
    params: {
      timezone,
      comebacks_from: again.map(({ from }) => from),
      comebacks_to: again.map(({ to }) => to),
    },
  };
}

/** What lies in a comeback counts as its end. */
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

/** `bucket` is the key. Weeks are ISO weeks: the one around new year is one week, of the year that has its Thursday. */
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

/** By its names in the IANA list: their hours end with `Z`, those of all other zones with an offset. */
export function isUtc(timezone: string): boolean {
  return ["UTC", "UCT", "Universal", "Zulu"].includes(timezone.replace(/^Etc\//, ""));
}

/** From the difference between the local time and UTC's: the engine's own offset is a day off where it is +14:00 (Kiritimati). */
const SECONDS =
  "dateDiff('second', bucket, toDateTime(formatDateTime(bucket, '%Y-%m-%d %H:%i:%S', {timezone:String}), 'UTC'))";
const OFFSET = `if(${SECONDS} < 0, '-', '+'), leftPad(toString(intDiv(abs(${SECONDS}), 3600)), 2, '0'), ':', leftPad(toString(intDiv(abs(${SECONDS}) % 3600, 60)), 2, '0')`;
