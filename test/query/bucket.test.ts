/** Hours and weeks of a zone, as the engine computes and labels them. */
import t from "tap";
import { readRows } from "../../src/clickhouse/statement.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { bucketKey, bucketLabelSql, type TimeBucket } from "../../src/query/time/bucket.js";
import { testLogger } from "../stores.js";

const seconds = (text: string) => Date.parse(text) / 1000;

t.test("the engine assigns instants to buckets with the expected labels", async (t) => {
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());
  const label = async (instant: string, bucket: TimeBucket, timezone: string) => {
    const at = seconds(instant);
    const key = bucketKey(bucket, { timezone, from: at - 86_400, to: at + 86_400 });
    const [row] = await readRows<{ label: string }>(engine.client, {
      query: `SELECT ${bucketLabelSql(bucket, timezone)} AS label FROM (
        SELECT ${key.sql} AS bucket FROM (SELECT toDateTime({at:UInt32}, 'UTC') AS timestamp))`,
      params: { ...key.params, at },
    });
    return row?.label;
  };
  for (const [instant, bucket, timezone, wanted] of [
    ["2026-03-02T00:30:00Z", "hour", "UTC", "2026-03-02T00:00:00Z"],
    ["2026-03-02T00:30:00Z", "hour", "Europe/Berlin", "2026-03-02T01:00:00+01:00"],
    // Clocks are set back: the hour comes twice, with two offsets.
    ["2026-10-25T00:30:00Z", "hour", "Europe/Berlin", "2026-10-25T02:00:00+02:00"],
    ["2026-10-25T01:30:00Z", "hour", "Europe/Berlin", "2026-10-25T02:00:00+01:00"],
    ["2026-03-02T00:10:00Z", "hour", "America/St_Johns", "2026-03-01T20:00:00-03:30"],
    ["2026-03-02T00:40:00Z", "hour", "Asia/Kolkata", "2026-03-02T06:00:00+05:30"],
    ["2026-03-02T00:40:00Z", "hour", "Pacific/Kiritimati", "2026-03-02T14:00:00+14:00"],
    // Lord Howe's clocks change by half an hour. Hours begin at minute 0, before and after.
    ["2026-10-03T15:10:00Z", "hour", "Australia/Lord_Howe", "2026-10-04T01:00:00+10:30"],
    ["2026-10-03T16:10:00Z", "hour", "Australia/Lord_Howe", "2026-10-04T03:00:00+11:00"],
    ["2026-03-01T23:30:00Z", "week", "UTC", "2026-W09"],
    ["2026-03-02T00:30:00Z", "week", "UTC", "2026-W10"],
    ["2026-03-01T23:30:00Z", "week", "Europe/Berlin", "2026-W10"],
    ["2026-03-02T04:30:00Z", "week", "America/New_York", "2026-W09"],
    // The week around new year is one week, of the year that has its Thursday.
    ["2024-12-31T12:00:00Z", "week", "UTC", "2025-W01"],
    ["2026-12-31T12:00:00Z", "week", "UTC", "2026-W53"],
    ["2027-01-03T12:00:00Z", "week", "UTC", "2026-W53"],
    ["2027-01-03T23:30:00Z", "week", "Europe/Berlin", "2027-W01"],
    ["2026-02-28T23:30:00Z", "month", "Europe/Berlin", "2026-03"],
    ["2026-03-01T04:30:00Z", "day", "America/New_York", "2026-02-28"],
  ] as const)
    t.equal(await label(instant, bucket, timezone), wanted, `${instant} by ${bucket} in ${timezone}`);
});
