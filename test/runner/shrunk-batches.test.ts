/** Batches whose rows take more memory than estimated. */
import t from "tap";
import { usualLimits } from "../../src/runner/tenant-run.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import { daysBefore, reconciled, recordingLogger, runContext, runOnce, shortTenants } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const days = [8, 7, 6, 5, 4, 3, 2].map(daysBefore);

t.test("batches are smaller after one that took too much memory", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], []));
  const { upstream, ecosystems } = scriptedUpstream();
  const { logger, lines } = recordingLogger();
  for (const day of days) upstream.bill.set(day, { "metered-1": "1000" });
  // The memory suffices for one day, not for two.
  upstream.crowd = 20_000;
  const limits = { ...usualLimits, maxDays: 4, maxMemoryBytes: 35e6 };
  const result = await runOnce(runContext(stores, { ecosystems, logger, limits }), config, "acme");
  holds(t, result, { status: "completed", dates_calculated: days.length });
  holds(t, await reconciled(stores, "acme"), { off: [], staged: 0 });
  const failed = lines.filter(({ msg }) => msg === "a batch of days failed; trying each half of it");
  t.strictSame(
    failed.map((line) => line.days),
    [4, 2, 2, 2],
    "the first batch and its halves, then a batch that was cut before these halves failed",
  );
});
