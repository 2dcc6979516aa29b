/** `focus-check`: exit codes, output, and malicious files. */
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t from "tap";
import { focusCheck } from "../../src/cli/focus-check.js";
import { checkFile } from "../../src/focus/check/check-file.js";
import type { FocusReport } from "../../src/focus/check/report.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { commandIo } from "../cli/command-io.js";
import { temporaryFolder, testLogger } from "../stores.js";
import { at, csvOf, validFile, writeCsv } from "./files.js";

const folder = temporaryFolder(t);
// Scratch folders of this file alone: other test files run at the same time and have theirs.
process.env.TMPDIR = temporaryFolder(t);
const engine = await openScratchEngine(testLogger);
t.teardown(() => engine.close());

async function call(...args: readonly string[]) {
  const { io, written } = commandIo();
  const code = await focusCheck.run(args, io);
  return { code, ...written };
}

const valid = writeCsv(folder, csvOf(validFile("1.4")));

/** A valid file with changed values in some rows. */
function changed(changes: Readonly<Record<number, Readonly<Record<string, string>>>>): string {
  const file = validFile("1.4");
  for (const [row, values] of Object.entries(changes)) Object.assign(file.rows[Number(row)] ?? {}, values);
  return csvOf(file);
}

const scratchFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("chargehouse-focus-"));

t.test("a file without findings exits with 0, prints a summary and leaves no files behind", async (t) => {
  const before = scratchFolders();
  const { code, stdout, stderr } = await call(valid);
  t.strictSame([code, stderr], [0, ""]);
  t.strictSame(
    stdout.split("\n").filter((line) => !line.startsWith("file ")),
    [
      "format    CSV",
      "version   FOCUS 1.4, detected from the columns",
      "rows      10",
      "periods   2026-05-01T00:00:00Z to 2026-06-01T00:00:00Z, 10 rows",
      "charges   2026-05-01T00:00:00Z to 2026-05-02T00:00:00Z",
      "",
      "EUR, 10 rows",
      "  BilledCost      11.54",
      "  EffectiveCost   11.54",
      "  ListCost        13.54",
      "  ContractedCost  13.54",
      "",
      "No findings.",
      "",
    ],
  );
  t.strictSame(scratchFolders(), before);
});

t.test("errors exit with 1, warnings with 0, an unreadable file with 2", async (t) => {
  const wrong = writeCsv(folder, changed({ [at.usage]: { ChargeFrequency: "sometimes" } }));
  const odd = writeCsv(folder, changed({ [at.usage]: { ConsumedUnit: "a few hours" } }));
  const both = await call(wrong, odd);
  t.equal(both.code, 1);
  t.strictSame(both.stdout.match(/^(\d+ errors?, \d+ warnings?|error .*|warning .*|\n)$/gm), [
    "1 error, 0 warnings",
    "error     value-list: ChargeFrequency, 1×",
    "0 errors, 1 warning",
    "warning   unit-format: ConsumedUnit, 1×",
  ]);
  t.equal((await call(odd)).code, 0);
  const missing = join(folder, "missing.csv");
  const result = await call(missing, valid, "--json");
  t.strictSame([result.code, result.stderr], [2, `${missing} does not exist.\n`]);
  const { files, unreadable } = JSON.parse(result.stdout);
  t.strictSame(
    [files.map(({ file }: FocusReport) => file), unreadable],
    [[valid], [{ file: missing, problem: "does not exist" }]],
  );
});

