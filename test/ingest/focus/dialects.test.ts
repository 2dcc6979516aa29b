/**
 * Bills in the styles of people and exporters: separators, lines before the header, blanks, spellings of instants and
 * currencies.
 */
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import t from "tap";
import { csv, deliveryOf, fileOf, loadBills, loadedRows, openDeliveryStore, recorded } from "./bills.js";

const store = await openDeliveryStore(t);
const duck = await (await DuckDBInstance.create()).connect();
t.teardown(() => duck.closeSync());
let count = 0;

/** Loads a bill from a source of its own. Returns its lines, or why it is refused. */
async function linesOf<Line>(content: string | Buffer, columns: string, maxUnpackedMib?: number) {
  count += 1;
  const file = fileOf("bill.csv", content, maxUnpackedMib);
  const outcome = await loadBills(store, deliveryOf([file], { source: `s${count}` }));
  if (outcome.state !== "current") return outcome.problem;
  const query = `SELECT ${columns} FROM focus_lines WHERE delivery = (SELECT max(delivery) FROM focus_lines) ${columns.includes("max(") ? "" : "ORDER BY line"}`;
  return await loadedRows<Line>(store, query);
}

t.test("a bill is the same in each dialect of CSV", async (t) => {
  const tag = { Tags: '{"team":"a;b|c"}', ServiceName: 'Gr\u00f6\u00dfe, "large"', x_Extra: "x" };
  const good = csv([tag, { EffectiveCost: "2" }]);
  /** The same table with another separator between its values. */
  const separated = (separator: string) => {
    const outside = good.split(/("(?:[^"]|"")*")/);
    const changed = outside.map((part, at) => (at % 2 === 0 ? part.replaceAll(",", separator) : part));
    const quoted = changed.map((part, at) => (at % 2 === 0 || part.includes('"') ? part : `"${part}"`));
    return quoted.join("");
  };
  const header = good.slice(0, good.indexOf("\n"));
  const rest = good.slice(header.length);
  const dialects: Readonly<Record<string, string | Buffer>> = {
    plain: good,
    "byte order mark": `\uFEFF${good}`,
    "byte order mark and quotes": `\uFEFF${header.replaceAll(/[^,]+/g, '"$&"')}${rest}`,
    semicolons: separated(";"),
    tabs: separated("\t"),
    bars: separated("|"),
    "a line sep=": `sep=,\n${good}`,
    "a line sep= with a mark and line ends of Windows": `\uFEFFsep=;\r\n${separated(";").replaceAll("\n", "\r\n")}`,
    comments: `# exported by a tool, at noon\n#\n\n${good}`,
    "blanks around names": `${header.replaceAll(",", " , ")} ${rest}`,
    "empty lines at the end": `${good}\n\r\n`,
    "compressed semicolons": gzipSync(`# made today\n${separated(";")}`),
  };
  const columns =
    "toString(EffectiveCost) AS cost, ServiceName AS service, Tags AS tags, custom_columns AS custom, toFloat64(line) AS line";
  const expected = [
    {
      cost: "1",
      service: 'Gr\u00f6\u00dfe, "large"',
      tags: { team: "a;b|c" },
      custom: { x_Extra: "x" },
      line: 1,
    },
    { cost: "2", service: "EC2", tags: {}, custom: {}, line: 2 },
  ];
  for (const [name, content] of Object.entries(dialects))
    t.strictSame(await linesOf(content, columns), expected, name);
});

t.test("each reason for which a bill cannot be read has one message in words", async (t) => {
  const good = csv([{ Tags: '{"team":"alpha"}' }, {}]);
  const uneven = (row: number) =>
    `"bill.csv" cannot be read: row ${row} has more or fewer values than the header, or a quote within a value that is not doubled`;
  const causes: Readonly<Record<string, readonly [string | Buffer, string]>> = {
    "too few values": [`${good}1,2,3\n`, uneven(3)],
    "too many values": [`${good}${"1,".repeat(40)}\n`, uneven(3)],
    "quotes that are not doubled": [good.replace('"{""team"":""alpha""}"', '"{"team":"alpha"}"'), uneven(1)],
    "a quote that is not closed in the header": [
      '"ChargePeriodStart,BilledCost\n1,2\n',
      '"bill.csv" has a header in which a quote is not closed, or text follows one',
    ],
    "comments alone": [
      "# nothing\n",
      '"bill.csv" has no column ChargePeriodStart, so it is no bill of FOCUS',
    ],
    "UTF-16": [
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(good, "utf16le")]),
      '"bill.csv" is not text in UTF-8; CSV (also compressed with gzip or zstd) and Parquet can be read',
    ],
  };
  for (const [name, [content, problem]] of Object.entries(causes))
    t.equal(await linesOf(content, "1"), problem, name);
});

