/** A clock that is far ahead neither drops what is published nor bills days that have not been. */
import t from "tap";
import { addDays, dayOf } from "../../src/time/days.js";
import { openTestStores } from "../stores.js";
import { reconciled, runContext, runOnce, shortTenants } from "./runs.js";

const today = dayOf(new Date());

t.test("a clock that is far ahead", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], ["retention_days: 40"]));
  const run = async (day: string, changes = {}) =>
    await runOnce(runContext(stores, { now: () => new Date(`${day}T12:00:00Z`) }), config, "acme", changes);
  const published = async () => (await reconciled(stores, "acme")).days;
  const begun = addDays(today, -50);
  t.equal((await run(begun)).status, "completed");
  t.equal(await published(), 7);

  await t.test("31 days after the last run: the run is refused", async (t) => {
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

  await t.test("30 days after it, or after a clock that was behind: as ever", async (t) => {
    t.equal((await run(addDays(begun, -300))).status, "completed");
    t.equal((await run(addDays(begun, 30))).status, "completed");
    t.equal(await published(), 14);
  });

  await t.test("somebody says that it is right", async (t) => {
    const late = addDays(begun, 61);
    t.match((await run(late)).errors[0]?.message, /the clock of Postgres says |the last run was/);
    t.equal((await run(late, { force: true })).status, "completed");
  });

  await t.test("ahead of the clock of Postgres: the run is refused", async (t) => {
    const { errors } = await run(addDays(today, 13));
    t.match(errors[0]?.message, new RegExp(`and the clock of Postgres says ${today}: nothing was gathered`));
  });
});
