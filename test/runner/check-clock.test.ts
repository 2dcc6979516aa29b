/** The clocks that a run accepts, compared with a model at every edge, by the clock of Postgres and by earlier runs. */
import { strict as assert } from "node:assert";
import t from "tap";
import { runStatement } from "../../src/postgres/statement.js";
import { checkClock } from "../../src/runner/check-clock.js";
import { registerTenant } from "../../src/runner/sql/tenants.js";
import { Classes } from "../ingest/classes.js";
import fc from "../property.js";
import { openTestStores } from "../stores.js";
import { DAY, MINUTE } from "./moving-clock.js";
import { tenantOf } from "./runs.js";

/** The time of the clock in ms after the latest clock of a run, or after that of Postgres. */
const step = fc.record({
  from: fc.constantFrom("latest" as const, "postgres" as const),
  ms: fc.oneof(
    fc.constantFrom(0, 1, -1, 30 * DAY, 30 * DAY - 1, DAY - 5 * MINUTE, DAY + 5 * MINUTE),
    // By far the rarest kind, because it needs an old clock before it.
    fc.constant(30 * DAY + 1),
    fc.integer({ min: -400 * DAY, max: 400 * DAY }),
  ),
  confirmation: fc.constantFrom(undefined, undefined, "force" as const, "forceGather" as const),
});

const names = [
  "the first run",
  "goes on",
  "goes back",
  "stands still",
  "30 days",
  "30 days and a millisecond",
  "a long pause",
  "ahead of Postgres",
  "ahead by less than a day",
  "confirmed by force",
  "confirmed by forceGather",
] as const;

t.test("property: a run accepts clocks that are near the other clocks", async (t) => {
  const { config, stores } = await openTestStores(t);
  const { postgres } = stores;
  const classes = new Classes<(typeof names)[number]>();
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
      made += 1;
      const tenantName = `t${made}`;
      const tenant = { ...tenantOf(config, "acme"), tenant_name: tenantName };
      await runStatement(postgres, registerTenant({ tenantName, tenantId: tenantName, ecosystem: "test" }));
      let latest: number | undefined;
      for (const { from, ms, confirmation } of steps) {
        const now = Date.now();
        const clock = (from === "latest" && latest !== undefined ? latest : now) + ms;
        const isAhead = clock - now > DAY;
        const pause = latest === undefined ? 0 : clock - latest;
        const why = isAhead
          ? `the clock of Postgres says ${new Date(now).toISOString().slice(0, 10)}`
          : pause > 30 * DAY
            ? `the last run was ${Math.floor(pause / DAY)} days before`
            : undefined;
        // Some time passes between reading this clock and that of Postgres.
        if (Math.abs(clock - now - DAY) < MINUTE) continue;
        const request = {
          trigger: "cli" as const,
          signal: new AbortController().signal,
          ...(confirmation !== undefined && { [confirmation]: true }),
        };
        const check = checkClock({ stores, tenant, request }, new Date(clock));
        if (why !== undefined && confirmation === undefined) {
          const day = new Date(clock).toISOString().slice(0, 10);
          await assert.rejects(check, {
            message: `the clock says ${day}, and ${why}: nothing was gathered or dropped. If the clock is right, run the tenant once with --force, or with force_gather by the API`,
          });
          classes.met(isAhead ? "ahead of Postgres" : "a long pause");
          if (!isAhead && pause === 30 * DAY + 1) classes.met("30 days and a millisecond");
        } else {
          await check;
          if (latest === undefined) classes.met("the first run");
          else if (pause === 30 * DAY) classes.met("30 days");
          else classes.met(pause > 0 ? "goes on" : pause < 0 ? "goes back" : "stands still");
          if (why !== undefined && confirmation !== undefined) classes.met(`confirmed by ${confirmation}`);
          if (clock > now + MINUTE && !isAhead) classes.met("ahead by less than a day");
          latest = Math.max(latest ?? clock, clock);
        }
        const { rows } = await postgres.query<{ run_clock: Date | null }>(
          "SELECT run_clock FROM tenants WHERE tenant_name = $1",
          [tenantName],
        );
        assert.equal(rows[0]?.run_clock?.getTime(), latest, "the latest accepted clock is kept");
      }
    }),
    { numRuns: 300 },
  );
  t.strictSame(classes.missing(names, 2), [], "every kind of clock occurred");
});
