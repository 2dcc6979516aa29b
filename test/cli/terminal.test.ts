/** Commands on a terminal as a user sees them: the result stays, nothing is removed, tables are intact. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { shortTenants } from "../runner/runs.js";
import { temporaryFolder } from "../stores.js";
import { onTerminal, type ScreenSize } from "./terminal.js";

const sizes: readonly ScreenSize[] = [
  { cols: 80, rows: 24 },
  { cols: 120, rows: 30 },
];

/** A tenant with an unreachable Prometheus. */
const wrongAddress = `
  metered:
    ecosystem: generic_metrics_only
    tenant_id: metered
    lookback_days: 3
    cutoff_days: 1
    storage: { connection_string: "embedded:metered" }
    plugin_settings:
      cluster_id: cluster
      metrics: { type: prometheus, url: "http://127.0.0.1:9" }
      identity_source: { source: static, static_identities: [{ identity_id: team-data }] }
      cost_types:
        - name: STORAGE
          product_category: storage
          rate: 1
          cost_quantity: { type: storage_gib, query: sum(bytes) }
          allocation_strategy: even_split`;

const errorsAt: Readonly<Record<number, readonly string[]>> = {
  80: [
    "  gather failed: 127.0.0.1:9/api/v1/query_range: cannot be reached",
    "    (ECONNREFUSED) (after 4 attempts)",
  ],
  120: [
    "  gather failed: 127.0.0.1:9/api/v1/query_range: cannot be reached (ECONNREFUSED) (after 4 attempts)",
  ],
};

/** Requests to an unreachable upstream are retried for ten seconds, so both terminals wait at once. */
t.jobs = sizes.length;

for (const size of sizes) {
  const { cols, rows } = size;
  t.test(`a terminal of ${cols} × ${rows}`, async (t) => {
    const folder = temporaryFolder(t);
    const config = join(folder, "chargehouse.yaml");
    writeFileSync(config, `data_dir: ${folder}/data\n${shortTenants(["acme"])}${wrongAddress}`);

    await t.test("run reports an unreachable Prometheus, and the other tenant's result", async (t) => {
      const run = onTerminal(["run", "--config", config], size);
      t.equal(await run.ended, 1);
      const lines = run.lines();
      t.strictSame(
        lines,
        [
          "acme     7 days published, 7 rows",
          "metered  FAILED: no days gathered",
          ...(errorsAt[cols] ?? []),
          "  48 rows, 0 USD: left_out (failed)",
        ],
        "the error is shown once",
      );
      t.equal(run.cursorShown(), true);
      const bars = run.frames.map((frame) => frame.at(-1) ?? "").filter((line) => /[█░]/.test(line));
      t.ok(bars.length > 0, "there was a bar while there were days to publish");
      const lengths = bars.map((line) => line.split("█").length);
      t.strictSame(
        lengths,
        lengths.toSorted((a, b) => a - b),
        "the bar never moves back",
      );
      t.ok(
        bars.every((line) => line.length < cols),
        "the bar fits into one line",
      );
    });

    await t.test("a successful run leaves only its result on the terminal", async (t) => {
      const run = onTerminal(["run", "--config", config, "--tenant", "acme", "--force"], size);
      t.equal(await run.ended, 0);
      t.strictSame(run.lines(), ["acme  7 days published, 7 rows"]);
    });

    await t.test("the table of reconcile fits the terminal", async (t) => {
      const run = onTerminal(["reconcile", "--config", config], size);
      t.equal(await run.ended, 3);
      const lines = run.lines().map((line) => line.replace(/\d{4}-\d\d-\d\d/, "YYYY-MM-DD"));
      t.strictSame(lines, [
        "TENANT  DAY         LINES  ROWS  BILLING USD  CHARGEBACKS USD  DIFF",
        ...Array(7).fill("acme    YYYY-MM-DD      1     1          7.2              7.2     0"),
        "acme    7 days          7     7         50.4             50.4     0",
        "",
        "Delivered rows, or hours of priced metrics, by class:",
        "TENANT   CLASS              ROWS  COST USD",
        "acme     delivered           168      50.4",
        "acme     charged             168      50.4",
        "acme     not accounted for     0         0",
        "metered  delivered            48         0",
        "metered  left_out (failed)    48         0",
        "metered  not accounted for     0         0",
        "Every line adds up.",
        "Nothing to prove: metered has no published days.",
      ]);
    });
  });
}
