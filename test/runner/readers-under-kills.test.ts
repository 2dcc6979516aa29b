/** Reads of sums while the engine is killed within runs: each response has complete days, or the read fails. */
import { setTimeout as delay } from "node:timers/promises";
import t from "tap";
import { openTestStores } from "../stores.js";
import { until } from "../until.js";
import { daysBefore, reconciled, runContext, runOnce, runRows, shortTenants } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const versions = [
  { bill: { "r-1": "10", "r-2": "20", "metered-1": "70" }, total: "100" },
  { bill: { "r-1": "120", "metered-1": "1", "metered-2": "29" }, total: "150" },
] as const;
const days = [2, 3, 4, 5, 6, 7, 8].map(daysBefore);
const KILLS = 8;

/** One statement each. */
const sums = {
  chargebacks: "SELECT toString(day) AS day, toString(sum(amount)) AS total FROM chargebacks GROUP BY day",
  billing:
    "SELECT toString(day) AS day, toString(sum(total_cost)) AS total FROM published_billing GROUP BY day",
  sums: "SELECT toString(day) AS day, toString(sum(amount_hi + amount_lo)) AS total FROM published_sums_by_identity GROUP BY day",
} as const;

t.test("sums that are read while the engine is killed are of complete days", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
  const { upstream, ecosystems } = scriptedUpstream({ crowd: 200 });
  const run = () => runOnce(runContext(stores, { ecosystems }), config, "acme");
  const bill = (version: (typeof versions)[number] | undefined) => {
    for (const day of days) upstream.bill.set(day, { ...version?.bill });
  };
  bill(versions[0]);
  t.equal((await run()).status, "completed");

  const outcomes = new Map<string, number>();
  const note = (what: string) => outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
  let isOver = false;
  const read = async (name: keyof typeof sums) => {
    while (!isOver) {
      try {
        const rows = await runRows<{ day: string; total: string }>(stores, "acme", sums[name]);
        note(`${name} ${rows.length} days`);
        for (const { total } of rows) note(`${name} ${total}`);
      } catch {
        note("no response");
        await delay(20);
      }
    }
  };
  const readers = (Object.keys(sums) as (keyof typeof sums)[]).map(read);
  let killed = 0;
  for (let turn = 1; turn <= KILLS; turn += 1) {
    bill(versions[turn % 2]);
    const running = run();
    await delay(150 * turn);
    const pid = stores.embeddedClickHouse?.pid();
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    killed += pid === undefined ? 0 : 1;
    await running;
    await until("a run is whole", async () => (await run()).status === "completed");
    t.strictSame((await reconciled(stores, "acme")).off, []);
  }
  isOver = true;
  await Promise.all(readers);
  t.equal(killed, KILLS);
  const names = Object.keys(sums).sort();
  const expected = names.flatMap((name) => [`${name} 100`, `${name} 150`, `${name} 7 days`]);
  t.strictSame(
    [...outcomes.keys()].filter((each) => each !== "no response").sort(),
    expected.sort(),
    `only these: ${[...outcomes]}`,
  );
  t.ok((outcomes.get("no response") ?? 0) > 0, "some reads met a killed engine");
});
