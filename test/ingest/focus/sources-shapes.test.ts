/** Sets of files as the providers lay them out. */
import { join } from "node:path";
import t, { type Test } from "tap";
import { AZURE_RUNS, layOutSamples, traps } from "../../focus-samples.js";
import { openTestSource } from "./bill-files.js";

t.test("the deliveries of each provider's folder are found", async (t) => {
  const root = await layOutSamples(t);
  /** An hour later, when files are no longer too new. */
  const seen = async (t: Test, set: string) =>
    await openTestSource(
      t,
      { location: join(root, set), limits: { settle_seconds: 0 } },
      { now: () => Date.now() + 3_600_000 },
    ).seen();

  for (const [set, extension] of [
    ["aws-1.2-parquet", "snappy.parquet"],
    ["aws-1.2-csvgz", "csv.gz"],
  ] as const)
    await t.test(`${set} has one delivery a month, with the files of its manifest`, async (t) => {
      t.strictSame(await seen(t, set), {
        deliveries: ["2026-05", "2026-06"].map((month) => ({
          billing_period: month,
          kind: "snapshot",
          files: [1, 2].map(
            (part) => `acct/focus-export/data/BILLING_PERIOD=${month}/focus-export-0000${part}.${extension}`,
          ),
        })),
        waiting: [],
      });
    });

  await t.test("azure-1.0r2-csvgz counts only its second run", async (t) => {
    t.strictSame(await seen(t, "azure-1.0r2-csvgz"), {
      deliveries: [
        {
          billing_period: "2026-05",
          kind: "snapshot",
          files: [0, 1].map((part) => `${AZURE_RUNS.second}/part_${part}_0001.csv.gz`),
        },
      ],
      waiting: [],
    });
  });

  await t.test("oci-preview-csvgz has files that add to each other", async (t) => {
    const { deliveries, waiting } = await seen(t, "oci-preview-csvgz");
    t.strictSame(
      deliveries.map(({ kind, billing_period: month, files }) => [kind, month, files]),
      [
        ["additive", undefined, ["FOCUS Reports/2026/05/10/000100000000.csv.gz"]],
        ["additive", undefined, ["FOCUS Reports/2026/05/11/000100000001.csv.gz"]],
      ],
    );
    t.strictSame(waiting, []);
  });

  await t.test("gcp-1.2-parquet and single files are plain", async (t) => {
    t.strictSame((await seen(t, "gcp-1.2-parquet")).deliveries, [
      { billing_period: "2026-05", kind: "snapshot", files: ["2026-05/focus-000000000000.parquet"] },
    ]);
    t.strictSame((await seen(t, "azure-1.0-csv")).deliveries, [
      { billing_period: undefined, kind: "snapshot", files: ["part_0_0001.csv"] },
    ]);
    t.strictSame((await seen(t, "traps")).deliveries[0]?.files, traps);
  });
});
