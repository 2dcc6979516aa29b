import t from "tap";
import { reconcileDays } from "../../src/query/state/reconcile.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import { runContext, runOnce, trackingDate } from "./runs.js";

t.test("a run gathers, allocates and publishes the window", async (t) => {
  const { config, stores } = await openTestStores(t);
  const context = runContext(stores);
  const first = await runOnce(context, config, "acme");
  holds(t, first, {
    status: "completed",
    dates_gathered: 195,
    dates_pending: 195,
    dates_calculated: 195,
    chargeback_rows_written: 195,
  });
  const { client } = await stores.tenant("acme");
  const signal = new AbortController().signal;
  const { days, totals } = await reconcileDays(client, signal);
  t.equal(days.length, 195);
  holds(
    t,
    totals,
    [{ currency: "USD", billing: "1404", chargebacks: "1404", difference: "0", lines_off: "0" }],
    "195 days of 3 x 24 h at 0.10",
  );
  holds(t, await trackingDate(stores, "acme", "2026-06-24"), {
    billing_gathered: true,
    resources_gathered: true,
    chargeback_calculated: true,
    staged_hash: null,
    publishing_hash: null,
  });
  t.equal(
    await trackingDate(stores, "acme", "2026-06-25"),
    undefined,
    "days within cutoff_days are left out",
  );

  await t.test("a second run finds nothing to do", async (t) => {
    const second = await runOnce(context, config, "acme");
    holds(t, second, { status: "completed", dates_gathered: 195, dates_pending: 0, dates_calculated: 0 });
  });

  await t.test("a run with --force recalculates the same rows", async (t) => {
    const rows = async () =>
      await (
        await client.query({
          query: "SELECT groupBitXor(cityHash64(*)) AS h, count() AS n FROM chargebacks",
          format: "JSONEachRow",
        })
      ).json();
    const before = await rows();
    const forced = await runOnce(context, config, "acme", { force: true });
    holds(t, forced, { status: "completed", dates_calculated: 195 });
    t.same(await rows(), before);
  });

  await t.test("staging is empty after a run", async (t) => {
    const staged = await client.query({
      query:
        "SELECT sum(total_rows) AS n FROM system.tables WHERE database = currentDatabase() AND name LIKE 'staged_%'",
      format: "JSONEachRow",
    });
    t.equal(Number((await staged.json<{ n: string }>())[0]?.n), 0);
  });
});
