/** How values of FOCUS files are stored: numbers, dates, nulls, tags, columns of any name. */
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import t from "tap";
import { needs } from "../../programs.js";
import { csv, deliveryOf, fileOf, loadBills, loadedRows, openDeliveryStore, recorded } from "./bills.js";

const store = await openDeliveryStore(t);
/** Writes files with typed columns. */
const duck = await (await DuckDBInstance.create()).connect();
t.teardown(() => duck.closeSync());
let month = 0;

/** Loads a file as a scope of its own. Returns the record, and the lines in the order of the file. */
async function loaded(content: string | Buffer, columns: string, name = "bill.csv") {
  month += 1;
  const source = `s${month}`;
  const outcome = await loadBills(store, deliveryOf([fileOf(name, content)], { source }));
  const record = (await recorded(store)).at(-1) ?? {};
  const query = `SELECT ${columns} FROM focus_lines WHERE delivery = (SELECT max(delivery) FROM focus_lines) ORDER BY line`;
  const rows = outcome.state === "current" ? await loadedRows<Record<string, unknown>>(store, query) : [];
  return {
    outcome,
    rows,
    findings: record.findings as { id: string; lines: number; examples: string[] }[],
    record,
  };
}
const found = (findings: readonly { id: string; lines: number; examples: string[] }[]) =>
  findings.map(({ id, lines, examples }) => `${id} ${lines}: ${examples.join(" ")}`);

t.test("amounts are exact to 12 places, and half of the last place is rounded away from zero", async (t) => {
  const amounts = [
    "0.0000000000005",
    "-0.0000000000005",
    "6.123E-7",
    "12345678901234567890.123456789012",
    "-0.00",
    "1e-50",
    "1e26",
    "1,5",
    "NaN",
    "",
    "NULL",
    "+1.5",
    "007.10",
    ".5",
    "1.",
    "99999999999999999999999999.999999999999",
    "100000000000000000000000000",
    "-1.0000000000000",
    "1.0000000000004999",
  ];
  const { rows, findings } = await loaded(
    csv(amounts.map((BilledCost) => ({ BilledCost }))),
    "toString(BilledCost) AS cost",
  );
  t.strictSame(
    rows.map(({ cost }) => cost),
    [
      "0.000000000001",
      "-0.000000000001",
      "0.0000006123",
      "12345678901234567890.123456789012",
      "0",
      "0",
      null,
      null,
      null,
      null,
      null,
      "1.5",
      "7.1",
      "0.5",
      "1",
      "99999999999999999999999999.999999999999",
      null,
      "-1",
      "1",
    ],
  );
  t.strictSame(found(findings), [
    "unreadable_cost 4: bill.csv:7 bill.csv:8 bill.csv:9 bill.csv:17",
    "rounded_cost 4: bill.csv:1 bill.csv:2 bill.csv:6 bill.csv:19",
  ]);
});

t.test("only ISO dates are dates", async (t) => {
  const dates = [
    "2026-05-03",
    "2026-05-03T23:30Z",
    "2026-05-03T23:30:00.000Z",
    "2026-05-03T23:30:00+02:00",
    "2026-05-03 23:30:00",
    "05/03/2026",
    "2026-02-30",
    "2026-05-03T25:00:00Z",
    "1026-05-03",
    "\\N",
  ];
  const { rows, findings } = await loaded(
    csv(dates.map((ChargePeriodStart) => ({ ChargePeriodStart }))),
    "charge_day, toString(ChargePeriodStart) AS at",
  );
  t.strictSame(
    rows.map(({ charge_day, at }) => `${charge_day} ${at}`),
    [
      "2026-05-03 2026-05-03 00:00:00",
      "2026-05-03 2026-05-03 23:30:00",
      "2026-05-03 2026-05-03 23:30:00",
      "2026-05-03 2026-05-03 21:30:00",
      "2026-05-03 2026-05-03 23:30:00",
      ...Array(5).fill("1970-01-01 null"),
    ],
  );
  t.strictSame(found(findings), [
    "no_charge_date 5: bill.csv:6 bill.csv:7 bill.csv:8 bill.csv:9 bill.csv:10",
  ]);
});

