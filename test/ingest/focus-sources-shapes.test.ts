/** Sets of files as the providers lay them out, which are not part of the project. */
import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { projectRoot } from "../../src/config/project.js";
import { sourceOf } from "./focus-bills.js";

const SHAPES = join(projectRoot(), "..", "shared", "data", "focus", "shapes");
const skip = existsSync(SHAPES) ? false : "there are no samples of bills beside the project";

/** A copy without the dates of the files. */
async function seen(t: Test, set: string) {
  const location = t.testdir({});
  await cp(join(SHAPES, set), location, { recursive: true });
  return await sourceOf(
    t,
    { location, limits: { settle_seconds: 0 } },
    { now: () => Date.now() + 3_600_000 },
  ).seen();
}

for (const [set, extension] of [
  ["aws-1.2-parquet", "snappy.parquet"],
  ["aws-1.2-csvgz", "csv.gz"],
] as const)
  t.test(set, { skip }, async (t) => {
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

t.test("azure-1.0r2-csvgz: only the second run counts", { skip }, async (t) => {
  const run = "exports/focuscost/20260501-20260531/22222222-bbbb-4bbb-8bbb-000000000002";
  t.strictSame(await seen(t, "azure-1.0r2-csvgz"), {
    deliveries: [
      {
        billing_period: "2026-05",
        kind: "snapshot",
        files: [`${run}/part_0_0001.csv.gz`, `${run}/part_1_0001.csv.gz`],
      },
    ],
    waiting: [],
  });
});

t.test("oci-preview-csvgz: six additions", { skip }, async (t) => {
  const { deliveries, waiting } = await seen(t, "oci-preview-csvgz");
  t.strictSame(
    deliveries.map(({ kind, billing_period: month, files }) => [kind, month, files.length]),
    Array.from({ length: 6 }, () => ["additive", undefined, 1]),
  );
  t.strictSame(waiting, []);
});

t.test("gcp-1.2-parquet and single files are plain", { skip }, async (t) => {
  t.strictSame((await seen(t, "gcp-1.2-parquet")).deliveries, [
    { billing_period: "2026-05", kind: "snapshot", files: ["2026-05/focus-000000000000.parquet"] },
  ]);
  t.strictSame((await seen(t, "azure-1.0-csv")).deliveries, [
    { billing_period: undefined, kind: "snapshot", files: ["part_0_0001.csv"] },
  ]);
  t.equal((await seen(t, "traps")).deliveries[0]?.files.length, 10);
});
