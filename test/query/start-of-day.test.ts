/**
 * Days in every zone of the list from 2000 to 2040, compared with a clock that is built only from the changes of the
 * zone's offset.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { IANAZone } from "luxon";
import t from "tap";
import { readTuples } from "../../src/clickhouse/statement.js";
import { bucketKey } from "../../src/query/time/bucket.js";
import { startOfDay } from "../../src/query/time/start-of-day.js";
import { timeZones } from "../../src/query/time/zone.js";
import { startService } from "../http/service.js";
import fc from "../property.js";

const DAY = 86_400;
const FIRST = Date.UTC(1999, 11, 20) / 1000;
const LAST = Date.UTC(2041, 0, 10) / 1000;

/** The time between two clock changes: instants `[from, to)`, and the offset from UTC. In seconds. */
interface Segment {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

function segmentsOf(timezone: string): Segment[] {
  const zone = IANAZone.create(timezone);
  const offset = (at: number) => zone.offset(at * 1000) * 60;
  const segments: Segment[] = [];
  let from = FIRST;
  for (let at = FIRST; at < LAST; at += 10 * DAY) {
    if (offset(at) === offset(at + 10 * DAY)) continue;
    let [before, after] = [at, at + 10 * DAY];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offset(middle) === offset(at)) before = middle;
      else after = middle;
    }
    segments.push({ from, to: after, offset: offset(at) });
    from = after;
  }
  return [...segments, { from, to: LAST, offset: offset(LAST) }];
}

const dateOf = (midnight: number) => new Date(midnight * 1000).toISOString().slice(0, 10);

/** Returns the first instant at which clocks show `midnight` (as if it were UTC) or later. */
function firstFrom(segments: readonly Segment[], midnight: number): number {
  const found = segments.find(({ to, offset }) => to + offset > midnight);
  if (found === undefined) throw new Error("beyond the segments");
  return Math.max(found.from, midnight - found.offset);
}

const kinds = [
  "gap at midnight",
  "overlap at midnight",
  "day before returns",
  "skipped day",
  "plain",
] as const;
type Kind = (typeof kinds)[number];

function kindOf(segments: readonly Segment[], midnight: number): Kind {
  const start = firstFrom(segments, midnight);
  if (firstFrom(segments, midnight + DAY) === start) return "skipped day";
  const shown = segments.filter(
    ({ from, to, offset }) => from + offset <= midnight && midnight < to + offset,
  );
  const [first] = shown;
  if (first === undefined) return "gap at midnight";
  if (shown.length === 1) return "plain";
  return first.to + first.offset > midnight &&
    shown[1] !== undefined &&
    shown[1].from + shown[1].offset < midnight
    ? "day before returns"
    : "overlap at midnight";
}

interface Case {
  readonly zone: string;
  readonly midnight: number;
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
}

/** Zones without links, which are other names of the same clocks. */
const canonical = timeZones().filter(
  (zone) => new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone === zone,
);
const clocks = [
  ...new Map(
    canonical.map((zone) => {
      const segments = segmentsOf(zone);
      return [JSON.stringify(segments), { zone, segments }] as const;
    }),
  ).values(),
];
const caseOf = ({ zone, segments }: (typeof clocks)[number], midnight: number): Case => ({
  zone,
  midnight,
  kind: kindOf(segments, midnight),
  start: firstFrom(segments, midnight),
  end: firstFrom(segments, midnight + DAY),
});

/** The days before, of and after each change. */
const changes = clocks.flatMap((clock) =>
  clock.segments.slice(0, -1).flatMap(({ to, offset }) => {
    const midnight = Math.floor((to + offset) / DAY) * DAY;
    return [-1, 0, 1].map((days) => caseOf(clock, midnight + days * DAY));
  }),
);

t.test("a day begins at its first midnight, in every zone from 2000 to 2040", async (t) => {
  const counted = new Map<Kind, number>(kinds.map((kind) => [kind, 0]));
  const checkCase = ({ zone, midnight, kind, start }: Case) => {
    counted.set(kind, (counted.get(kind) ?? 0) + 1);
    const found = startOfDay(dateOf(midnight), zone);
    if (found !== start) t.equal(found, start, `${zone} ${dateOf(midnight)}: ${kind}`);
  };
  for (const each of changes) checkCase(each);
  fc.assert(
    fc.property(fc.constantFrom(...clocks), fc.integer({ min: 12, max: 14_970 }), (clock, days) =>
      checkCase(caseOf(clock, FIRST + days * DAY)),
    ),
    { numRuns: 2000 },
  );
  t.same(
    [...counted].filter(([, count]) => count < 2),
    [],
    "every kind of day was met",
  );
});

t.test("the engine's day buckets begin at the same instants", async (t) => {
  const { stores } = await startService(t);
  const { client } = await stores.tenant("acme");
  const byZone = new Map<string, Case[]>();
  for (const each of changes.filter(({ kind }) => kind !== "plain"))
    byZone.set(each.zone, [...(byZone.get(each.zone) ?? []), each]);
  const wrong: unknown[] = [];
  let compared = 0;
  for (const [zone, cases] of byZone) {
    // The first and the last second of the day, and quarters of hours around them.
    const wanted = cases.flatMap(({ midnight, start, end }) =>
      [start, start + 900, start + 3600, end - 3600, end - 1]
        .filter((at) => at >= start && at < end)
        .map((at) => [at, dateOf(midnight)] as const),
    );
    if (wanted.length === 0) continue; // nothing but a skipped day
    compared += wanted.length;
    const instants = wanted.map(([at]) => at);
    for (const [index, label] of (await labels(client, zone, instants)).entries())
      if (label !== wanted[index]?.[1]) wrong.push([zone, label, ...(wanted[index] ?? [])]);
  }
  t.strictSame(wrong, []);
  t.ok(compared > 1000, `${compared} instants`);
});

async function labels(client: ClickHouseClient, timezone: string, instants: readonly number[]) {
  const { sql, params } = bucketKey("day", {
    timezone,
    from: Math.min(...instants),
    to: Math.max(...instants) + 1,
  });
  const rows = await readTuples<[string]>(client, {
    query: `SELECT toString(${sql}) FROM (SELECT toDateTime(arrayJoin({instants:Array(UInt32)}), 'UTC') AS timestamp)`,
    params: { ...params, instants },
  });
  return rows.map(([label]) => label);
}