t.test("--json prints the whole report, with sums as text", async (t) => {
  const path = writeCsv(folder, changed({ [at.tax]: { EffectiveCost: "0.20" } }));
  const { code, stdout } = await call("--json", "--focus-version", "1.4", path);
  t.equal(code, 1);
  t.strictSame(JSON.parse(stdout), {
    files: [
      {
        file: path,
        format: "CSV",
        compression: "none",
        focus_version: "1.4",
        version_detected: false,
        rows: 10,
        billing_periods: [{ start: "2026-05-01T00:00:00Z", end: "2026-06-01T00:00:00Z", rows: 10 }],
        more_billing_periods: 0,
        charge_period: { start: "2026-05-01T00:00:00Z", end: "2026-05-02T00:00:00Z" },
        totals: [
          {
            currency: "EUR",
            rows: 10,
            BilledCost: "11.54",
            EffectiveCost: "11.55",
            ListCost: "13.54",
            ContractedCost: "13.54",
          },
        ],
        more_currencies: 0,
        errors: 1,
        warnings: 0,
        findings: [
          {
            id: "effective-cost",
            level: "error",
            column: "EffectiveCost",
            count: 1,
            what: "EffectiveCost of a tax or a credit is not its BilledCost, and neither of them is 0.",
            examples: [{ row: 5, value: "0.20 is not 0.19" }],
          },
        ],
      },
    ],
    unreadable: [],
  });
});

t.test("invalid arguments print the usage and the allowed values", async (t) => {
  await t.rejects(call(), { name: "UsageError", message: "name at least one FILE to check" });
  await t.rejects(call(valid, "--focus-version", "2.0"), {
    name: "UsageError",
    message: '--focus-version must be one of 0.5, 1.0-preview, 1.0, 1.1, 1.2, 1.3, 1.4, not "2.0"',
  });
  await t.rejects(call(valid, "--strict"), { name: "UsageError", message: /--strict/ });
});

t.test("files that are not FOCUS are rejected, whatever they are", async (t) => {
  const header = "BilledCost,ChargePeriodStart,ChargePeriodEnd";
  const files: readonly (readonly [string | Buffer, RegExp])[] = [
    ["", /^is empty; CSV .* and Parquet can be read$/],
    ["name,amount\na,1\n", /^is not a FOCUS file of Cost and Usage, .* its columns are name, amount$/],
    ["ContractId,ContractCommitmentId\na,b\n", /^is not a FOCUS file of Cost and Usage/],
    [Buffer.from("\uFEFFBilledCost", "utf16le"), /^is not text in UTF-8/],
    [`${header}\n1,2,3\n`, /^has no column that shows its version .* one of 0\.5, 1\.0-preview, .*, 1\.4$/],
    [`${header},ChargeClass\n1,2\n`, /^cannot be read as CSV: row 1 behind the header has fewer values/],
    [`${header},ChargeClass\n1,2,3,,5\n`, /^cannot be read as CSV: row 1 behind the header has more values/],
    [`${header},ChargeClass\n1,2,3,"\n4,5,6,\n`, /^cannot be read as CSV: it has an odd number of quotes/],
    [Buffer.from("PAR1 and nothing else"), /^cannot be read as Parquet: /],
    [gzipSync(csvOf(validFile("1.4"))).subarray(0, 400), /^cannot be read as CSV: /],
    [
      Array.from({ length: 1001 }, (_, n) => `x_C${n}`).join(),
      /^has 1001 columns; at most 1000 can be read$/,
    ],
  ];
  for (const [content, message] of files)
    await t.rejects(checkFile(engine, writeCsv(folder, content)), { name: "UnreadableFileError", message });
  await t.rejects(checkFile(engine, folder), { name: "UnreadableFileError", message: "is not a file" });
});

t.test("a file name is taken literally, not as a glob or a path in an archive", async (t) => {
  const other = join(folder, "part-1.csv");
  writeFileSync(other, csvOf(validFile("1.3")));
  for (const name of ["part-*.csv", "part-{1,2}.csv", "a.zip :: b.csv", "it's \\ here.csv"]) {
    const path = join(folder, name);
    await t.rejects(checkFile(engine, path), { name: "UnreadableFileError", message: "does not exist" });
    writeFileSync(path, csvOf(validFile("1.4")));
    const { rows, focus_version } = await checkFile(engine, path);
    t.strictSame([rows, focus_version], [10, "1.4"], name);
  }
  const link = join(folder, "link.csv");
  symlinkSync(valid, link);
  t.equal((await checkFile(engine, link)).rows, 10, "a link is followed");
});

