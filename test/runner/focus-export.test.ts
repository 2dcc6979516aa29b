/** The FOCUS export of one tenant is read by another, with the same sums to the last digit. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import t from "tap";
import type { ExportVersion } from "../../src/domain/export-versions.js";
import type { FocusFormatName } from "../../src/export/focus/format.js";
import { summable } from "../../src/export/focus/line-columns.js";
import { openFocusExport } from "../../src/export/focus/open-focus.js";
import { checkFile } from "../../src/focus/check/check-file.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { columnsOfVersion } from "../../src/focus/columns.js";
import type { FocusVersion } from "../../src/focus/version.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { decimalUnits } from "../allocate/staged-days.js";
import { csvOf, type TestFile, validFile } from "../focus/files.js";
import { openTestStores, temporaryFolder, testLogger } from "../stores.js";
import { reconciled, runContext, runOnce, runRows } from "./runs.js";

const tenant = (name: string, folder: string, allocation: string) => `
  ${name}:
    ecosystem: focus
    tenant_id: ${name}
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:${name}" }
    allocation:
${allocation}
    plugin_settings:
      sources:
        - name: cloud
          location: ${folder}
          limits: { settle_seconds: 0 }`;

/** Shared costs are split three ways, so that nothing divides evenly. */
const splitting = `      identity: [{ tag: owner }]
      rules:
        - name: shared
          where: { tag.env: prod }
          components:
            - { ratio: 0.6, split: [{ by: fixed, shares: { web: 1, data: 1, ops: 1 } }] }
            - { ratio: 0.25, split: [{ by: even, among: [web, data] }] }
            - { ratio: 0.15, split: [{ by: nobody }] }`;
const asExported = "      identity: [{ column: AllocatedResourceId }]";

const window = {
  from: Date.UTC(2026, 5, 20) / 1000,
  to: Date.UTC(2026, 5, 30) / 1000,
  startDate: "2026-06-20",
  endDate: "2026-06-29",
  timezone: "UTC",
};

async function exported(
  stores: OpenedStores,
  name: string,
  version: ExportVersion = "1.4",
  format: FocusFormatName = "focus",
): Promise<Buffer> {
  const { client } = await stores.tenant(name);
  const request = { window, filters: {}, version, format };
  const options = { signal: new AbortController().signal, idleMs: 60_000 };
  return Buffer.concat(await (await openFocusExport(client, request, options)).toArray());
}

/** Tenants with bills of earlier versions, and the columns that these do not have. */
const earlier = {
  d: { version: "1.2", lacks: [] },
  e: { version: "1.0", lacks: ["CommitmentDiscountQuantity"] },
} as const;

/** Makes rows of each kind, in two currencies, some of them repeated, with custom columns. */
function bill(version: FocusVersion = "1.4"): TestFile {
  const { columns, rows } = validFile(version);
  const dated = rows.map((row): TestFile["rows"][number] => ({
    ...row,
    BillingPeriodStart: "2026-06-01T00:00:00Z",
    BillingPeriodEnd: "2026-07-01T00:00:00Z",
    ChargePeriodStart: "2026-06-24T00:00:00Z",
    ChargePeriodEnd: "2026-06-25T00:00:00Z",
  }));
  const other = dated.map((row) => ({
    ...row,
    BillingCurrency: "USD",
    ChargePeriodStart: "2026-06-25T05:00:00Z",
    ChargePeriodEnd: "2026-06-25T06:00:00Z",
    Tags: '{"env":"prod","owner":"anna, \\"the\\" =1","cost":"a,b"}',
    x_CostCenter: "4711",
    oci_Number: "n-1",
    ...(row.x_SplitOriginId ? { x_SplitOriginId: "origin-2" } : {}),
  }));
  const own = ["x_CostCenter", "oci_Number"].map((name) => ({ name, from: name }));
  return { columns: [...columns, ...own], rows: [...dated, ...dated.slice(0, 2), ...other] };
}

/** Formats a number without an exponent. */
const plainDecimal = (text: string) => (/e/i.test(text) ? Number(text).toFixed(12) : text);

/** Returns the columns of a row besides its costs, quantities and split; tags are text. */
function kept(row: Readonly<Record<string, string | null | undefined>>): string {
  const names = columnsOfVersion("1.4").filter(
    ({ name, summable }) => !summable && !name.startsWith("Allocated"),
  );
  const says = names.map(({ name }) => [name, row[name] ?? ""] as const);
  const own = [
    ["x_CostCenter", row.x_CostCenter ?? ""],
    ["x_OciNumber", row.x_OciNumber ?? row.oci_Number ?? ""],
  ] as const;
  const plain = ([name, value]: readonly [string, string]) =>
    name === "Tags" && value !== ""
      ? Object.entries(JSON.parse(value))
          .map(([key, tag]) => `${key}=${tag}`)
          .sort()
          .join()
      : value;
  return JSON.stringify([...says, ...own].map((each) => [each[0], plain(each)]));
}

