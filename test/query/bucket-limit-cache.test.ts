import t from "tap";
import { DAY_SECONDS, dayOfSeconds, midnightSeconds } from "../../src/common/days.js";
import type { BucketRow } from "../../src/query/chargebacks/bucket-limit.js";
import { createBucketLimitCache } from "../../src/query/chargebacks/bucket-limit-cache.js";
import type { AggregateInput } from "../../src/query/chargebacks/summed-rows.js";
import { dateWindow } from "../../src/query/time/date-window.js";
import { Classes } from "../ingest/classes.js";
import fc from "../property.js";

const first = midnightSeconds("2026-02-20");
const DAYS = 12;
const dayAt = (index: number) => dayOfSeconds(first + index * DAY_SECONDS);

/** Counts how often each day was published and how often names changed. Rows contain both counts. */
class Store {
  readonly published: number[] = Array.from({ length: DAYS }, () => 0);
  names = 0;
  changing = false;

  /** Rows in two currencies of published days, or of weeks with such days. Each row shows the state that it is of. */
  extents({ from, to }: { from: number; to: number }, timeBucket: "day" | "week"): BucketRow[] {
    const buckets = new Map<number, { last: number; states: string[] }>();
    for (const [index, times] of this.published.entries()) {
      const at = first + index * DAY_SECONDS;
      if (times === 0 || at < from || at >= to) continue;
      const bucket = timeBucket === "day" ? index : Math.floor(index / 7);
      const { states = [] } = buckets.get(bucket) ?? {};
      buckets.set(bucket, { last: at + 7 * 3600, states: [...states, `${index}: ${times}`] });
    }
    return [...buckets].flatMap(([bucket, { last, states }]) =>
      ["EUR", "USD"].map(
        (currency): BucketRow => [
          ...([bucket, last, currency, states.join(), `${this.names}`, "0"] as const),
          ...([1, 1, 0] as const),
        ],
      ),
    );
  }

  state() {
    const days = this.published.flatMap((times, index) =>
      times === 0 ? [] : [[dayAt(index), `${times}`] as const],
    );
    return { days: new Map(days), nameVersions: `${this.names}` };
  }
}

const day = fc.nat(DAYS - 1);
const send = fc.record({
  kind: fc.constant("ask" as const),
  days: fc.tuple(day, day),
  groupBy: fc.constantFrom("identity_id" as const, "tag:team" as const),
  timezone: fc.constantFrom("UTC", "UTC", "Etc/UTC", "Asia/Tokyo"),
  timeBucket: fc.constantFrom("day" as const, "day" as const, "day" as const, "week" as const),
  changing: fc.nat(9).map((drawn) => drawn === 0),
  /** A day that is published after the state was read. */
  meanwhile: fc.tuple(day, fc.nat(5)).map(([drawn, often]) => (often === 0 ? drawn : null)),
});
const step = fc.oneof(
  { weight: 5, arbitrary: send },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("publish" as const), day }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename" as const) }) },
);

const classes = [
  "nothing read",
  "some days read",
  "all days read",
  "changing",
  "published meanwhile",
  "another zone or bucket",
  "renamed",
] as const;

t.test("property: the bucket limit cache returns the same rows as a read of all days", async (t) => {
  const met = new Classes<(typeof classes)[number]>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const store = new Store();
      const memory = createBucketLimitCache();
      let isRenamed = false;
      for (const each of steps) {
        if (each.kind === "rename") {
          store.names += 1;
          isRenamed = true;
        } else if (each.kind === "publish") {
          store.published[each.day] = (store.published[each.day] ?? 0) + 1;
        } else {
          const [start_date = "", end_date = ""] = each.days.map(dayAt).sort();
          const window = dateWindow({ start_date, end_date, timezone: each.timezone }, 30, new Date());
          const input: AggregateInput = {
            window,
            filters: {},
            groupBy: [each.groupBy],
            timeBucket: each.timeBucket,
          };
          let readDays = 0;
          let publishing = each.meanwhile;
          const known = memory.ofTenant("acme", async () => (each.changing ? undefined : store.state()));
          const found = await known.of(input, async (wanted) => {
            if (publishing !== null) store.published[publishing] = (store.published[publishing] ?? 0) + 1;
            publishing = null;
            readDays += (wanted.to - wanted.from) / DAY_SECONDS;
            return store.extents(wanted, each.timeBucket);
          });
          // Names are part of the key where they are shown; elsewhere a rename does not invalidate anything.
          const shown = (rows: readonly BucketRow[]) =>
            each.groupBy === "tag:team" ? rows : rows.map((row) => row.filter((_, index) => index !== 4));
          t.strictSame(shown(found), shown(store.extents(window, each.timeBucket)));
          if (each.timezone === "Asia/Tokyo" || each.timeBucket === "week") met.met("another zone or bucket");
          else if (each.changing) met.met("changing");
          else if (readDays === 0) met.met("nothing read");
          else if (publishing !== each.meanwhile) met.met("published meanwhile");
          else if (readDays < (window.to - window.from) / DAY_SECONDS) met.met("some days read");
          else met.met("all days read");
          if (isRenamed && each.groupBy === "tag:team") met.met("renamed");
        }
      }
    }),
    { numRuns: 60 },
  );
  t.strictSame(met.missing(classes, 5), [], "every kind of read was met");
});

t.test("rows that changed while they were counted are not cached", async (t) => {
  const memory = createBucketLimitCache();
  const store = new Store();
  store.published.fill(1);
  const window = dateWindow({ start_date: dayAt(0), end_date: dayAt(1), timezone: "UTC" }, 30, new Date());
  const input: AggregateInput = { window, filters: {}, groupBy: ["identity_id"], timeBucket: "day" };
  const known = memory.ofTenant("acme", async () => store.state());
  let reads = 0;
  const read = (unsteady: 0 | 1) =>
    known.of(input, async (wanted) => {
      reads += 1;
      return store
        .extents(wanted, "day")
        .map((row) => [...row.slice(0, 8), unsteady] as unknown as BucketRow);
    });
  t.equal(
    (await read(1)).every((row) => row[8] === 1),
    true,
  );
  t.equal(reads, 2, "the whole window is read once more");
  await read(0);
  t.equal(reads, 3);
  await read(0);
  t.equal(reads, 3, "the rows come from the cache");
  t.equal(
    (await memory.ofTenant("globex", async () => store.state()).of(input, async () => [])).length,
    0,
    "each tenant has its own cache",
  );
});

t.test("a window of more than a thousand days is not cached", async (t) => {
  const memory = createBucketLimitCache();
  const window = dateWindow(
    { start_date: "2020-01-01", end_date: "2026-01-01", timezone: "UTC" },
    30,
    new Date(),
  );
  const input: AggregateInput = { window, filters: {}, groupBy: ["identity_id"], timeBucket: "day" };
  let reads = 0;
  for (const _ of [1, 2])
    await memory
      .ofTenant("acme", async () => ({ days: new Map([["2020-01-01", "a"]]), nameVersions: "" }))
      .of(input, async (wanted) => {
        reads += 1;
        t.strictSame(wanted, window);
        return [];
      });
  t.equal(reads, 2);
});