t.test("tags are keys and values, in every format", async (t) => {
  const tags = [
    '{"b":"2","a":"x\\"y","n":1.5,"t":true,"z":null,"o":{"k":1}}',
    '[{"Key":"cost-center","Value":"7"},{"value":"v","key":"k"}]',
    '{" org":"","org":"b"," ":"c"}',
    "{broken",
    '"text"',
    "{}",
    "NULL",
  ];
  const { rows, findings } = await loaded(
    csv(tags.map((Tags) => ({ Tags }))),
    "Tags AS tags, custom_columns AS custom",
  );
  t.strictSame(
    rows.map(({ tags, custom }) => [tags, custom]),
    [
      [{ a: 'x"y', b: "2", n: "1.5", o: '{"k":1}', t: "true", z: "" }, {}],
      [{ "cost-center": "7", k: "v" }, {}],
      [{ org: "b" }, {}],
      [{}, { Tags: "{broken" }],
      [{}, { Tags: '"text"' }],
      [{}, {}],
      [{}, {}],
    ],
  );
  t.strictSame(found(findings), [
    "unreadable_tags 2: bill.csv:4 bill.csv:5",
    "repeated_tag_key 1: bill.csv:3",
    "blank_tag_key 1: bill.csv:3",
  ]);
});

t.test("columns may have any order and case, old names, and other columns beside them", async (t) => {
  const text =
    "x_B,chargeperiodstart,AmortizedCost,PROVIDER,BillingCurrency,Region,x_B,Publisher,'`\\\nb,2026-05-01,2.5,AWS,EUR,eu,c,pub,q\n";
  const { rows } = await loaded(
    text,
    "EffectiveCost AS cost, ServiceProviderName AS provider, RegionName AS region, BillingCurrency AS currency, custom_columns AS custom",
  );
  t.strictSame(rows, [
    {
      cost: "2.5",
      provider: "AWS",
      region: "eu",
      currency: "EUR",
      custom: { "'`\\": "q", Publisher: "pub", x_B: "b", "x_B 2": "c" },
    },
  ]);
});

t.test("text keeps its line breaks, quotes, blanks, byte order mark and CRLF", async (t) => {
  const plain = csv([{ x_Extra: 'a\n"b", \u00fc ' }, { x_Extra: " =1+1" }]);
  const crlf = `\uFEFF${plain.replaceAll("\n", "\r\n")}\r\n\r\n`;
  for (const content of [plain, plain.trimEnd(), gzipSync(plain)]) {
    const { rows, findings } = await loaded(content, "custom_columns['x_Extra'] AS extra, line");
    t.strictSame(rows, [
      { extra: 'a\n"b", \u00fc ', line: 1 },
      { extra: " =1+1", line: 2 },
    ]);
    t.strictSame(findings, []);
  }
  const { rows } = await loaded(crlf, "custom_columns['x_Extra'] AS extra");
  t.strictSame(
    rows.map(({ extra }) => extra),
    ['a\r\n"b", \u00fc ', " =1+1"],
  );
});

t.test("zstd is unpacked, and refused if it is cut off", needs("zstd"), async (t) => {
  const packed = execFileSync("zstd", ["-c", "-q"], { input: csv([{ x_Extra: "a" }, { x_Extra: "b" }]) });
  const { rows } = await loaded(packed, "custom_columns['x_Extra'] AS extra, line", "bill.csv.zst");
  t.strictSame(rows, [
    { extra: "a", line: 1 },
    { extra: "b", line: 2 },
  ]);
  const { outcome } = await loaded(packed.subarray(0, -1), "1", "bill.csv.zst");
  t.strictSame(
    outcome.state === "refused" && outcome.problem,
    '"bill.csv.zst" cannot be unpacked: it is damaged or cut off',
  );
});

t.test("equal lines have one id, whatever the order of their columns", async (t) => {
  const text = (columns: string[], row: Record<string, string>) =>
    `${columns.join(",")}\n${columns.map((name) => row[name]).join(",")}\n`;
  const row = {
    BillingCurrency: "USD",
    EffectiveCost: "1.50",
    ChargePeriodStart: "2026-05-01",
    x_A: "a",
    x_B: "b",
  };
  const names = Object.keys(row);
  const ids = [];
  for (const [columns, changed] of [
    [names, row],
    [names.toReversed(), { ...row, EffectiveCost: "15e-1" }],
    [names, { ...row, x_B: "c" }],
  ] as const)
    ids.push((await loaded(text([...columns], changed), "toString(line_id) AS id")).rows[0]?.id);
  t.equal(ids[0], ids[1]);
  t.not(ids[0], ids[2]);
});

