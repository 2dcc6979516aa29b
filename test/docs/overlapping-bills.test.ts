/** Tests the configuration of the page about overlapping bills with bills as the page describes them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { billFolder, type Files } from "../ingest/focus/bill-files.js";
import { csv } from "../ingest/focus/bills.js";
import { runContext, runOnce, runRows } from "../runner/runs.js";
import { openTestStores } from "../stores.js";

const page = readFileSync(join(projectRoot(), "docs/how-to/charge-overlapping-bills-once.md"), "utf8");
const [, example = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(page) ?? [];

const bill = (resource: string, amounts: Readonly<Record<string, string>>) =>
  csv(
    Object.entries(amounts).map(([day, cost]) => ({
      ResourceId: resource,
      BilledCost: cost,
      EffectiveCost: cost,
      ChargePeriodStart: `2026-06-${day}T00:00:00Z`,
      ChargePeriodEnd: `2026-06-${day}T23:59:59Z`,
    })),
  );

const bills: Files = {
  "azure/daily/2026-06.csv": bill("vm", { "10": "100", "11": "200" }),
  "azure/once/2026-06.csv": bill("vm", { "10": "101", "11": "201", "12": "301" }),
  "vendor/2026-06-final.csv": bill("seat", { "10": "10" }),
  "vendor/2026-06-preliminary.csv": bill("seat", { "10": "11" }),
  "vendor/2026-06-draft.csv": bill("seat", { "10": "12" }),
  "desks/2026-06-a.csv": bill("desk", { "10": "1" }),
  "desks/2026-06-b.csv": bill("desk", { "10": "2" }),
  "desks/2026-06-b (1).csv": bill("desk", { "10": "2" }),
};

t.test("the configuration of the page charges each of its bills as described", async (t) => {
  const charge = async (yaml: string) => {
    const { config, stores } = await openTestStores(t, yaml.replaceAll("/bills", await billFolder(t, bills)));
    const { errors, notes } = await runOnce(runContext(stores), config, "cloud");
    const charged = await runRows<Record<string, string>>(
      stores,
      "cloud",
      "SELECT resource_id AS id, toString(day) AS day, toString(sum(amount)) AS amount FROM chargebacks GROUP BY id, day ORDER BY id, day",
    );
    return {
      errors: errors.map(({ message }) => message),
      notes,
      charged: charged.map(({ id, day, amount }) => `${id} ${day} ${amount}`),
    };
  };
  const { errors, notes, charged } = await charge(example);
  t.strictSame(errors, []);
  t.strictSame(charged, [
    "desk 2026-06-10 3",
    "seat 2026-06-10 10",
    "vm 2026-06-10 100",
    "vm 2026-06-11 200",
    "vm 2026-06-12 301",
  ]);
  t.ok(notes.includes('vendor: 1 file is left alone by `exclude`: "2026-06-draft.csv"'), notes.join("\n"));

  const undecided = example.replaceAll(/^.*(precedence:|exclude:|overlap:).*\n/gm, "");
  const undecidedRun = await charge(undecided);
  t.strictSame(undecidedRun.charged, [], "without the settings, every one of these months waits");
  t.equal(undecidedRun.errors.length, 5, undecidedRun.errors.join("\n"));
});
