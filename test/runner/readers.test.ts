import t from "tap";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import { until } from "../until.js";
import { daysBefore, runContext, runOnce, runRows, shortTenants } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

/** Two versions of each day, which differ in amounts, identities and the number of lines. */
const versions = [
  { bill: { "r-1": "10", "r-2": "20", "metered-1": "70" }, total: "100" },
  { bill: { "r-1": "120", "metered-1": "1", "metered-2": "29" }, total: "150" },
] as const;

t.test("readers during a publish see the old day or the new one, never a part", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
  const { upstream, ecosystems } = scriptedUpstream({ crowd: 200 });
  const days = [2, 3, 4, 5, 6, 7, 8].map(daysBefore);
  const context = runContext(stores, { ecosystems });
  const bill = (version: (typeof versions)[number] | undefined) => {
    for (const day of days) upstream.bill.set(day, { ...version?.bill });
  };
  bill(versions[0]);
  await runOnce(context, config, "acme");

  let isOver = false;
  const sums = new Map<string, number>();
  const read = async () => {
    while (!isOver) {
      const rows = await runRows<{ day: string; charged: string }>(
        stores,
        "acme",
        "SELECT toString(day) AS day, toString(sum(amount)) AS charged FROM chargebacks GROUP BY day",
      );
      if (rows.length !== days.length)
        sums.set(`${rows.length} days`, (sums.get(`${rows.length} days`) ?? 0) + 1);
      for (const { charged } of rows) sums.set(charged, (sums.get(charged) ?? 0) + 1);
    }
  };
  const readers = [read(), read(), read()];
  for (let round = 1; round <= 4; round += 1) {
    bill(versions[round % 2]);
    holds(t, await runOnce(context, config, "acme"), { status: "completed", dates_calculated: 7 });
    const before = [...sums.values()].reduce((sum, n) => sum + n, 0);
    await until(
      "the readers have read again",
      () => [...sums.values()].reduce((sum, n) => sum + n, 0) > before,
    );
  }
  isOver = true;
  await Promise.all(readers);
  t.same(
    [...sums.keys()].sort(),
    versions.map((version) => version.total),
    `only these sums: ${[...sums]}`,
  );
});