const metrics = [
  "EffectiveCost",
  "ContractedCost",
  "ConsumedQuantity",
  "PricingQuantity",
  "CommitmentDiscountQuantity",
  "PricingCurrencyEffectiveCost",
];
const sums = `
SELECT currency, toString(sum(billed_cost)) AS billed, toString(sum(list_cost)) AS listed, toString(sum(total_cost)) AS total,
  ${metrics.map((name) => `toString(sum(toDecimal128OrZero(JSONExtractString(metadata, '${name}'), 12))) AS ${name}`).join(", ")}
FROM billing GROUP BY currency ORDER BY currency`;
const identities = `
SELECT currency, identity_id, toString(sum(amount_hi + amount_lo)) AS amount FROM chargebacks GROUP BY ALL HAVING amount != '0' ORDER BY ALL`;

t.test("an exported FOCUS file can be read as a bill", async (t) => {
  const folder = temporaryFolder(t);
  for (const name of ["a", "b", "c", "d", "e"]) mkdirSync(join(folder, name, "2026-06"), { recursive: true });
  writeFileSync(join(folder, "a", "2026-06", "bill.csv"), csvOf(bill()));
  const { config, stores } = await openTestStores(
    t,
    `tenants:${tenant("a", join(folder, "a"), splitting)}${["b", "c"].map((name) => tenant(name, join(folder, name), asExported)).join("")}${Object.keys(
      earlier,
    )
      .map((name) => tenant(name, join(folder, name), splitting))
      .join("")}`,
  );
  const run = async (name: string) => {
    const result = await runOnce(runContext(stores), config, name);
    t.strictSame([result.status, result.errors], ["completed", []]);
    t.strictSame((await reconciled(stores, name)).off, []);
  };
  await run("a");
  const csv = await exported(stores, "a");
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());
  const check = async (name: string, content: Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return await checkFile(engine, path);
  };
  const errorsOf = ({ findings }: Awaited<ReturnType<typeof check>>) =>
    findings.filter(({ level }) => level === "error").map((finding) => JSON.stringify(finding));

  await t.test("exports as CSV and Parquet of 1.4 and 1.2 pass the check", async (t) => {
    const report = await check("a.csv", csv);
    t.strictSame([report.focus_version, errorsOf(report)], ["1.4", []]);
    t.comment(JSON.stringify(report.findings.map(({ id, column }) => [id, column])));
    const parquet = await check("a.parquet", await exported(stores, "a", "1.4", "focus_parquet"));
    t.strictSame([parquet.focus_version, errorsOf(parquet)], ["1.4", []]);
    const former = await check("a12.csv", await exported(stores, "a", "1.2"));
    t.strictSame([former.focus_version, errorsOf(former)], ["1.2", []]);
  });

  await t.test(
    "columns of a charge are exported unchanged, and its costs are those of the file",
    async (t) => {
      const rows: Record<string, string>[] = parse(csv, { columns: true });
      const written = bill().rows;
      t.strictSame([...new Set(rows.map(kept))].sort(), [...new Set(written.map(kept))].sort());
      for (const name of summable)
        for (const currency of ["EUR", "USD"]) {
          const sum = (of: readonly Record<string, string | null>[]) =>
            of
              .filter((row) => row.BillingCurrency === currency)
              .map((row) => decimalUnits(Number(row[name] || 0) === 0 ? "0" : plainDecimal(row[name] ?? "")))
              .reduce((a, b) => a + b, 0n);
          t.equal(sum(rows), sum(written), `${name} ${currency}`);
        }
      const ids = new Set(rows.map(({ x_SplitOriginId }) => x_SplitOriginId));
      const origins = [...ids].map((id) => rows.filter((row) => row.x_SplitOriginId === id));
      t.equal(Math.max(...origins.map((parts) => parts.length)), 6, "charges have 3, 2 and 1 parts");
      for (const parts of origins)
        t.equal(new Set(parts.map(({ x_SplitOriginCost }) => x_SplitOriginCost)).size, 1);
      const methods = new Set(
        rows.map(({ AllocatedMethodId }) => AllocatedMethodId?.replace(/[0-9a-f]{8,}/, "HASH")),
      );
      t.strictSame([...methods], ["chargehouse:a:HASH"]);
    },
  );

  await t.test("another tenant that reads the export has the same sums", async (t) => {
    writeFileSync(join(folder, "b", "2026-06", "bill.csv"), csv);
    writeFileSync(
      join(folder, "c", "2026-06", "bill.parquet"),
      await exported(stores, "a", "1.4", "focus_parquet"),
    );
    await run("b");
    await run("c");
    for (const query of [sums, identities]) {
      const of = await runRows<Record<string, string>>(stores, "a", query);
      t.comment(JSON.stringify(of));
      t.ok(of.length > 1);
      t.strictSame(await runRows(stores, "b", query), of);
      t.strictSame(await runRows(stores, "c", query), of);
    }
  });

  await t.test("a bill of an earlier version is exported as 1.4 and as 1.2", async (t) => {
    for (const [name, { version, lacks }] of Object.entries(earlier)) {
      writeFileSync(join(folder, name, "2026-06", "bill.csv"), csvOf(bill(version)));
      await run(name);
      for (const out of ["1.4", "1.2"] as const) {
        const report = await check(`${name}-${out}.csv`, await exported(stores, name, out));
        const errors = report.findings.filter(({ level }) => level === "error");
        t.strictSame(
          errors.map(({ column }) => column),
          lacks,
          `${version} to ${out}`,
        );
      }
    }
  });

  await t.test("an export of an export can be read, too", async (t) => {
    const report = await check("b.csv", await exported(stores, "b"));
    t.strictSame(errorsOf(report), []);
  });
});
