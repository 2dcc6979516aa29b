/**
 * All connections to Postgres break at a statement of a run: before it is sent, or after it is executed and before its
 * response arrives. At any statement, no reader sees a day that does not add up, and the next run produces the same
 * data as one undisturbed run. `CUT_STRIDE=1` tests every statement instead of every seventh.
 */
import t from "tap";
import fc from "../property.js";
import { openTestStores } from "../stores.js";
import { cutConnections, cutModes } from "./cut-connections.js";
import { chargedOn, daysBefore, reconciled, runContext, runOnce, runRecords, shortTenants } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const stride = Number(process.env.CUT_STRIDE ?? "7");

t.test("a run survives the loss of Postgres at any statement", async (t) => {
  const { config, stores } = await openTestStores(
    t,
    shortTenants(["acme"], ["gather_failure_threshold: 1000"]),
  );
  const { upstream, ecosystems } = scriptedUpstream();
  const context = runContext(stores, { ecosystems });
  const days = [2, 3, 4, 5, 6, 7, 8].map(daysBefore);
  for (const day of days) upstream.bill.set(day, { "r-1": "10", "metered-1": "8" });
  const cuts = await cutConnections(t, stores.postgres);
  await runOnce(context, config, "acme");

  let version = 0;
  /** Changes the bill of two days; a line of one is removed or added. */
  const change = () => {
    version += 1;
    upstream.bill.set(daysBefore(3), { "r-1": String(10 + version), "metered-1": "8" });
    const more = version % 2 === 0 ? {} : { "r-2": "1" };
    upstream.bill.set(daysBefore(5), { "r-1": "10", "metered-1": "8", ...more });
  };
  const expected = () => [
    ["ann: 2", "bob: 6", `ann: ${(10 + version) / 2}`, `bob: ${(10 + version) / 2}`],
    ["ann: 2", "bob: 6", "ann: 5", "bob: 5", ...(version % 2 === 0 ? [] : ["ann: 0.5", "bob: 0.5"])],
  ];
  const charged = async () => [
    await chargedOn(stores, "acme", daysBefore(3)),
    await chargedOn(stores, "acme", daysBefore(5)),
  ];

  change();
  cuts.arm(Number.POSITIVE_INFINITY, "before");
  await runOnce(context, config, "acme");
  const { count } = cuts.state();
  t.ok(count > 30, `a run has ${count} statements`);
  t.strictSame(await charged(), expected());

  const [offset = 0] = fc.sample(fc.integer({ min: 1, max: stride }), 1);
  const ends = new Map<string, number>();
  let planned = 0;
  for (const mode of cutModes) {
    for (let statement = offset; statement <= count; statement += stride) {
      change();
      cuts.arm(statement, mode);
      const end = await runOnce(context, config, "acme").then(
        ({ status }) => status,
        (error: Error) => `not recorded: ${error.message}`,
      );
      cuts.disarm();
      planned += 1;
      const { cutAt } = cuts.state();
      // Some runs have two statements fewer than others.
      if (cutAt === undefined) continue;
      ends.set(end, (ends.get(end) ?? 0) + 1);
      await t.test(`${mode} statement ${statement}, ${cutAt}: ${end}`, async (t) => {
        t.strictSame((await reconciled(stores, "acme")).off, [], "the visible data adds up");
        const { rows } = await stores.postgres.query("SELECT gather_failures FROM tenants");
        t.strictSame(rows, [{ gather_failures: 0 }], "no failure of the upstream is counted");
        // The response to the lease was lost, so nobody holds it, and it expires after a minute.
        if (cutAt.startsWith("INSERT INTO leases"))
          await stores.postgres.query("UPDATE leases SET expires_at = now()");
        const next = await runOnce(context, config, "acme");
        t.strictSame([next.status, next.errors], ["completed", []]);
        t.strictSame(await charged(), expected());
        t.strictSame((await reconciled(stores, "acme")).staged, 0);
        const records = await runRecords(stores, "acme");
        t.strictSame(
          records.filter(({ ended_at }) => ended_at === null),
          [],
          "no record stays open",
        );
      });
    }
  }
  const hit = [...ends.values()].reduce((sum, count) => sum + count, 0);
  t.ok(hit > planned * 0.9, `${hit} of ${planned} statements were hit`);
  t.comment(JSON.stringify(Object.fromEntries(ends)));
});
