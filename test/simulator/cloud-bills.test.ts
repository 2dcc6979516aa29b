/** Simulated bills conform to FOCUS, and the same seed produces the same bill. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { checkFile } from "../../src/focus/check/check-file.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { csvGzOf, parquetOf } from "../../src/simulator/bills/files.js";
import { billionths } from "../../src/simulator/bills/line.js";
import { type MonthOptions, simulatedLines } from "../../src/simulator/bills/month.js";
import { aws, azure, google } from "../../src/simulator/bills/providers.js";
import { temporaryFolder, testLogger } from "../stores.js";

const october: MonthOptions = {
  seed: 1,
  resources: 40,
  month: "2026-10-01",
  closed: true,
  days: ["2026-10-05", "2026-11-01"],
};

t.test("billionths are formatted as decimal text", async (t) => {
  t.strictSame([1_500_000_000, 0, -1, 30, 9_007_199_254_740_991].map(billionths), [
    "1.5",
    "0",
    "-0.000000001",
    "0.00000003",
    "9007199.254740991",
  ]);
  t.throws(() => billionths(2 ** 53), { message: "an amount of a simulated bill is too large" });
});

t.test("a month of each provider in its own format has no findings", async (t) => {
  const folder = temporaryFolder(t);
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());
  const files = [
    ["aws.parquet", parquetOf(simulatedLines(aws, october), "map"), "USD"],
    ["azure.csv.gz", csvGzOf(simulatedLines(azure, october)), "EUR"],
    ["google.parquet", parquetOf(simulatedLines(google, october), "labels"), "USD"],
  ] as const;
  for (const [name, bytes, currency] of files) {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    const report = await checkFile(engine, path);
    t.strictSame(report.findings, [], name);
    // On each of 27 days, 40 resources and the unused commitment; once, support, the commitment, tax and a credit.
    t.equal(report.rows, 41 * 27 + 4);
    t.strictSame(
      report.totals.map((each) => each.currency),
      [currency],
    );
  }
});

t.test(
  "the same seed produces the same bill, and a correction changes only the lines of its day",
  async (t) => {
    const lines = simulatedLines(aws, october);
    // Compare as text, because tap needs minutes to compare so many objects.
    const text = JSON.stringify(lines);
    t.ok(JSON.stringify(simulatedLines(aws, october)) === text);
    t.notOk(JSON.stringify(simulatedLines(aws, { ...october, seed: 2 })) === text);
    const day = "2026-10-20";
    const corrected = simulatedLines(aws, { ...october, corrected: [day] });
    const changed = corrected.filter((line, at) => JSON.stringify(line) !== JSON.stringify(lines[at]));
    t.equal(changed.length, 40);
    t.ok(changed.every((line) => line.ChargePeriodStart === `${day}T00:00:00Z`));
  },
);