t.test("instants are read in the spellings of real exporters, and others are reported", async (t) => {
  const read: Readonly<Record<string, string>> = {
    "2026-05-03 06:00:00 UTC": "2026-05-03 06:00:00",
    "2026-05-03 06:00:00.123456 UTC": "2026-05-03 06:00:00",
    "2026-05-03T06:00:00+0000": "2026-05-03 06:00:00",
    "2026-05-03T06:00:00-0700": "2026-05-03 13:00:00",
    "2026-05-03T06:00:00+0530": "2026-05-03 00:30:00",
    "2026-05-03T06:00:00+05:30": "2026-05-03 00:30:00",
    "2026-05-03 06:00:00+00": "2026-05-03 06:00:00",
    "2026-05-03 06:00:00.000 -0700": "2026-05-03 13:00:00",
    "2026-05-03 06:00:00 +0000 UTC": "2026-05-03 06:00:00",
    "2026-05-03t06:00:00z": "2026-05-03 06:00:00",
    "2026-05-03T06:00Z[UTC]": "2026-05-03 06:00:00",
    "2026-05-03T06:00+02:00[Europe/Paris]": "2026-05-03 04:00:00",
    "2026-05-03T06:49:06.5576051Z": "2026-05-03 06:49:06",
    "2026-05-03 06:00:00.0": "2026-05-03 06:00:00",
    " 2026-05-03 ": "2026-05-03 00:00:00",
  };
  const refused = [
    "0000-00-00 00:00:00",
    "2026-05-03T24:00:00Z",
    "2026-05-03T23:59:60Z",
    "2026-05-03T06:00:00+25:00",
    "2026-05-03 06:00:00 CET",
    "2026-05-03 06:00:00 UTC UTC",
    "2026/05/03",
    "20260503",
    "1780466400",
    "2026-05",
  ];
  const texts = [...Object.keys(read), ...refused];
  const lines = await linesOf<{ at: string | null }>(
    csv(texts.map((ChargePeriodStart) => ({ ChargePeriodStart }))),
    "toString(ChargePeriodStart) AS at",
  );
  const seen = typeof lines === "string" ? lines : texts.map((text, at) => `${text}: ${lines[at]?.at}`);
  t.strictSame(
    seen,
    texts.map((text) => `${text}: ${read[text] ?? null}`),
  );
  const { findings } = (await recorded(store)).at(-1) ?? {};
  t.strictSame(
    (findings as { id: string; lines: number }[]).map(({ id, lines }) => `${id} ${lines}`),
    [`no_charge_date ${refused.length}`],
  );
});

t.test("a currency is read in any case and with surrounding blanks", async (t) => {
  const currencies = ["usd", "USD ", " Usd", "EUR", "US", "U$D", "euros"];
  const lines = await linesOf(
    csv(currencies.map((BillingCurrency) => ({ BillingCurrency }))),
    "BillingCurrency AS currency",
  );
  t.strictSame(
    lines,
    ["USD", "USD", "USD", "EUR", "US", "U$D", "EUROS"].map((currency) => ({ currency })),
  );
  const { findings, sums } = (await recorded(store)).at(-1) ?? {};
  t.strictSame(
    (findings as { id: string; lines: number }[]).map(({ id, lines }) => `${id} ${lines}`),
    ["no_currency 3"],
  );
  t.strictSame(
    (sums as { currency: string; effective_cost: string }[]).map((sum) => [sum.currency, sum.effective_cost]),
    [
      ["EUR", "1"],
      ["EUROS", "1"],
      ["U$D", "1"],
      ["US", "1"],
      ["USD", "3"],
    ],
  );
});

t.test("a text that is too long refuses the bill, and names its column", async (t) => {
  const ids = { ResourceId: "i".repeat(1000), Tags: JSON.stringify({ team: "t".repeat(99_989) }) };
  t.strictSame(await linesOf(csv([ids]), "length(ResourceId) AS id, length(Tags['team']) AS tag"), [
    { id: 1000, tag: 99_989 },
  ]);
  t.strictSame(
    await linesOf(csv([{ ResourceId: "\u00fc".repeat(1000) }]), "lengthUTF8(ResourceId) AS id"),
    [{ id: 1000 }],
    "the limit counts characters, and not bytes",
  );
  const longer = {
    ResourceId: "i".repeat(1001),
    EffectiveCost: `1${"0".repeat(1001)}`,
    Tags: JSON.stringify({ team: "t".repeat(99_990) }),
    x_Extra: "x".repeat(100_001),
  };
  for (const [column, text] of Object.entries(longer)) {
    const most = column === "Tags" || column === "x_Extra" ? 100_000 : 1000;
    t.equal(
      await linesOf(csv([{}, { [column]: text }]), "1"),
      `"bill.csv" has a value of more than ${most} characters in a column: "${column}"`,
    );
  }
});

t.test("a file that unpacks to more than the limit is refused, and so is an endless line", async (t) => {
  const large = csv([{ ResourceName: "" }]) + "\n".repeat(1_100_000);
  const bill = csv(Array.from({ length: 12_000 }, () => ({})));
  t.ok(bill.length > 1_048_576);
  const problem = '"bill.csv" unpacks to more than 1 MiB (limits.max_unpacked_mib)';
  t.equal(await linesOf(gzipSync(bill), "1", 1), problem, "a gzip file is limited by its unpacked size");
  t.equal(await linesOf(gzipSync(large), "1", 1), problem, "any unpacked content is limited");
  t.strictSame(await linesOf(gzipSync(bill), "toFloat64(max(line)) AS n", 2), [{ n: 12_000 }]);
  t.strictSame(
    await linesOf(bill, "toFloat64(max(line)) AS n", 1),
    [{ n: 12_000 }],
    "a file that is not compressed has no limit",
  );
  const path = `${t.testdir()}/bill.parquet`;
  await duck.run(`COPY (SELECT TIMESTAMP '2026-05-01 00:00:00' AS ChargePeriodStart, 1 AS EffectiveCost, 'USD' AS BillingCurrency,
    md5(range::TEXT) AS ResourceId FROM range(200000)) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`);
  t.equal(
    await linesOf(await readFile(path), "1", 1),
    problem,
    "a Parquet file is limited by its unpacked size",
  );
  const endless = `${csv([])}"${"x".repeat(17 * 1_048_576)}"\n`;
  t.equal(await linesOf(gzipSync(endless), "1"), '"bill.csv" has a line of more than 16 MiB');
});