t.test("a file that cannot be read completely does not count, and its reason is reported", async (t) => {
  const good = csv([{}, {}]);
  const cases: [string | Buffer, RegExp][] = [
    ["", /^"bill.csv" is empty/],
    [good.replace("BillingCurrency", "x_C"), /^"bill.csv" has no column BillingCurrency: set `currency`/],
    [
      good.replace("EffectiveCost", "x_C"),
      /^"bill.csv" has no column EffectiveCost, which `cost` requires; it has .*BilledCost/,
    ],
    [good.replace("ChargePeriodStart", "x_C"), /^"bill.csv" has no column ChargePeriodStart/],
    [
      Buffer.from(csv([{ x_Extra: "caf\u00e9" }]), "latin1"),
      /^"bill.csv" is not text in UTF-8; CSV and Parquet/,
    ],
    [Buffer.concat([Buffer.from(good), Buffer.from([0xe2, 0x82])]), /^"bill.csv" is not text in UTF-8/],
    [
      `${good}1,2,3\n`,
      /^"bill.csv" cannot be read: row 3 has more or fewer values than the header, or a quote within a value that is not doubled$/,
    ],
    [`${good}${good.split("\n")[1]?.slice(0, -1)},"cut`, /^"bill.csv" cannot be read|not read to its end/],
    [`${good.trimEnd().slice(0, -1)},"cut off\n`, /not read to its end|cannot be read/],
    [gzipSync(good).subarray(0, 100), /^"bill.csv" cannot be unpacked: it is damaged or cut off/],
    [Buffer.from("PAR1, and nothing of it"), /cannot be read as Parquet: it is cut off/],
    [Buffer.from([0x50, 0, 0x41, 0]), /is not text in UTF-8/],
  ];
  for (const [content, problem] of cases) {
    const { outcome, record } = await loaded(content, "1");
    t.equal(outcome.state, "refused");
    const said = outcome.state === "refused" ? outcome.problem : "";
    t.ok(problem.test(said), said);
    t.equal(record.lines, null);
  }
  const left = "SELECT toString(uniqExact(delivery)) AS n FROM focus_lines";
  const current = await store.postgres.query(
    "SELECT count(*)::text AS n FROM deliveries WHERE state = 'current'",
  );
  t.strictSame((await loadedRows<{ n: string }>(store, left))[0]?.n, current.rows[0].n);
});

t.test("Parquet with doubles, maps, lists, structs and timestamps is read like its CSV", async (t) => {
  const path = `${t.testdir()}/bill.parquet`;
  await duck.run(`COPY (SELECT * FROM (VALUES
    (0.1::DOUBLE + 0.2::DOUBLE, 1.25::DECIMAL(38,9), TIMESTAMP '2026-05-01 10:00:00.5', 'USD', MAP {'team': 'a', 'empty': NULL}, {'id': 'p', 'n': 1}, MAP {'size': 's'}, ['a', 'b']),
    (1e-7::DOUBLE, NULL, TIMESTAMP '2026-05-02 00:00:00', 'USD', MAP {}, NULL, NULL, NULL)
    ) AS bill(effectivecost, BilledCost, ChargePeriodStart, BillingCurrency, Tags, x_Project, SkuPriceDetails, x_Labels)) TO '${path}' (FORMAT parquet)`);
  const { rows, findings } = await loaded(
    await readFile(path),
    "toString(EffectiveCost) AS cost, toString(BilledCost) AS billed, toString(ChargePeriodStart) AS at, Tags AS tags, custom_columns AS custom, SkuPriceDetails AS details",
    "bill.parquet",
  );
  t.strictSame(rows, [
    {
      cost: "0.3",
      billed: "1.25",
      at: "2026-05-01 10:00:00",
      tags: { empty: "", team: "a" },
      custom: { x_Labels: '["a","b"]', x_Project: '{"id":"p","n":1}' },
      details: '{"size":"s"}',
    },
    {
      cost: "0.0000001",
      billed: null,
      at: "2026-05-02 00:00:00",
      tags: {},
      custom: { x_Project: '{"id":null,"n":null}' },
      details: "",
    },
  ]);
  t.strictSame(found(findings), [
    "rounded_cost 1: bill.parquet:1",
    "no_list_cost 2: bill.parquet:1 bill.parquet:2",
  ]);
});

t.test("a Parquet file with text that is not UTF-8 does not count, whatever its column is", async (t) => {
  const path = `${t.testdir()}/bill.parquet`;
  const bad = "'caf\\xE9'::BLOB";
  const line = { Tags: "MAP {'a': 'b'}", x_List: "['a']", 'x_ "q': "'caf\u00e9'" };
  const cases: [Partial<typeof line>, string | undefined][] = [
    [{}, undefined],
    [{ Tags: `MAP {'a': ${bad}}` }, '"Tags"'],
    [{ x_List: `[${bad}]` }, '"x_List"'],
    [{ 'x_ "q': bad }, '"x_ \\"q"'],
  ];
  for (const [changes, column] of cases) {
    const values = Object.entries({ ...line, ...changes }).map(
      ([name, value]) => `${value} AS "${name.replaceAll('"', '""')}"`,
    );
    await duck.run(
      `COPY (SELECT 1 AS EffectiveCost, 'USD' AS BillingCurrency, TIMESTAMP '2026-05-01 00:00:00' AS ChargePeriodStart,
        ${values.join(", ")}) TO '${path}' (FORMAT parquet)`,
    );
    const { outcome } = await loaded(await readFile(path), "1", "bill.parquet");
    const problem = `"bill.parquet" has a column that is not text in UTF-8: ${column}`;
    t.strictSame(outcome, column === undefined ? { state: "current" } : { state: "refused", problem });
  }
});

