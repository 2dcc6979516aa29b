/** Usage can be uploaded by request. A key makes an upload idempotent. */
import { Readable } from "node:stream";
import t from "tap";
import { openTestStores, temporaryFolder } from "../stores.js";
import { startApi } from "./start-api.js";

const tenants = (folder: string) => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      usage: { uploads: { metrics: [cpu, gpu_hours], max_mib: 1 } }
      sources: [{ name: cloud, location: ${folder} }]
  bare:
    ecosystem: focus
    tenant_id: bare
    storage: { connection_string: "embedded:bare" }
    plugin_settings:
      sources: [{ name: cloud, location: ${folder} }]`;

const HEADER = "date,metric,resource_id,identity_id,quantity";
const row = (day: string, metric: string, quantity: string, who = "web", what = "r-1") =>
  `${day},${metric},${what},${who},${quantity}`;
const csv = (...rows: readonly string[]) => `${[HEADER, ...rows].join("\n")}\n`;

t.test("uploads by request", async (t) => {
  const { config, stores } = await openTestStores(t, tenants(temporaryFolder(t)));
  const app = await startApi(t, { config, stores, now: new Date("2026-06-30T12:00:00Z") });
  const post = async (
    body: string | Readable | Buffer,
    key: string | undefined,
    { tenant = "acme", type = "text/csv" }: { tenant?: string; type?: string } = {},
  ) => {
    const headers = { "content-type": type, ...(key !== undefined && { "idempotency-key": key }) };
    const response = await app.inject({
      method: "POST",
      url: `/api/v1/tenants/${tenant}/usage`,
      headers,
      payload: body,
    });
    return { status: response.statusCode, body: response.json() };
  };
  const list = async (query = "") => (await app.inject({ url: `/api/v1/tenants/acme/usage${query}` })).json();
  const partitions = async () => {
    const { client } = await stores.tenant("acme");
    const query = "SELECT DISTINCT upload_id::String AS id FROM usage_uploads ORDER BY id";
    return await (await client.query({ query, format: "JSONEachRow" })).json();
  };

  const good = csv(
    row("2026-06-24", "cpu", "1.5"),
    row("2026-06-01", "gpu_hours", "0"),
    row("2026-06-30", "cpu", "2"),
  );
  const first = await post(good, "a");
  t.equal(first.status, 200, JSON.stringify(first.body));
  const { upload_id: id, ...rest } = first.body;
  t.type(id, "number");
  t.strictSame(rest, {
    idempotency_key: "a",
    rows: 3,
    metrics: ["cpu", "gpu_hours"],
    first_day: "2026-06-01",
    last_day: "2026-06-30",
    days_to_recalculate: ["2026-06-24", "2026-06-30"],
    days_past_lookback: ["2026-06-01"],
  });

  t.strictSame(await post(good, "a"), first, "the same upload gets the same response");
  t.strictSame(
    await post(Readable.from([Buffer.from(good)]), "a"),
    first,
    "the response does not depend on how the body is split into chunks",
  );
  const reused = await post(csv(row("2026-06-24", "cpu", "9")), "a");
  t.strictSame([reused.status, reused.body.code], [409, "idempotency_key_reused"]);
  t.strictSame((await list()).total, 1);

  const other = await post(csv(row("2026-06-24", "cpu", "1")), "b");
  t.equal(other.status, 200);
  const { items } = await list();
  t.strictSame(
    items.map((each: Record<string, unknown>) => [
      each.idempotency_key,
      each.state,
      each.origin,
      each.day_metrics,
      each.day_metrics_in_effect,
    ]),
    [
      ["b", "stored", "api", 1, 1],
      ["a", "stored", "api", 3, 2],
    ],
  );
  const page = await list("?page_size=1");
  t.strictSame([page.items.length, page.pages], [1, 2]);
  const next = await list(`?page_size=1&cursor=${page.next_cursor}`);
  t.strictSame([next.items[0].idempotency_key, next.next_cursor], ["a", null]);

  await t.test("two requests with one key at a time are one upload", async (t) => {
    const body = csv(row("2026-06-20", "cpu", "1"));
    const [a, b] = await Promise.all([post(body, "twice"), post(body, "twice")]);
    t.strictSame(a, b);
    t.strictSame(a.status, 200);
    const { items } = await list();
    t.strictSame(
      items.filter((each: { idempotency_key: string }) => each.idempotency_key === "twice").length,
      1,
    );
  });

  const kept = await partitions();
  const DAY = "Must be a day such as 2026-05-31, from 1970-01-01 to 2105-12-31.";
  const TEXT =
    "Must be a text of 1 to 1000 characters, without control characters and without blanks around it.";
  const NUMBER = "Must be a decimal of 0 or more, below 10^24, such as 12.5 or 1e-3.";
  const UNEVEN =
    "Must have as many values as the header, every quote closed, and quotes within a value doubled.";
  const refusals: [title: string, body: string | Buffer, details: string[]][] = [
    [
      "every kind of value",
      csv(
        row("2026-02-30", "cpu", "1"),
        row("2026-06-24T00:00:00Z", "cpu", "1"),
        row("2026-06-24", "mem", "1"),
        row("2026-06-24", "cpu", "1", "", "r"),
        row("2026-06-24", "cpu", "1", "web", " r"),
        row("2026-06-24", "cpu", "-1"),
        row("2026-06-24", "cpu", "1,5".replace(",", ";")),
        row("2026-06-24", "cpu", "1e24"),
        row("2026-06-24", "cpu", ""),
        row("2026-06-24", "cpu", "NaN"),
        row("1969-12-31", "cpu", "1"),
        row("2026-06-24", "cpu", "1"),
      ),
      [
        `row 1, column date: ${DAY}`,
        `row 2, column date: ${DAY}`,
        "row 3, column metric: Must be one of the metrics in usage.uploads.metrics: cpu, gpu_hours.",
        `row 4, column identity_id: ${TEXT}`,
        `row 5, column resource_id: ${TEXT}`,
        ...[6, 7, 8, 9, 10].map((at) => `row ${at}, column quantity: ${NUMBER}`),
        `row 11, column date: ${DAY}`,
      ],
    ],
    [
      "control characters",
      csv(row("2026-06-24", "cpu", "1", '"a\tb"')),
      [`row 1, column identity_id: ${TEXT}`],
    ],
    ["C1 controls", csv(row("2026-06-24", "cpu", "1", "a\u0085b")), [`row 1, column identity_id: ${TEXT}`]],
    [
      "the header",
      "day,metric,resource_id,identity_id,quantity,date,date\n",
      [
        "row 0, column day: The header must have the columns `date` or `hour`, and `metric`, `resource_id`, `identity_id`, `quantity`, and no others.",
        "row 0, column date: The header must name each column once.",
      ],
    ],
    [
      "both times",
      `hour,${HEADER}\n`,
      ["row 0, column date: The header must have one of `date` and `hour`."],
    ],
    ["nothing", "", ["The file is empty; CSV that is not compressed can be read."]],
    ["no rows", csv(), ["The file has no rows: a row with quantity 0 says that nothing was used."]],
    [
      "an open quote",
      `${HEADER}\n2026-06-24,cpu,r,web,"1\n`,
      ["A quote in the file is not closed, or the file is cut off."],
    ],
    ["a row too short", csv(row("2026-06-24", "cpu", "1"), "2026-06-24,cpu"), [`row 2: ${UNEVEN}`]],
    ["an open quote before the last column", `${HEADER}\n2026-06-24,cpu,r,"web,1\n`, [`row 1: ${UNEVEN}`]],
    ["gzip", Buffer.from([0x1f, 0x8b, 8, 0, 0]), ["The file must be CSV, and not compressed."]],
    [
      "Latin-1",
      Buffer.from(csv(row("2026-06-24", "cpu", "1", "caf\u00e9")), "latin1"),
      [`row 1, column identity_id: ${TEXT}`],
    ],
  ];
  for (const [title, body, details] of refusals) {
    const { status, body: problem } = await post(body, "bad");
    t.strictSame([status, problem.code], [400, "invalid_request"], title);
    t.strictSame(
      problem.errors?.map((each: { detail: string }) => each.detail),
      details,
      title,
    );
  }
  t.strictSame(await partitions(), kept, "nothing of the refused uploads is stored");

  await t.test("files with another separator are the same usage", async (t) => {
    const plain = csv(
      row("2026-06-21", "cpu", "1.5", "a b"),
      row("2026-06-22", "gpu_hours", "2", "ops", "x-1"),
    );
    const quantities = async (uploadId: number) => {
      const { client } = await stores.tenant("acme");
      const query = `SELECT toString(day) AS day, metric, resource_id, identity_id, toUInt32(micro_units) AS micro_units FROM usage_uploads
        WHERE upload_id = ${uploadId} AND refused = '' ORDER BY day`;
      return await (await client.query({ query, format: "JSONEachRow" })).json();
    };
    const expected = [
      { day: "2026-06-21", metric: "cpu", resource_id: "r-1", identity_id: "a b", micro_units: 1_500_000 },
      {
        day: "2026-06-22",
        metric: "gpu_hours",
        resource_id: "x-1",
        identity_id: "ops",
        micro_units: 2_000_000,
      },
    ];
    for (const [what, body] of Object.entries({
      commas: plain,
      semicolons: plain.replaceAll(",", ";"),
      tabs: plain.replaceAll(",", "\t"),
      "a mark and a line sep=": `\uFEFFsep=;\r\n${plain.replaceAll(",", ";").replaceAll("\n", "\r\n")}`,
    })) {
      const { status, body: taken } = await post(body, `separated by ${what}`);
      t.equal(status, 200, what);
      t.strictSame(await quantities(taken.upload_id), expected, what);
    }
    const decimalComma = await post(
      csv(row("2026-06-21", "cpu", "1.5"))
        .replaceAll(",", ";")
        .replace("1.5", "1,5"),
      "a decimal comma",
    );
    t.strictSame(
      [decimalComma.status, decimalComma.body.errors?.map((each: { detail: string }) => each.detail)],
      [400, [`row 1, column quantity: ${NUMBER}`]],
    );
  });

  await t.test("what is taken as it is", async (t) => {
    const hours = `hour,quantity,identity_id,resource_id,metric\r\n2026-06-24T05Z,1e-6,"a,""b""",À,cpu\r\n2026-06-24T23:00:00Z,.0000005,b,r,cpu\r\n2026-06-24T23:00Z,0.00000049,b,r,cpu\r\n`;
    const { status, body } = await post(`\uFEFF${hours}`, "hours");
    t.equal(status, 200, JSON.stringify(body));
    const { client } = await stores.tenant("acme");
    const query = `SELECT toString(day) AS day, toString(timestamp) AS at, resource_id AS r, identity_id AS i, toString(micro_units) AS m, scale
      FROM usage_uploads WHERE upload_id = ${body.upload_id} AND refused = '' ORDER BY row`;
    t.strictSame(await (await client.query({ query, format: "JSONEachRow" })).json(), [
      { day: "2026-06-24", at: "2026-06-24 05:00:00", r: "À", i: 'a,"b"', m: "1", scale: 0 },
      { day: "2026-06-24", at: "2026-06-24 23:00:00", r: "r", i: "b", m: "500000000000", scale: 12 },
      { day: "2026-06-24", at: "2026-06-24 23:00:00", r: "r", i: "b", m: "490000000000", scale: 12 },
    ]);
  });

  await t.test("requests that are no upload", async (t) => {
    const codeOf = async (...request: Parameters<typeof post>) => {
      const { status, body } = await post(...request);
      return `${status} ${body.code} ${body.errors?.[0]?.in ?? ""} ${body.errors?.[0]?.name ?? ""}`.trim();
    };
    t.strictSame(await codeOf(good, undefined), "400 invalid_request header Idempotency-Key");
    t.strictSame(await codeOf(good, "x".repeat(201)), "400 invalid_request header Idempotency-Key");
    t.strictSame(await codeOf("{}", "j", { type: "application/json" }), "400 malformed_body");
    t.strictSame(await codeOf(good, "b2", { tenant: "bare" }), "400 usage_not_taken");
    const none = (await app.inject({ url: "/api/v1/tenants/bare/usage" })).json();
    t.strictSame([(await list()).accepted_metrics, none.accepted_metrics], [["cpu", "gpu_hours"], []]);
    t.strictSame(await codeOf(good, "b3", { tenant: "nobody" }), "404 tenant_not_found");
    t.strictSame(await codeOf(`${HEADER}\n${"x".repeat(1_100_000)}`, "long"), "413 body_too_large");
  });
});
