import { DateTime } from "luxon";
import t from "tap";
import { type DateWindowInput, dateWindow, isDate } from "../../src/query/time/date-window.js";
import { isTimeZone, timeZones } from "../../src/query/time/zone.js";
import { holds } from "../holds.js";
import fc from "../property.js";

const NOW = new Date("2026-03-10T23:30:00Z");

t.test("missing dates of a window get defaults", async (t) => {
  const cases: [string, DateWindowInput, string, string][] = [
    ["nothing given: the lookback up to today", {}, "2026-02-08", "2026-03-10"],
    ["only the end: a lookback before it", { end_date: "2020-01-31" }, "2020-01-01", "2020-01-31"],
    ["only a start in the past: up to today", { start_date: "2026-01-01" }, "2026-01-01", "2026-03-10"],
    ["only a start in the future: that day", { start_date: "2026-05-01" }, "2026-05-01", "2026-05-01"],
    ["both, the same day", { start_date: "2026-01-01", end_date: "2026-01-01" }, "2026-01-01", "2026-01-01"],
    ["today is the UTC date, whatever the zone", { timezone: "Asia/Tokyo" }, "2026-02-08", "2026-03-10"],
  ];
  for (const [name, input, startDate, endDate] of cases)
    holds(t, dateWindow(input, 30, NOW), { startDate, endDate }, name);
});

t.test("a window begins and ends at midnight of the zone", async (t) => {
  const window = (start_date: string, end_date: string, timezone: string) => {
    const { from, to } = dateWindow({ start_date, end_date, timezone }, 30, NOW);
    return [from, to].map((instant) => new Date(instant * 1000).toISOString());
  };
  t.same(window("2025-12-01", "2025-12-31", "America/Denver"), [
    "2025-12-01T07:00:00.000Z",
    "2026-01-01T07:00:00.000Z",
  ]);
  t.same(window("2026-03-29", "2026-03-29", "Europe/Berlin"), [
    "2026-03-28T23:00:00.000Z",
    "2026-03-29T22:00:00.000Z",
  ]);
  t.same(
    window("2018-11-04", "2018-11-04", "America/Sao_Paulo"),
    ["2018-11-04T03:00:00.000Z", "2018-11-05T02:00:00.000Z"],
    "a day that begins at 01:00",
  );
});

t.test("days have 23 to 25 hours and follow one another without gap or overlap", async () => {
  const zone = fc.constantFrom(
    "America/Denver",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "Africa/Casablanca",
    "Pacific/Auckland",
    "UTC",
  );
  const date = fc
    .integer({ min: 0, max: 365 * 40 })
    .map((days) => DateTime.fromISO("2000-01-01", { zone: "utc" }).plus({ days }));
  fc.assert(
    fc.property(zone, date, (timezone, day) => {
      const of = (d: DateTime) => {
        const iso = d.toISODate() ?? "";
        return dateWindow({ start_date: iso, end_date: iso, timezone }, 30, NOW);
      };
      const [today, tomorrow] = [of(day), of(day.plus({ days: 1 }))];
      const hours = (today.to - today.from) / 3600;
      return today.to === tomorrow.from && hours >= 23 && hours <= 25 && (timezone !== "UTC" || hours === 24);
    }),
    { numRuns: 2000 },
  );
});

t.test("an invalid date or zone is rejected with the parameter's name", async (t) => {
  const cases: [DateWindowInput, string][] = [
    [{ start_date: "2026-01-02", end_date: "2026-01-01" }, "start_date"],
    [{ end_date: "1900-01-05" }, "start_date"],
    [{ timezone: "Mars/Olympus" }, "timezone"],
  ];
  for (const [input, parameter] of cases) {
    t.throws(() => dateWindow(input, 30, NOW), { name: "InvalidParameterError", parameter });
  }
});

t.test("dates must exist and be in a supported year", async (t) => {
  for (const date of ["2024-02-29", "1900-01-01", "2299-12-31"]) t.ok(isDate(date), date);
  for (const date of [
    "2026-02-29",
    "1899-12-31",
    "2300-01-01",
    "2026-1-1",
    "20260101",
    "2026-13-01",
    "2026-01-01T00:00:00Z",
    "",
    "0000-00-00",
    "+2026-01-01",
  ]) {
    t.notOk(isDate(date), date);
  }
});

t.test("time zones are those of the IANA list, spelled exactly", async (t) => {
  for (const zone of [
    "UTC",
    "Etc/UTC",
    "America/Denver",
    "America/Argentina/Buenos_Aires",
    "Asia/Kolkata",
    "Asia/Calcutta",
    "US/Pacific",
    "Etc/GMT+7",
    "EST5EDT",
    "Europe/Kyiv",
  ]) {
    t.ok(isTimeZone(zone), zone);
  }
  for (const zone of [
    "US",
    "/etc/passwd",
    "../x",
    "america/denver",
    "utc",
    "+05:00",
    "",
    "America",
    "constructor",
    " UTC",
    "Factory",
    "localtime",
  ]) {
    t.notOk(isTimeZone(zone), zone);
  }
  t.ok(timeZones().length > 500);
});
