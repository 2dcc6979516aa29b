/** A spreadsheet, `curl` or a BI tool can read the export by a plain URL. */
import { Readable } from "node:stream";
import { tableFromIPC } from "apache-arrow";
import t from "tap";
import { recordTestDimensions } from "../tags/tagging.js";
import { insertChargebacks, startService } from "./service.js";

const url = "/api/v1/tenants/acme/export";

t.test("GET /api/v1/tenants/{tenant_name}/export", async (t) => {
  const { app, stores } = await startService(t);
  await insertChargebacks(stores, "acme", [
    { timestamp: "2026-03-01T00:00:00Z", amount: "10.5", identity_id: "=a" },
    { timestamp: "2026-03-02T12:34:56Z", amount: "-0.000000000001", identity_id: "b", cost_type: "shared" },
    { timestamp: "2026-03-03T00:00:00Z", amount: "9999999999999999999999999.5", identity_id: "b" },
    { timestamp: "2026-01-01T00:00:00Z", amount: "7", identity_id: "old" },
  ]);
  await recordTestDimensions(stores, "acme");
  const { client } = await stores.tenant("acme");
  await client.command({
    query:
      "INSERT INTO dimension_tags SELECT dimension_id, 1, 'team', 'Core', 0, 1 FROM dimensions WHERE identity_id = 'b'",
  });
  const byGet = (query: string, headers: Record<string, string> = {}) =>
    app.inject({ method: "GET", url: `${url}?${query}`, headers });
  const byPost = (payload: object, query = "", headers: Record<string, string> = {}) =>
    app.inject({ method: "POST", url: `${url}?${query}`, payload, headers });

  for (const [query, body, postQuery = ""] of [
    ["", {}],
    ["columns=amount&columns=identity_id&columns=amount", { columns: ["amount", "identity_id", "amount"] }],
    ["raw=true&columns=identity_id", { columns: ["identity_id"] }, "raw=true"],
    ["bom=true&columns=identity_id", { columns: ["identity_id"], bom: true }],
    [
      "bom=true&format=focus&start_date=2020-01-01&end_date=2020-01-01",
      { start_date: "2020-01-01", end_date: "2020-01-01" },
      "bom=true&format=focus",
    ],
    ["columns=dimension_id", { columns: ["dimension_id"] }],
    ["identity_id=b&cost_type=usage", { filters: { identity_id: "b", cost_type: "usage" } }],
    ["tag:team=Core", { filters: { "tag:team": "Core" } }],
    ["start_date=2026-01-01&end_date=2026-01-01", { start_date: "2026-01-01", end_date: "2026-01-01" }],
    [
      "start_date=2026-02-28&end_date=2026-02-28&timezone=America/Denver",
      { start_date: "2026-02-28", end_date: "2026-02-28", timezone: "America/Denver" },
    ],
    ["format=parquet", {}, "format=parquet"],
    ["format=arrow&columns=metadata&columns=tags", { columns: ["metadata", "tags"] }, "format=arrow"],
  ] as const) {
    await t.test(`?${query}: the response equals that of POST`, async (t) => {
      const [one, other] = [await byGet(query), await byPost(body, postQuery)];
      t.equal(one.statusCode, 200, one.body);
      t.ok(one.rawPayload.equals(other.rawPayload), "the bytes are equal");
      for (const header of ["content-type", "content-disposition"])
        t.equal(one.headers[header], other.headers[header]);
    });
  }

  for (const [query, body, postQuery = ""] of [
    ["columns=amonut", { columns: ["amonut"] }],
    ["identityid=a", { filters: { identityid: "a" } }],
    ["start_date=2026-03-02&end_date=2026-03-01", { start_date: "2026-03-02", end_date: "2026-03-01" }],
    ["timezone=Mars/Olympus", { timezone: "Mars/Olympus" }],
    ["format=xlsx", {}, "format=xlsx"],
    ["format=parquet&bom=true", { bom: true }, "format=parquet"],
    ["format=focus_parquet&bom=true", {}, "format=focus_parquet&bom=true"],
    [Array.from({ length: 101 }, () => "columns=amount").join("&"), { columns: Array(101).fill("amount") }],
  ] as const) {
    await t.test(`?${query.slice(0, 60)}: refused as by POST`, async (t) => {
      const [one, other] = [await byGet(query), await byPost(body, postQuery)];
      t.strictSame([one.statusCode, other.statusCode], [400, 400]);
      t.equal(one.json().code, other.json().code);
    });
  }

  await t.test("`format` takes precedence over `Accept`", async (t) => {
    const type = async (query: string, accept: string) =>
      (await byGet(query, { accept })).headers["content-type"];
    t.equal(await type("format=csv", "application/vnd.apache.parquet"), "text/csv; charset=utf-8");
    t.equal(await type("", "application/vnd.apache.parquet"), "application/vnd.apache.parquet");
    t.equal(await type("", "text/html,*/*;q=0.8"), "text/csv; charset=utf-8");
    t.equal((await byGet("", { accept: "application/json" })).statusCode, 406);
    t.equal((await byGet("format=csv", { accept: "application/json" })).statusCode, 200);
  });

  await t.test(
    "a CSV begins with a byte order mark if `bom` is true, and with its header otherwise",
    async (t) => {
      for (const query of ["", "&format=focus&start_date=2020-01-01&end_date=2020-01-01"]) {
        const [plain, marked] = [await byGet(`bom=false${query}`), await byGet(`bom=true${query}`)];
        t.strictSame([plain.statusCode, marked.statusCode], [200, 200]);
        t.not(plain.rawPayload[0], 0xef);
        t.ok(marked.rawPayload.equals(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain.rawPayload])));
      }
      const refused = await byPost({ bom: true }, "format=arrow");
      t.strictSame(refused.json().errors, [
        {
          in: "body",
          name: "bom",
          code: "invalid",
          detail:
            "`bom` must be false for arrow: only a CSV (`format=csv` or `format=focus`) can begin with a byte order mark.",
        },
      ]);
    },
  );

  await t.test("`dimension_id` is that of the list, as text in CSV and as an integer in Arrow", async (t) => {
    const list = await app.inject({ url: "/api/v1/tenants/acme/chargebacks" });
    const ids = list.json().items.map((row: { dimension_id: number }) => row.dimension_id);
    t.equal(new Set(ids).size, 3);
    const query = "columns=dimension_id&columns=identity_id";
    const [, ...lines] = (await byGet(query)).body.trim().split("\n");
    t.strictSame(lines, [`${ids[0]},'=a`, `${ids[1]},b`, `${ids[2]},b`]);
    const table = tableFromIPC((await byGet(`${query}&format=arrow`)).rawPayload);
    t.equal(String(table.schema.fields[0]?.type), "Uint64");
    t.strictSame(
      table.toArray().map((row) => Number(row.dimension_id)),
      ids,
    );
  });

  await t.test("HEAD returns the headers of GET without reading rows", async (t) => {
    const [head, whole] = [await app.inject({ method: "HEAD", url }), await byGet("")];
    t.strictSame([head.statusCode, head.body], [200, ""]);
    for (const header of ["content-type", "content-disposition", "vary", "cache-control", "content-length"])
      t.equal(head.headers[header], whole.headers[header], header);
    t.equal((await app.inject({ method: "HEAD", url: `${url}?columns=amonut` })).statusCode, 400);
    t.equal((await app.inject({ method: "HEAD", url: url.replace("acme", "nobody") })).statusCode, 404);
  });

  await t.test("GET with a body is refused", async (t) => {
    const { statusCode } = await app.inject({ method: "DELETE", url });
    t.equal(statusCode, 405);
  });

  await t.test("Arrow's own JavaScript library reads the file, with exact values", async (t) => {
    const columns = ["timestamp", "identity_id", "amount", "tags", "metadata"].map(
      (each) => `columns=${each}`,
    );
    const { rawPayload } = await byGet(`format=arrow&${columns.join("&")}`);
    const table = tableFromIPC(rawPayload);
    t.strictSame(
      table.schema.fields.map(({ name, type }) => `${name} ${type}`),
      [
        "timestamp Timestamp<MILLISECOND, UTC>",
        "identity_id Utf8",
        "amount Decimal[38e+12]",
        "tags List<Utf8>",
        "metadata Utf8",
      ],
    );
    const rows = table.toArray().map((row) => {
      const { timestamp, identity_id, tags } = row.toJSON();
      return [new Date(timestamp).toISOString(), identity_id, [...(tags ?? [])]];
    });
    t.strictSame(rows, [
      ["2026-03-01T00:00:00.000Z", "=a", []],
      ["2026-03-02T12:34:56.000Z", "b", ["Core"]],
      ["2026-03-03T00:00:00.000Z", "b", ["Core"]],
    ]);
    const amounts = table.toArray().map((row) => wholeOf(row.amount));
    t.strictSame(amounts, [10_500_000_000_000n, -1n, 9999999999999999999999999_500_000_000_000n]);
    t.equal(JSON.parse(String(table.get(0)?.metadata)).component, 0);
  });

  await t.test("Arrow's own JavaScript library reads files of several statements and of none", async (t) => {
    const response = await byPost({ columns: ["metadata"] }, "format=arrow");
    const table = await tableFromIPC(Readable.from([response.rawPayload]));
    t.equal(table.numRows, 3);
    const empty = await byGet("format=arrow&start_date=2020-01-01&end_date=2020-01-01");
    t.equal(tableFromIPC(empty.rawPayload).numRows, 0);
  });
});

/** An Arrow decimal is four little-endian words. */
function wholeOf(words: Uint32Array): bigint {
  return BigInt.asIntN(
    128,
    [...words].reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n),
  );
}
