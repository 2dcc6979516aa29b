/** A clock that is far ahead neither drops published days nor bills future days. */
import t from "tap";
import { addDays, dayOf } from "../../src/common/days.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { openTestStores } from "../stores.js";
import { reconciled, runContext, runOnce, runRows, shortTenants } from "./runs.js";

const today = dayOf(new Date());

/** Returns the first and the last day of the bill, each with its sum. */
async function daysOf(stores: OpenedStores, tenantName: string): Promise<string[]> {
  const rows = await runRows<{ text: string }>(
    stores,
    tenantName,
    "SELECT concat(toString(day), ' ', toString(sum(total_cost))) AS text FROM billing GROUP BY day ORDER BY day",
  );
  const [first, ...others] = rows.map(({ text }) => text);
  return [first ?? "", others.at(-1) ?? ""];
}

t.test("a clock that jumps after a run has read it changes nothing", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], ["retention_days: 8"]));
  const shown = [new Date("2026-03-01T12:00:00Z")];
  const now = () => shown.shift() ?? new Date("2026-03-30T12:00:00Z");
  const { status, dates_gathered } = await runOnce(runContext(stores, { now }), config, "acme");
  t.strictSame([status, dates_gathered], ["completed", 7]);
  t.strictSame(
    await daysOf(stores, "acme"),
    ["2026-02-21 7.2", "2026-02-27 7.2"],
    "the days are those of the first read of the clock",
  );
});

t.test("days that the stores cannot represent are refused", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], ["retention_days: 730"]));
  const run = async (start: string, end: string, now = "1970-02-01") =>
    await runOnce(runContext(stores, { now: () => new Date(`${now}T12:00:00Z`) }), config, "acme", {
      window: { start, end },
      forceGather: true,
    });
  const first = await run("1970-01-01", "1970-01-03");
  t.strictSame([first.status, first.dates_calculated], ["completed", 2]);
  const last = await run("2105-12-30", "2106-01-01", "2106-01-02");
  t.strictSame([last.status, last.dates_calculated], ["completed", 2]);
  const before = ["2105-12-30 7.2", "2105-12-31 7.2"];
  t.strictSame(await daysOf(stores, "acme"), before);
  for (const [start, end, shown] of [
    ["1969-12-31", "1970-01-02", "1969-12-31 to 1970-01-01"],
    ["1026-06-01", "2026-06-02", "1026-06-01 to 2026-06-01"],
    ["2105-12-31", "2106-01-02", "2105-12-31 to 2106-01-01"],
    ["2149-06-06", "2149-06-08", "2149-06-06 to 2149-06-07"],
    ["2299-12-30", "2300-01-01", "2299-12-30 to 2299-12-31"],
  ] as const) {
    const { status, errors, dates_gathered } = await run(start, end, "2106-01-02");
    t.strictSame([status, dates_gathered], ["failed", 0]);
    t.strictSame(
      errors.map(({ message }) => message),
      [
        `the days to gather are ${shown}, and the stores hold those from 1970-01-01 to 2105-12-31: nothing was gathered or dropped. Is the clock right?`,
      ],
    );
  }
  t.strictSame(await daysOf(stores, "acme"), before, "nothing has changed");
});

t.test("a clock that is far ahead stops the run", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], ["retention_days: 40"]));
  const run = async (day: string, changes = {}) =>
    await runOnce(runContext(stores, { now: () => new Date(`${day}T12:00:00Z`) }), config, "acme", changes);
  const published = async () => (await reconciled(stores, "acme")).days;
  const begun = addDays(today, -50);
  t.equal((await run(begun)).status, "completed");
  t.equal(await published(), 7);

  await t.test("a run 31 days after the last one is refused", async (t) => {
    for (let again = 1; again <= 2; again += 1) {
      const { status, errors, dates_gathered } = await run(addDays(begun, 31));
      t.strictSame([status, dates_gathered], ["failed", 0]);
      t.match(
        errors[0]?.message,
        /^the clock says .*, and the last run was 31 days before: nothing was gathered or dropped\. If the clock is right, run .* --force/,
      );
    }
    t.equal(await published(), 7);
  });

  await t.test(
    "a run 30 days after the last one, or after a clock that was behind, works as usual",
    async (t) => {
      t.equal((await run(addDays(begun, -300))).status, "completed");
      t.equal((await run(addDays(begun, 30))).status, "completed");
      t.equal(await published(), 14);
    },
  );

  await t.test("a forced run confirms that the clock is right", async (t) => {
    const late = addDays(begun, 61);
    t.match((await run(late)).errors[0]?.message, /the clock of Postgres says |the last run was/);
    t.equal((await run(late, { force: true })).status, "completed");
  });

  await t.test("a run whose clock is ahead of the clock of Postgres is refused", async (t) => {
    const { errors } = await run(addDays(today, 13));
    t.match(errors[0]?.message, new RegExp(`and the clock of Postgres says ${today}: nothing was gathered`));
  });
});
