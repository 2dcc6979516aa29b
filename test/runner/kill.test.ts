import t from "tap";
import { killedTenant } from "./killing.js";

const rounds = Number(process.env.KILL_ROUNDS ?? 5);

t.test("kill -9 of a running worker, again and again", { timeout: 890_000 }, async (t) => {
  const tenant = killedTenant(t);
  for (let round = 0; round <= rounds; round += 1)
    await tenant.nextWorker(t, undefined, Math.random() * 1500);
});