t.test("files may have only a header, a byte order mark, CRLF, other case and order, or gzip", async (t) => {
  const file = validFile("1.4");
  const header = `${csvOf({ ...file, rows: [] })}`;
  const plain = await checkFile(engine, valid);
  const empty = await checkFile(engine, writeCsv(folder, header));
  t.strictSame([empty.rows, empty.totals, empty.billing_periods, empty.findings], [0, [], [], []]);
  t.strictSame(empty.charge_period, { start: null, end: null });
  for (const content of [
    `\uFEFF${csvOf(file)}`,
    `\uFEFF${csvOf(file, "\r\n").replace("AllocatedMethodDetails", '"AllocatedMethodDetails"')}`,
    csvOf({ ...file, columns: file.columns.toReversed() }),
    gzipSync(csvOf(file)),
  ]) {
    const { file: _, compression: __, ...report } = await checkFile(engine, writeCsv(folder, content));
    const { file: ___, compression: ____, ...expected } = plain;
    t.strictSame(report, expected);
  }
  const lower = file.columns.map(({ name, from }) => ({ name: name.toLowerCase(), from })).toReversed();
  const { totals, findings } = await checkFile(engine, writeCsv(folder, csvOf({ ...file, columns: lower })));
  t.strictSame(totals, plain.totals);
  t.strictSame([...new Set(findings.map(({ id }) => id))], ["column-case"]);
});

t.test("the output has no control characters of the file, and at most 80 columns", async (t) => {
  const evil = `=cmd|' /C calc'!A0\u001b[2J\u001b]0;x\u0007\u202e\u200b\u0085${"long ".repeat(100_000)}`;
  const file = validFile("1.4");
  file.columns.push({ name: `x_\u001b[31m${"wide".repeat(50)}`, from: "x_" });
  Object.assign(file.rows[at.usage] ?? {}, {
    ChargeCategory: evil,
    BillingCurrency: `\u001b[2J${evil}`,
    Tags: evil,
    BillingPeriodStart: evil,
    BilledCost: `${"9".repeat(19)}.${"9".repeat(38)}`,
    ChargeDescription: ` ${evil}`,
  });
  const path = join(folder, `${"a long name ".repeat(10)}\u001b[2J.csv`);
  writeFileSync(path, csvOf(file));
  const { code, stdout } = await call(path);
  t.equal(code, 1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  t.notMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]/);
  t.strictSame(
    stdout.split("\n").filter((line) => [...line].length > 80),
    [],
  );
  t.match(stdout, /row 1: "=cmd\|' \/C calc'!A0\uFFFD\[2J\uFFFD\]0;x/);
  t.match(stdout, /BilledCost {6}9{19}\.9{38}/);
});

t.test(
  "rows are numbered as in the file, and added exactly, also when they come in many blocks",
  async (t) => {
    const file = validFile("1.4");
    const [usage = {}] = file.rows;
    const count = 40_000;
    file.rows = Array.from({ length: count }, (_, n) => ({
      ...usage,
      ChargeFrequency: n % 10_000 === 9_999 ? `wrong ${n + 1}` : "Usage-Based",
      BilledCost: "0.000000000000000001",
    }));
    const { rows, totals, findings } = await checkFile(
      engine,
      writeCsv(folder, gzipSync(csvOf(file)), "csv.gz"),
    );
    t.equal(rows, count);
    t.equal(totals[0]?.BilledCost, "0.00000000000004");
    t.strictSame(
      findings.map(({ id, count, examples }) => ({ id, count, examples })),
      [
        {
          id: "value-list",
          count: 4,
          examples: [10_000, 20_000, 30_000].map((row) => ({ row, value: `wrong ${row}` })),
        },
      ],
    );
  },
);
