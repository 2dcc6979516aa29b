/**
 * Compares the lease with a model: workers that acquire, prolong, publish and release in any order, that pause, are
 * killed, and whose clock jumps. Time passes by moving the ends of leases back, so that nothing waits. `npm run soak --
 * --lease-rounds N` draws more rounds.
 */
import t from "tap";
import { runStatement } from "../../src/postgres/statement.js";
import { prolongLease, releaseLease, takeLease } from "../../src/runner/sql/leases.js";
import { registerTenant } from "../../src/runner/sql/tenants.js";
import fc from "../property.js";
import { openTestStores } from "../stores.js";

const rounds = Number(process.env.LEASE_ROUNDS ?? 300);
const seconds = 60;
const workers = 3;

type Step =
  | { readonly does: "take" | "prolong" | "give back" | "is killed"; readonly who: number }
  | { readonly does: "time passes"; readonly seconds: number };

const who = fc.integer({ min: 0, max: workers - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant("take" as const), who }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant("prolong" as const), who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("give back" as const), who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("is killed" as const), who }) },
  {
    weight: 3,
    // Heartbeats, pauses around the lifetime of a lease, and clocks that jump, also back.
    arbitrary: fc.record({
      does: fc.constant("time passes" as const),
      seconds: fc.constantFrom(20, 59, 61, 3600, 86_400 * 365, -30, -3600),
    }),
  },
);

t.test("property: a lease has one holder at a time, and its epoch only grows", { timeout: 0 }, async (t) => {
  const { stores } = await openTestStores(t);
  const { postgres } = stores;
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      made += 1;
      const tenantName = `t${made}`;
      await runStatement(postgres, registerTenant({ tenantName, tenantId: tenantName, ecosystem: "test" }));
      /** The epochs that the workers believe to hold, and the actual holder with its remaining time. */
      const believed = new Map<number, number>();
      let holder: { who: number; epoch: number; left: number } | undefined;
      let epoch = 0;
      const isHeld = () => holder !== undefined && holder.left > 0;
      for (const each of steps) {
        if (each.does === "time passes") {
          await postgres.query(
            "UPDATE leases SET expires_at = expires_at - make_interval(secs => $2) WHERE tenant_name = $1",
            [tenantName, each.seconds],
          );
          const wasHeld = isHeld();
          if (holder !== undefined) holder.left -= each.seconds;
          count(
            each.seconds < 0
              ? "a clock goes back"
              : wasHeld && !isHeld()
                ? "a lease runs out"
                : "time passes",
          );
          continue;
        }
        const own = believed.get(each.who);
        if (each.does === "is killed") {
          believed.delete(each.who);
          count(
            own !== undefined && isHeld() && holder?.who === each.who
              ? "a holder is killed"
              : "another is killed",
          );
        } else if (each.does === "take") {
          const taken = await runStatement<{ epoch: number }>(
            postgres,
            takeLease({ tenantName, holder: `w${each.who}`, seconds }),
          );
          const got = taken.rows[0]?.epoch;
          if (isHeld() !== (got === undefined)) throw new Error("taken though held, or refused though free");
          if (got === undefined) {
            count("one that is held is refused");
            continue;
          }
          if (got !== epoch + 1) throw new Error(`epoch ${got} after ${epoch}`);
          count(holder === undefined || holder.who === each.who ? "taken" : "taken over");
          epoch = got;
          holder = { who: each.who, epoch, left: seconds };
          believed.set(each.who, got);
        } else if (own !== undefined) {
          const isOwn = isHeld() && holder?.epoch === own;
          if (each.does === "give back") {
            await runStatement(postgres, releaseLease({ tenantName, epoch: own }));
            if (holder?.epoch === own) holder.left = 0;
            believed.delete(each.who);
            count(isOwn ? "given back" : "given back too late");
          } else {
            const prolonged = await runStatement(postgres, prolongLease({ tenantName, epoch: own, seconds }));
            if ((prolonged.rowCount === 1) !== isOwn)
              throw new Error("prolonged though lost, or lost though held");
            if (isOwn && holder !== undefined) holder.left = seconds;
            else believed.delete(each.who);
            count(isOwn ? "prolonged" : "found to be lost");
          }
        }
      }
    }),
    { numRuns: rounds },
  );
  t.comment(`${made} rounds: ${[...counts].map(([what, times]) => `${what} ${times}`).join(", ")}`);
  t.strictSame(
    [...counts.keys()].sort(),
    [
      "a clock goes back",
      "a holder is killed",
      "a lease runs out",
      "another is killed",
      "found to be lost",
      "given back",
      "given back too late",
      "one that is held is refused",
      "prolonged",
      "taken",
      "taken over",
      "time passes",
    ],
    "each kind of case was drawn",
  );
});
