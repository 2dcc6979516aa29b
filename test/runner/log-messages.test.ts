import t from "tap";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import { daysBefore, recordingLogger, runContext, runOnce, shortTenants } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

t.test("a run ends with the log message of the interface", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
  const { upstream, ecosystems } = scriptedUpstream();
  upstream.bill.set(daysBefore(3), { "r-1": "10" });
  const { logger, lines } = recordingLogger();
  const context = runContext(stores, { ecosystems, logger });

  await runOnce(context, config, "acme");
  holds(t, lines.at(-1), { level: 30, msg: "Tenant acme: gathered=1, pending=1, calculated=1, rows=2" });

  upstream.gaps.add(daysBefore(2));
  upstream.bill.set(daysBefore(2), { "metered-1": "1" });
  upstream.sourceErrors = ['the source "x" failed'];
  await runOnce(context, config, "acme");
  holds(t, lines.at(-1), {
    level: 50,
    msg:
      'Tenant acme completed with errors: ["the source \\"x\\" failed",' +
      `"${daysBefore(2)}: the chargebacks are provisional: work of metered-1 could not be fetched: the test says so"]`,
  });
});
