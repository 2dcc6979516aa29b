/**
 * A clock that moves in every way over every edge of the calendar, in processes of several time zones. After each run,
 * the published data equals a model and adds up. `CLOCK_HISTORIES` draws more than one history per start.
 */
import { strict as assert } from "node:assert";
import t from "tap";
import { Classes } from "../ingest/classes.js";
import fc from "../property.js";
import { openTestStores } from "../stores.js";
import { LOOKBACK } from "./clocked-upstream.js";
import {
  CUTOFF,
  clockedTenant,
  clockSettings,
  DAY,
  dayNumber,
  dayText,
  MINUTE,
  type Outcome,
} from "./moving-clock.js";
import { shortTenants } from "./runs.js";

const histories = Number(process.env.CLOCK_HISTORIES ?? 1);

/** Starts of histories: the first window has an edge of the calendar, or of the storable range. */
const starts: Readonly<Record<string, readonly string[]>> = {
  UTC: ["1970-01-09"],
  "America/New_York": ["2024-03-03", "2025-11-05"],
  "Australia/Lord_Howe": ["2025-04-08", "2100-03-04"],
  "Asia/Kathmandu": ["2024-01-04", "2106-01-03"],
};

const moves = [
  "minutes on",
  "days on",
  "to the last instant of a day",
  "to the first instant of a day",
  "to the first of a month",
  "30 days after the latest",
  "a millisecond more",
  "minutes back",
  "days back",
  "back to the first run",
  "far on",
  "far on, and somebody says that it is right",
  "not at all",
] as const;
type Move = (typeof moves)[number];

const step = (move: Move) =>
  fc.record({
    move: fc.constant(move),
    minutes: fc.integer({ min: 1, max: 700 }),
    days: fc.integer({ min: 1, max: 9 }),
    far: fc.integer({ min: 31, max: 4000 }),
    jolt: fc.constantFrom(undefined, "midnight", "weeks"),
    at: fc.constantFrom("look" as const, "window" as const),
  });
type Step = Readonly<typeof step extends (move: Move) => fc.Arbitrary<infer Drawn> ? Drawn : never>;

/** Every move once, in any order. */
const course = fc
  .shuffledSubarray([...moves], { minLength: moves.length })
  .chain((order) => fc.tuple(...order.map(step)));

/** The first clock of the history, the current one, and the latest that a run has accepted. */
type Clocks = Readonly<Record<"first" | "clock" | "latest", number>>;

function moved({ first, clock, latest }: Clocks, { move, minutes, days, far }: Step): number {
  const today = dayNumber(clock);
  switch (move) {
    case "minutes on":
      return clock + minutes * MINUTE;
    case "days on":
      return clock + days * DAY + minutes * MINUTE;
    case "to the last instant of a day":
      return (today + 2) * DAY - 1;
    case "to the first instant of a day":
      return (today + 1) * DAY;
    case "to the first of a month": {
      const at = new Date(clock);
      return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
    }
    case "30 days after the latest":
      return latest + 30 * DAY;
    case "a millisecond more":
      return latest + 30 * DAY + 1;
    case "minutes back":
      return clock - minutes * MINUTE;
    case "days back":
      return clock - days * DAY;
    case "back to the first run":
      return first;
    case "far on":
      return latest + far * DAY;
    case "far on, and somebody says that it is right":
      return latest + (far % 100) * DAY + 31 * DAY;
    case "not at all":
      return clock;
  }
}

const classNames = [
  ...moves,
  ...([
    "done",
    "refused: pause",
    "refused: ahead",
    "refused: not stored",
  ] as const satisfies readonly Outcome[]),
  "the clock passes midnight in a run",
  "the clock jumps in a run",
  "published on the last day of its lookback",
  "corrected",
  "dropped by retention",
  "gathered again after it was dropped",
  "29 February is gathered",
  "28 February of a common century, and what follows it",
  "a year ends",
  "a month ends",
  "clocks of the process change",
  "the first day that can be stored",
  "the last day that can be stored",
  "as one run would have made it",
] as const;
const classes = new Classes<(typeof classNames)[number]>();

/** True for a clock change in the time zone of the process. */
const isClockChange = (day: number) =>
  new Date(day * DAY).getTimezoneOffset() !== new Date((day + 1) * DAY).getTimezoneOffset();

function countWindow(today: number): void {
  for (let day = today - LOOKBACK; day < today - CUTOFF; day += 1) {
    const [text, next] = [dayText(day), dayText(day + 1)];
    if (text.endsWith("-02-29")) classes.met("29 February is gathered");
    if (text === "2100-02-28" && next === "2100-03-01" && day + 1 < today - CUTOFF)
      classes.met("28 February of a common century, and what follows it");
    if (next.endsWith("-01-01")) classes.met("a year ends");
    if (next.endsWith("-01")) classes.met("a month ends");
    if (isClockChange(day)) classes.met("clocks of the process change");
    if (text === "1970-01-01") classes.met("the first day that can be stored");
    if (text === "2105-12-31") classes.met("the last day that can be stored");
  }
}

