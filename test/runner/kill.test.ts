import t from "tap";
import { killedTenant, type Victim, victims } from "./killing.js";

/** `npm run soak` sets more rounds. */
const rounds = Number(process.env.KILL_ROUNDS ?? 8);

t.test("kill -9 of a worker, its stores or all of them leaves complete days", { timeout: 0 }, async (t) => {
  const tenant = killedTenant(t);
  const kills = new Map<Victim, number>();
  const waits = new Map<Victim, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    const victim = victims[round % victims.length] ?? "worker";
    await t.test(`${round + 1}: ${victim}`, async (t) => {
      const { resumed } = await tenant.nextWorker(t, { victim, after: Math.random() * 1500 });
      kills.set(victim, (kills.get(victim) ?? 0) + 1);
      if (resumed !== undefined) waits.set(victim, [...(waits.get(victim) ?? []), resumed / 1000]);
    });
  }
  await t.test("the data of the last kill is complete", async (t) => {
    await tenant.nextWorker(t, { victim: "worker", after: 0 });
  });
  t.strictSame([...kills.keys()], victims.slice(0, rounds), "each of them was killed");
  for (const [victim, times] of kills) {
    const seconds = waits.get(victim)?.sort((a, b) => a - b) ?? [];
    const median = seconds[Math.floor(seconds.length / 2)]?.toFixed(1);
    const went =
      median &&
      `; a whole run was done ${median} s after it (median), ${seconds.at(-1)?.toFixed(1)} s at most`;
    t.comment(`${victim}: ${times} kills${went ?? ""}`);
  }
});
