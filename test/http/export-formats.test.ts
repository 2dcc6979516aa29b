import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { DuckDBInstance } from "@duckdb/node-api";
import t from "tap";
import { fingerprintSql, plainDimensionIdSql } from "../../src/domain/dimension-id.js";
import { holds } from "../holds.js";
import { insertChargebacks, startService } from "./service.js";

const url = "/api/v1/tenants/acme/export";
const PARQUET = "application/vnd.apache.parquet";
const ARROW = "application/vnd.apache.arrow.stream";

t.test("POST …/export returns Parquet or Arrow by Accept", async (t) => {
  const { app, stores } = await startService(t);
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-parquet-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const duck = await DuckDBInstance.create(":memory:");
  const connection = await duck.connect();
  t.teardown(() => {
    connection.closeSync();
    duck.closeSync();
  });
  const post = (body: object, headers: Record<string, string>, query = "") =>
    app.inject({ method: "POST", url: `${url}${query}`, payload: body, headers });
  const bytes = async (body: object, accept: string) => {
    const response = await post(body, { accept });
    t.equal(response.statusCode, 200, `${accept} ${JSON.stringify(body)}`);
    return response.rawPayload;
  };
  /** Reads the file with DuckDB, which returns decimals as text in JSON. */
  const parquet = async (body: object, select = "*") => {
    const file = join(folder, "export.parquet");
    writeFileSync(file, await bytes(body, PARQUET));
    return (await connection.runAndReadAll(`SELECT ${select} FROM '${file}'`)).getRowObjectsJson();
  };
  const { client } = await stores.tenant("acme");
  /** Reads the file with the engine, which takes the columns from the file itself. */
  const arrow = async (body: object, columns: string) => {
    await client.command({ query: "DROP TABLE IF EXISTS read_back" });
    await client.command({ query: `CREATE TABLE read_back (${columns}) ENGINE = Memory` });
    const values = Readable.from([await bytes(body, ARROW)], { objectMode: false });
    await client.exec({ query: "INSERT INTO read_back FORMAT ArrowStream", values });
    return (await client.query({ query: "SELECT * FROM read_back", format: "JSONEachRow" })).json();
  };

  await t.test("without rows the file still has its columns", async (t) => {
    t.same(await parquet({}), []);
    const [amount] = await parquet(
      { columns: ["amount"] },
      "count(*) AS n, any_value(typeof(amount)) AS kind",
    );
    t.same(amount, { n: "0", kind: null });
    t.same(await arrow({ columns: ["identity_id"] }, "identity_id String"), []);
  });

  await insertChargebacks(stores, "acme", [
    {
      timestamp: "2026-03-01T00:00:00Z",
      amount: "9999999999999999999999999.000000000001",
      identity_id: "=1+1",
      resource_id: "r-0",
      env_id: "e-1",
    },
    { timestamp: "2026-03-01T05:00:00Z", amount: "-0.25", identity_id: 'say "hi"\nß', cost_type: "shared" },
    { timestamp: "2026-03-02T12:34:56Z", amount: "0.000000000001", identity_id: "b" },
    { timestamp: "2026-03-04T00:00:00Z", amount: "7", identity_id: "c", resource_id: "r-9" },
  ]);
  const fields =
    "ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type";
  await client.command({
    query: `INSERT INTO dimensions (dimension_id, fingerprint, ${fields})
      SELECT DISTINCT ${plainDimensionIdSql("fingerprint")}, ${fingerprintSql()} AS fingerprint, ${fields} FROM chargebacks`,
  });
  await client.command({
    query: `INSERT INTO dimension_tags SELECT dimension_id, tag.1, tag.2, tag.3, 0, 1
      FROM dimensions ARRAY JOIN [(2, 'team', 'Core;x'), (1, 'stage', 'prod')] AS tag WHERE identity_id = 'b'`,
  });

  await t.test("Parquet has the rows of the list in their order, with exact values and types", async (t) => {
    t.same(await parquet({ columns: ["timestamp", "identity_id", "amount", "tags"] }), [
      {
        timestamp: "2026-03-01 00:00:00+00",
        identity_id: "=1+1",
        amount: "9999999999999999999999999.000000000001",
        tags: [],
      },
      {
        timestamp: "2026-03-01 05:00:00+00",
        identity_id: 'say "hi"\nß',
        amount: "-0.250000000000",
        tags: [],
      },
      {
        timestamp: "2026-03-02 12:34:56+00",
        identity_id: "b",
        amount: "0.000000000001",
        tags: ["prod", "Core;x"],
      },
      { timestamp: "2026-03-04 00:00:00+00", identity_id: "c", amount: "7.000000000000", tags: [] },
    ]);
    const typed = "typeof(timestamp) AS t, typeof(amount) AS a, typeof(tags) AS g, typeof(cost_type) AS c";
    const [types] = await parquet({}, typed);
    holds(t, types, { t: /^TIMESTAMP/, a: "DECIMAL(38,12)", g: "VARCHAR[]", c: "VARCHAR" });
    const [sum] = await parquet({ columns: ["amount"] }, "sum(amount)::VARCHAR AS total");
    t.same(sum, { total: "10000000000000000000000005.750000000002" });
  });

  await t.test(
    "Parquet rows of several statements, one for each day with metadata, form one file",
    async (t) => {
      const rows = await parquet(
        { columns: ["identity_id", "metadata", "amount"] },
        "identity_id, metadata::JSON->>'env_id' AS env, amount",
      );
      t.same(
        rows.map(({ identity_id, env }) => [identity_id, env]),
        [
          ["=1+1", "e-1"],
          ['say "hi"\nß', null],
          ["b", null],
          ["c", null],
        ],
      );
      const groups = await parquet({ columns: ["metadata"] }, "count(*) AS n");
      t.same(groups, [{ n: "4" }]);
      const file = join(folder, "export.parquet");
      const metadata = await connection.runAndReadAll(
        `SELECT DISTINCT row_group_id FROM parquet_metadata('${file}')`,
      );
      t.equal(metadata.currentRowCount, 3, "the file has a row group for each day");
    },
  );

  await t.test("Arrow has the rows of the list in their order, with exact values and types", async (t) => {
    t.same(
      await arrow(
        { columns: ["timestamp", "identity_id", "amount", "tags", "metadata"] },
        "timestamp DateTime64(3, 'UTC'), identity_id String, amount Decimal(38, 12), tags Array(String), metadata String",
      ),
      [
        ["2026-03-01T00:00:00.000Z", "=1+1", "9999999999999999999999999.000000000001", [], "e-1"],
        ["2026-03-01T05:00:00.000Z", 'say "hi"\nß', "-0.25", [], ""],
        ["2026-03-02T12:34:56.000Z", "b", "0.000000000001", ["prod", "Core;x"], ""],
        ["2026-03-04T00:00:00.000Z", "c", "7", [], ""],
      ].map(([timestamp, identity_id, amount, tags, env]) => ({
        timestamp,
        identity_id,
        amount,
        tags,
        metadata: `{"component":0,"component_ratio":"1","tier":0,${env === "" ? "" : `"env_id":"${env}",`}"metric":""}`,
      })),
    );
  });

  await t.test(
    "exports can be filtered, also by tags, and a repeated column gets a name of its own",
    async (t) => {
      const body = { columns: ["identity_id", "amount", "identity_id"], filters: { "tag:team": "Core;x" } };
      t.same(await parquet(body), [{ identity_id: "b", amount: "0.000000000001", identity_id_2: "b" }]);
      const both = {
        columns: ["identity_id", "amount"],
        filters: { "tag:team": ["Core;x", "Core;x,UNTAGGED"] },
      };
      t.equal(
        (await post(both, {})).body,
        (await post({ ...both, filters: { "tag:team": "Core;x" } }, {})).body,
      );
      const neither = await post({ ...both, filters: { "tag:team": ["Core;x", "UNTAGGED"] } }, {});
      t.equal(
        neither.body.trim().split("\n").length,
        1,
        "all filters of a list must match, so only the header is left",
      );
      const untagged = { columns: ["identity_id"], filters: { "tag:team": "UNTAGGED", cost_type: "usage" } };
      t.same(await parquet(untagged), [{ identity_id: "=1+1" }, { identity_id: "c" }]);
      const csv = await post({ columns: ["identity_id"], filters: { "tag:stage": "nope,prod" } }, {});
      t.equal(csv.body, "identity_id\nb\n");
    },
  );

  for (const [accept, type] of [
    [undefined, "text/csv; charset=utf-8"],
    ["*/*", "text/csv; charset=utf-8"],
    ["text/*", "text/csv; charset=utf-8"],
    ["application/json, text/plain, */*", "text/csv; charset=utf-8"],
    [PARQUET, PARQUET],
    [`text/csv;q=0.5, ${PARQUET}`, PARQUET],
    [`${ARROW};q=0.9, ${PARQUET};q=0.8, */*;q=0.1`, ARROW],
    ["*/*;q=0.1, text/csv;q=0", PARQUET],
    ["APPLICATION/VND.APACHE.ARROW.STREAM", ARROW],
    ["application/*", PARQUET],
    ["nonsense, text/csv;q=7, */*", "text/csv; charset=utf-8"],
  ] as const) {
    await t.test(`Accept: ${accept}`, async (t) => {
      const response = await post(
        { start_date: "2026-03-01" },
        { "accept-encoding": "gzip", ...(accept && { accept }) },
      );
      t.equal(response.statusCode, 200);
      t.equal(response.headers["content-type"], type);
      const extension = type === PARQUET ? "parquet" : type === ARROW ? "arrows" : "csv";
      t.equal(
        response.headers["content-disposition"],
        `attachment; filename="chargebacks_acme_2026-03-01_2026-03-10_0-of-10-days_incomplete.${extension}"`,
      );
      t.equal(
        response.headers["content-encoding"],
        extension === "csv" ? "gzip" : undefined,
        "CSV is compressed, and no other format",
      );
    });
  }

  for (const accept of ["application/json", "image/*", "text/csv;q=0", "text/html, application/xhtml+xml"]) {
    await t.test(`406: ${accept}`, async (t) => {
      const response = await post({}, { accept });
      t.equal(response.statusCode, 406);
      holds(t, response.json(), {
        code: "not_acceptable",
        detail: /text\/csv, application\/vnd\.apache\.parquet, application\/vnd\.apache\.arrow\.stream/,
      });
      t.equal((await post({ colums: [] }, { accept })).statusCode, 400, "an invalid body is reported first");
    });
  }

  for (const [filters, named] of [
    [{ "tag:": "x" }, /`tag:KEY` must be the key of a tag/],
    [{ "tag:team": [] }, /display names of 1 to 500/],
    [{ "tag:team": [["x"]] }, /display names of 1 to 500/],
    [{ "tag:team": "" }, /display names of 1 to 500/],
    [{ "tag:team": "a,,b" }, /tag:KEY/],
    [{ "tag:team": 1 }, /tag:KEY/],
    [{ "tag:team": null }, /tag:KEY/],
    [{ [`tag:${"k".repeat(101)}`]: "x" }, /tag:KEY/],
    [{ tags: { team: "x" } }, /Unknown field `tags`/],
  ] as const) {
    await t.test(`400: filters ${JSON.stringify(filters).slice(0, 40)}`, async (t) => {
      const response = await post({ filters }, {});
      t.equal(response.statusCode, 400);
      holds(t, response.json(), { code: "invalid_request", detail: named });
    });
  }
});