const zoneBefore = process.env.TZ;
for (const [zone, bases] of Object.entries(starts)) {
  t.test(`published days are right for any change of the clock in ${zone}`, { timeout: 0 }, async (t) => {
    process.env.TZ = zone;
    t.teardown(() => {
      if (zoneBefore === undefined) delete process.env.TZ;
      else process.env.TZ = zoneBefore;
    });
    const names = bases.flatMap((_, base) =>
      Array.from({ length: histories }, (_, at) => [`t${base}_${at}`, `r${base}_${at}`]).flat(),
    );
    const opened = await openTestStores(
      t,
      shortTenants(names, clockSettings).replaceAll("    cutoff_days: 1\n", ""),
    );
    t.equal(new Date(0).getTimezoneOffset() === 0, zone === "UTC", "the process has the zone");
    for (const [base, start] of bases.entries()) {
      let at = 0;
      await fc.assert(
        fc.asyncProperty(course, fc.integer({ min: 0, max: DAY - 1 }), async (steps, ms) => {
          await live(opened, { start, ms, steps, base, at: at++ });
        }),
        { numRuns: histories, endOnFailure: true },
      );
      t.pass(`from ${start}`);
    }
  });
}

interface History {
  readonly start: string;
  readonly ms: number;
  readonly steps: readonly Step[];
  readonly base: number;
  readonly at: number;
}

async function live(
  opened: Awaited<ReturnType<typeof openTestStores>>,
  { start, ms, steps, base, at }: History,
): Promise<void> {
  const isFuture = start > "2026";
  const first = Date.parse(`${start}T00:00:00Z`) + ms;
  const truth = { at: first };
  const tenant = clockedTenant(opened, `t${base}_${at}`, truth);
  const log = [`${new Date(first).toISOString()} at first`];
  const dropped = new Set<number>();
  const run = async (clock: number, options: NonNullable<Parameters<typeof tenant.run>[1]>) => {
    try {
      const result = await tenant.run(clock, options);
      classes.met(result.outcome);
      if (result.outcome !== "done") return result;
      const today = dayNumber(clock);
      countWindow(today);
      for (const day of result.published) {
        if (day === today - LOOKBACK) classes.met("published on the last day of its lookback");
        if (dropped.has(day)) classes.met("gathered again after it was dropped");
      }
      for (const day of result.dropped) dropped.add(day);
      if (result.corrected.length > 0) classes.met("corrected");
      if (result.dropped.length > 0) classes.met("dropped by retention");
      return result;
    } catch (error) {
      throw new Error(`${log.join("\n")}\n${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
  };
  await run(first, { confirmed: isFuture });
  let clock = first;
  for (const each of steps) {
    const { move, jolt, at: moment, days } = each;
    const to = moved({ first, clock, latest: tenant.latest() }, each);
    const confirmed = isFuture || move === "far on, and somebody says that it is right";
    const midnight = (dayNumber(to) + 1) * DAY;
    const joltTo = { midnight, weeks: to + days * 50 * DAY };
    log.push(
      `${new Date(to).toISOString()} ${move}${confirmed ? ", confirmed" : ""} ${jolt ?? ""} ${moment}`,
    );
    const result = await run(to, {
      confirmed,
      jolt: jolt === undefined ? undefined : { at: moment, to: joltTo[jolt] },
    });
    classes.met(move);
    if (jolt !== undefined && result.outcome === "done")
      classes.met(jolt === "midnight" ? "the clock passes midnight in a run" : "the clock jumps in a run");
    // A refused clock is corrected.
    if (result.outcome === "done") clock = to;
    if (result.outcome === "done" && jolt === "midnight") clock = midnight;
  }
  log.push(`${new Date(clock).toISOString()} at last, twice`);
  const confirmed = true;
  const last = await run(clock, { confirmed });
  if (last.outcome === "done") {
    const again = await run(clock, { confirmed });
    assert.deepEqual([again.published, again.dropped], [[], []], "a second run changes nothing");
    const undisturbed = clockedTenant(opened, `r${base}_${at}`, truth);
    await undisturbed.run(clock, { confirmed });
    const [rows, expected] = [await tenant.rowsAt(clock), await undisturbed.rowsAt(clock)];
    assert.deepEqual(rows, expected, "as one run would have made it");
    classes.met("as one run would have made it");
  }
}

t.test("every kind of step and of day occurred", async (t) => {
  t.comment(classes.missing(classNames, Number.POSITIVE_INFINITY).join(", "));
  t.strictSame(classes.missing(classNames, 1), []);
});
