import t from "tap";
import { killedTenant, victims } from "./killing.js";

/** `npm run soak` sets more of them. */
const rounds = Number(process.env.KILL_ROUNDS ?? 8);

t.test(
  "kill -9 of a running worker, its engine, its Postgres and all of them, again and again",
  { timeout: 0 },
  async (t) => {
    const tenant = killedTenant(t);
    for (let round = 0; round < rounds; round += 1) {
      const victim = victims[round % victims.length] ?? "worker";
      await t.test(`${round + 1}: ${victim}`, async (t) => {
        const { resumed } = await tenant.nextWorker(t, { victim, after: Math.random() * 1500 });
        if (resumed !== undefined) t.comment(`runs went on after ${(resumed / 1000).toFixed(1)} s`);
      });
    }
    await t.test("what the last one left", async (t) => {
      await tenant.nextWorker(t, { victim: "worker", after: 0 });
    });
  },
);