t.test("a value is the same, whether the file has it as text or in a type of its own", async (t) => {
  const folder = t.testdir();
  const day = "TIMESTAMP '2026-05-01 00:00:00'";
  // The file's column names must not conflict with those of the statement that reads it.
  await duck.run(`CREATE TABLE bill AS SELECT * FROM (VALUES
    (1.123456789012::DECIMAL(38, 12), 1.25::DECIMAL(9, 2), 1.5::DECIMAL(38, 18), 7::BIGINT, 'USD', ${day}, ${day}, MAP {'team': 'a'}, 'r1', 'c1', 'x'),
    (-0.000000000001, -3, 0.0000000000005, -9223372036854775807, 'NULL', TIMESTAMP '1989-12-31 23:59:59', TIMESTAMP '1989-12-31 23:59:59', MAP {' team ': 'a', 'b': ''}, 'NULL', 'n/a', ''),
    (99999999999999999999999999.999999999999, NULL, 99999999999999999999.4, 0, 'usd', TIMESTAMP '2100-01-01 00:00:00', TIMESTAMP '2100-01-01 00:00:00', MAP {'': 'a', 'q"': 'é'' "'}, NULL, '\\N', NULL),
    (NULL, 0, NULL, NULL, NULL, NULL, TIMESTAMP '2100-01-01 00:00:01', MAP {}, '', ' ', 'null'),
    (NULL, 0, NULL, NULL, NULL, TIMESTAMP '2026-05-01 23:59:59.999', NULL, NULL, '', ' ', 'null')
    ) AS bill(BilledCost, EffectiveCost, ListCost, PricingQuantity, BillingCurrency, ChargePeriodStart, ChargePeriodEnd, Tags, "row", c1, custom)`);
  await duck.run(`COPY bill TO '${folder}/bill.parquet' (FORMAT parquet)`);
  const iso = (column: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ') AS ${column}`;
  await duck.run(`COPY (SELECT * REPLACE (${iso("ChargePeriodStart")}, ${iso("ChargePeriodEnd")}, to_json(Tags) AS Tags) FROM bill)
    TO '${folder}/bill.csv' (FORMAT csv, HEADER)`);
  const [typed, text] = await Promise.all(
    ["bill.parquet", "bill.csv"].map(async (name) => await readFile(join(folder, name))),
  );
  const all = "* EXCEPT (delivery)";
  const ofParquet = await loaded(typed ?? "", all, "bill");
  const ofCsv = await loaded(text ?? "", all, "bill");
  t.equal(ofParquet.outcome.state, "current");
  t.strictSame(ofParquet.rows, ofCsv.rows);
  t.strictSame(found(ofParquet.findings), found(ofCsv.findings));
  const ids = ofParquet.findings.map(({ id }) => id);
  for (const id of ["no_charge_date", "no_currency", "rounded_cost", "unreadable_date", "blank_tag_key"])
    t.ok(ids.includes(id), id);
  t.strictSame(
    ofParquet.rows.map((row) => row.custom_columns),
    [{ c1: "c1", custom: "x", row: "r1" }, {}, {}, { c1: " " }, { c1: " " }],
  );
});

t.test("every line has the number of its row, even in a file that several threads read", async (t) => {
  const folder = t.testdir();
  const lines = `SELECT range + 1 AS x_Row, range % 7 AS EffectiveCost, 'USD' AS BillingCurrency, '2026-05-01T00:00:00Z' AS ChargePeriodStart,
    repeat(md5(range::VARCHAR), 1 + range % 4) AS ResourceName FROM range(600000)`;
  await duck.run(`COPY (${lines}) TO '${folder}/bill.parquet' (FORMAT parquet, ROW_GROUP_SIZE 20000)`);
  await duck.run(`COPY (${lines}) TO '${folder}/bill.csv' (FORMAT csv, HEADER)`);
  for (const name of ["bill.parquet", "bill.csv"]) {
    const outcome = await loadBills(
      store,
      deliveryOf([fileOf(name, await readFile(join(folder, name)))], { source: name }),
    );
    t.equal(outcome.state, "current", name);
    const query = `SELECT toString(count()) AS lines, toString(countIf(toString(line) != custom_columns['x_Row'])) AS misplaced
      FROM focus_lines WHERE delivery = (SELECT max(delivery) FROM focus_lines)`;
    t.strictSame(await loadedRows(store, query), [{ lines: "600000", misplaced: "0" }], name);
  }
});
