/** A breakdown as SQL: the text returns the API's sums on the SQL port, to the last digit. */
import t from "tap";
import { copyNames } from "../../src/ingest/inventory/copy-names.js";
import { sortNames } from "../../src/query/chargebacks/breakdown-statements.js";
import { freePort } from "../free-port.js";
import { gatherInto } from "../http/gathered-inventory.js";
import { type ChargebackInput, get, insertChargebacks, NOW } from "../http/service.js";
import { startApi } from "../http/start-api.js";
import fc, { seedOf } from "../property.js";
import { fixedTenant, openTestStores } from "../stores.js";
import { recordTestDimensions } from "../tags/tagging.js";

/** Values that would break out of unquoted text, or have a meaning in it. */
const hostile = [
  "it's",
  "back\\slash\\",
  "\\'; DROP TABLE chargebacks; --",
  '"quoted" `names`',
  "{x:String} $x$ ?",
  "/* no comment */ -- none # none",
  "line\nend\tand\u0001control",
  "🧾 «Maß» \u202egnitekram",
];
const values = {
  identity_id: [...hostile, "sa-1", "sa-2", "UNALLOCATED"],
  resource_id: ["r-1", "r-2", ...hostile.slice(0, 3)],
  product_type: ["STORAGE", "NET'WORK"],
  product_category: ["KAFKA", "FLINK"],
  env_id: ["", "env-1", "env-2"],
  cost_type: ["usage", "shared"],
  allocation_method: ["usage_ratio", "even_split", "terminal"],
  allocation_detail: ["usage_ratio_allocation", "owner_unknown"],
  currency: ["USD", "EUR"],
  charge_category: ["", "Usage"],
  service_provider: ["", "AWS"],
  account_id: ["", "1", "2"],
  region_id: ["", "eu"],
  sku_id: ["", "S,1"],
  rule: ["", hostile[2]],
} as const;
const lineTagKey = "center's \\ «key»";
const times = ["00:00:00", "02:30:00", "05:00:00", "23:00:00"];
/**
 * Days around the clock changes in New York (8 March 2026) and on Lord Howe (5 April), where clocks change by half an
 * hour.
 */
const days = ["2026-02-27", "2026-03-01", "2026-03-08", "2026-03-09", "2026-04-04", "2026-04-05"];

const drawnRow: fc.Arbitrary<ChargebackInput> = fc.record({
  timestamp: fc
    .tuple(fc.constantFrom(...days), fc.constantFrom(...times))
    .map(([day, time]) => `${day}T${time}Z`),
  amount: fc
    .tuple(fc.integer({ min: -90_000, max: 900_000 }), fc.integer({ min: 0, max: 999_999_999 }))
    .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(12, "0")}`),
  identity_id: fc.constantFrom(...values.identity_id),
  resource_id: fc.constantFrom(...values.resource_id),
  product_type: fc.constantFrom(...values.product_type),
  product_category: fc.constantFrom(...values.product_category),
  env_id: fc.constantFrom(...values.env_id),
  cost_type: fc.constantFrom(...values.cost_type),
  allocation_method: fc.constantFrom(...values.allocation_method),
  allocation_detail: fc.constantFrom(...values.allocation_detail),
  currency: fc.constantFrom(...values.currency),
  charge_category: fc.constantFrom(...values.charge_category),
  service_provider: fc.constantFrom(...values.service_provider),
  account_id: fc.constantFrom(...values.account_id),
  region_id: fc.constantFrom(...values.region_id),
  sku_id: fc.constantFrom(...values.sku_id),
  rule: fc.constantFrom(...values.rule).map((rule) => rule ?? ""),
  line_tags: fc.constantFrom(
    {},
    { [lineTagKey]: "" },
    { [lineTagKey]: "a,b" },
    { [lineTagKey]: hostile[0] ?? "" },
  ),
});

/** Makes the row one that allocation could write: exactly the rows of UNALLOCATED say why nobody was found. */
function withReason(row: ChargebackInput): ChargebackInput {
  const isTerminal = row.allocation_method === "terminal";
  if (row.identity_id === "UNALLOCATED")
    return isTerminal ? row : { ...row, allocation_detail: "owner_unknown" };
  return {
    ...row,
    ...(isTerminal && { allocation_method: "even_split" }),
    allocation_detail: "usage_ratio_allocation",
  };
}
const rows = fc.sample(drawnRow.map(withReason), { numRuns: 600, seed: seedOf(t, 11) });

const tagKey = "squad's \\ «key»";
const escaped = (name: string) => name.replace(/[\\,]/g, "\\$&");
const columns = [
  "identity_id",
  "team",
  "resource_id",
  "product_type",
  "product_category",
  "environment_id",
  "cost_type",
  "allocation_method",
  "allocation_detail",
  "currency",
  "tag:stage",
  `tag:${tagKey}`,
  "charge_category",
  "service_provider",
  "account_id",
  "region_id",
  "sku_id",
  "rule",
  `line_tag:${lineTagKey}`,
];
const choices: Readonly<Record<string, readonly string[]>> = {
  ...values,
  rule: ["", hostile[2] ?? ""],
  environment_id: ["", "env-1", "env-2"],
  [`line_tag:${lineTagKey}`]: ["a,b", hostile[0] ?? "", "UNTAGGED"],
  team: ["payments", "UNASSIGNED", "o'team\\"],
  cause: ["owner_unknown,NET'WORK,", `owner_unknown,STORAGE,${escaped(hostile[2] ?? "")}`],
  "tag:stage": ["prod", hostile[0] ?? "", hostile[1] ?? "", "UNTAGGED"],
  [`tag:${tagKey}`]: ["a,b", "UNTAGGED"],
};
const filterNames = Object.keys(choices).filter((name) => name !== "env_id");

type Query = readonly (readonly [name: string, value: string])[];

const filters = fc.uniqueArray(
  fc.constantFrom(...filterNames).chain((column) =>
    fc.record({
      name: fc.constantFrom(column, `not:${column}`),
      wanted: fc.shuffledSubarray([...(choices[column] ?? [])], { minLength: 1 }),
    }),
  ),
  { maxLength: 2, selector: ({ name }) => name },
);
/** `group_by` stands for the first column that is grouped by. */
const sorts = [...sortNames, "group_by"];
const drawn = fc.record({
  groupBy: fc.shuffledSubarray(columns, { minLength: 1, maxLength: 3 }),
  filters,
  bucket: fc.option(fc.constantFrom("hour", "day", "week", "month"), { nil: undefined }),
  timezone: fc.constantFrom("UTC", "America/New_York", "Australia/Lord_Howe"),
  order: fc.constantFrom(
    "amount",
    "change",
    ...sorts.map((by) => `${by}.asc`),
    ...sorts.map((by) => `${by}.desc`),
  ),
  compare: fc.boolean(),
  search: fc.option(fc.constantFrom("it's", "SLASH\\", "prod", "ann", "🧾"), { nil: undefined, freq: 3 }),
  limit: fc.constantFrom("2", "1000"),
  start: fc.constantFrom("2026-03-01", "2026-03-08", "2026-04-05"),
  end: fc.constantFrom("2026-04-05", "2026-04-30"),
});

/** The compared days, by the first day of the period; by default, equally many days just before. */
const before: Readonly<Partial<Record<string, readonly string[]>>> = {
  "2026-03-08": ["2026-02-27", "2026-03-01"],
  "2026-04-05": ["2026-03-01"],
};

function queryOf(each: typeof drawn extends fc.Arbitrary<infer Drawn> ? Drawn : never): Query {
  const { groupBy, bucket, timezone, order, compare, search, limit, start, end } = each;
  return [
    ...groupBy.map((column) => ["group_by", column] as const),
    ...(bucket === undefined ? [] : [["time_bucket", bucket] as const]),
    // The combination of both is rejected.
    ...(compare && bucket === undefined ? [["compare", "previous"] as const] : []),
    ...(before[start] ?? []).map(
      (day, index) => [`compare_${index === 0 ? "start" : "end"}_date`, day] as const,
    ),
    ...(search === undefined ? [] : [["search", search] as const]),
    ...([
      ["timezone", timezone],
      ["order", order.replace("group_by", groupBy[0] ?? "")],
      ["limit", limit],
      ["start_date", start],
      ["end_date", end],
    ] as const),
    ...each.filters.flatMap(({ name, wanted }) =>
      name.includes("tag:")
        ? [[name, wanted.map(escaped).join(",")] as const]
        : wanted.map((value) => [name, value] as const),
    ),
  ];
}

t.test("a breakdown is available as SQL", async (t) => {
  const port = await freePort();
  const embedded = `embedded:\n  sql_port: ${port}\n  sql_user: bi\n  sql_password: "secret of a test"`;
  const { config, stores } = await openTestStores(
    t,
    `${embedded}\n  sql_limits: { max_per_minute: 1000000 }\ntenants:${fixedTenant("acme")}`,
  );
  const app = await startApi(t, { config, stores, now: NOW });
  await insertChargebacks(stores, "acme", rows);
  await recordTestDimensions(stores, "acme");
  await gatherInto(stores, "acme", {
    at: "2026-03-05T00:00:00Z",
    resources: [
      { resource_id: "r-1", display_name: "Ann's orders" },
      { resource_id: "env-1", resource_type: "environment", display_name: "prod" },
    ],
    identities: [
      { identity_id: "sa-1", display_name: "ANN", metadata: { team: "payments" } },
      { identity_id: "it's", metadata: { team: "o'team\\" } },
    ],
  });
  const { client } = await stores.tenant("acme");
  await copyNames({
    client,
    postgres: stores.postgres,
    tenantName: "acme",
    signal: new AbortController().signal,
  });
  for (const [tag_key, display_name, filter] of [
    ["stage", "prod", { identity_id: "sa-1" }],
    ["stage", "it's", { identity_id: ["sa-2", "it's"] }],
    ["stage", "back\\slash\\", { product_category: "FLINK", resource_id: "r-2" }],
    [tagKey, "a,b", { resource_id: "r-1" }],
    // A tag whose display name is UNTAGGED, like the bucket of rows without a tag.
    [tagKey, "UNTAGGED", { resource_id: "it's" }],
  ] as const) {
    const payload = { tag_key, display_name, created_by: "ada", ...filter };
    const period = { start_date: "2026-02-01", end_date: "2026-04-30" };
    const url = "/api/v1/tenants/acme/tags/bulk-by-filter";
    const response = await app.inject({ method: "POST", url, payload: { ...payload, ...period } });
    t.equal(response.statusCode, 200, response.body);
    t.ok(response.json().created_count > 0, response.body);
  }

  const base = "/api/v1/tenants/acme/chargebacks/breakdown";
  const send = async (query: Query) => {
    const parameters = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value]));
    const { status, body } = await get(app, `${base}?${parameters}`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    const text = await app.inject({ url: `${base}/sql?${parameters}` });
    if (text.statusCode !== 200) throw new Error(text.body);
    return { body, sql: text.body };
  };
  const run = async (sql: string): Promise<Record<string, unknown>[]> => {
    const response = await fetch(
      `http://127.0.0.1:${port}/?database=acme&default_format=JSONCompactEachRowWithNames`,
      {
        method: "POST",
        headers: { authorization: `Basic ${btoa("bi:secret of a test")}` },
        body: sql,
      },
    );
    const text = await response.text();
    if (!response.ok) throw new Error(`${text}\n${sql}`);
    const [names = [], ...found] = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown[]);
    return found.map((row) => Object.fromEntries(row.map((value, index) => [names[index], value])));
  };

  const counts = {
    rows: 0,
    buckets: 0,
    compared: 0,
    apart: 0,
    limited: 0,
    excluded: 0,
    tags: 0,
    searched: 0,
  };
  /** Returns groups and their sums by bucket, from SQL and from the API. */
  const same = async (query: Query) => {
    const { body, sql } = await send(query);
    const found = await run(sql);
    const wanted: unknown[] = [];
    for (const group of body.groups) {
      const { dimensions, display_names: _, amounts, row_count, parts: __, ...sums } = group;
      const own = { ...dimensions, ...sums, row_count: String(row_count) };
      if (amounts === undefined) wanted.push(own);
      else
        for (const [index, time_bucket] of body.time_buckets.entries())
          if (amounts[index] !== "0")
            wanted.push({
              ...dimensions,
              currency: group.currency,
              time_bucket,
              total_amount: amounts[index],
            });
    }
    const grouped = [
      ...new Set([...query].filter(([name]) => name === "group_by").map(([, value]) => value)),
    ];
    const named = found.map((row) => {
      const renamed = Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          /^tag_\d$/.test(name) ? grouped[Number(name.slice(4)) - 1] : name,
          value,
        ]),
      );
      if (renamed.time_bucket === undefined) return renamed;
      const { usage_amount, shared_amount, passed_amount, row_count, provisional, ...sums } = renamed;
      return sums;
    });
    const isOverTime = body.groups.some(({ amounts }: { amounts?: string[] }) => amounts !== undefined);
    const shape = (row: unknown) => JSON.stringify(Object.entries(row as object).sort());
    const nonzero = named.filter((row) => !isOverTime || row.total_amount !== "0");
    if (isOverTime) t.strictSame(nonzero.map(shape).sort(), wanted.map(shape).sort(), sql);
    else t.strictSame(named.map(shape), wanted.map(shape), sql);
    counts.rows += wanted.length;
    counts.buckets += isOverTime ? 1 : 0;
    counts.compared += body.groups.some((group: object) => "previous_amount" in group) ? 1 : 0;
    const isApart = query.some(([name]) => name === "compare_end_date");
    counts.apart += isApart && body.groups.some((group: object) => "previous_amount" in group) ? 1 : 0;
    counts.limited += body.others.length > 0 ? 1 : 0;
    counts.excluded += query.some(([name]) => name.startsWith("not:")) && wanted.length > 0 ? 1 : 0;
    counts.tags += query.some(([name]) => name.includes("tag:")) && wanted.length > 0 ? 1 : 0;
    counts.searched += query.some(([name]) => name === "search") && wanted.length > 0 ? 1 : 0;
  };
  const whole: Query = [
    ["start_date", "2026-02-01"],
    ["end_date", "2026-04-30"],
    ["limit", "1000"],
  ];

  await t.test("the SQL of a breakdown is readable", async (t) => {
    const { sql } = await send([
      ["group_by", "team"],
      ["start_date", "2026-03-01"],
      ["end_date", "2026-03-31"],
      ["not:identity_id", "it's \\"],
    ]);
    t.equal(
      sql,
      [
        "SELECT",
        "  team,",
        "  currency,",
        "  sum(amount) AS total_amount,",
        "  sumIf(amount, cost_type = 'usage') AS usage_amount,",
        "  sumIf(amount, cost_type = 'shared') AS shared_amount,",
        "  sumIf(amount, cost_type = 'passed') AS passed_amount,",
        "  count() AS row_count,",
        "  max(is_provisional) AS provisional",
        "FROM chargeback_details",
        "WHERE date >= '2026-03-01'",
        "  AND date <= '2026-03-31'",
        "  AND identity_id NOT IN ('it\\'s \\\\')",
        "GROUP BY team, currency",
        "ORDER BY currency, team = 'UNALLOCATED', abs(sum(amount)) DESC, team",
        "LIMIT 10 BY currency, team = 'UNALLOCATED'",
        "",
      ].join("\n"),
    );
  });

  await t.test(
    "the SQL of a breakdown returns the API's sums for every column, filter and time bucket",
    async () => {
      for (const column of columns) {
        await same([...whole, ["group_by", column]]);
        const [first = "", second = first] = (choices[column] ?? []).map((value) =>
          column.startsWith("tag:") ? escaped(value) : value,
        );
        await same([...whole, [column, first]]);
        await same([...whole, [`not:${column}`, column.startsWith("tag:") ? `${first},${second}` : first]]);
      }
      for (const value of hostile) await same([...whole, ["identity_id", value]]);
      for (const cause of choices.cause ?? [])
        for (const name of ["cause", "not:cause"]) await same([...whole, [name, cause]]);
      for (const column of columns.slice(0, 4))
        await same([
          ["group_by", column] as const,
          ["start_date", "2026-03-08"] as const,
          ["end_date", "2026-04-30"] as const,
          ["compare_start_date", "2026-02-01"] as const,
          ["compare_end_date", "2026-03-01"] as const,
          ["compare", "previous"],
        ]);
      for (const bucket of ["hour", "day", "week", "month"])
        for (const timezone of ["UTC", "America/New_York", "Australia/Lord_Howe"])
          await same([...whole, ["time_bucket", bucket], ["timezone", timezone]]);
    },
  );

  await t.test("the SQL of a random breakdown returns the API's sums", async () => {
    await fc.assert(
      fc.asyncProperty(drawn, (each) => same(queryOf(each))),
      { numRuns: 60 },
    );
  });

  await t.test("the random breakdowns have all kinds of results", async (t) => {
    for (const [kind, count] of Object.entries(counts)) t.ok(count > 0, `${kind}: ${count}`);
  });

  await t.test("SQL with a comparison and time buckets is rejected with a reason", async (t) => {
    const { status, body } = await get(app, `${base}/sql?compare=previous&time_bucket=day`);
    t.equal(status, 400);
    t.match(body.detail, /`compare` and `time_bucket` cannot be combined in SQL/);
  });

  await t.test("days that the store cannot represent have no rows", async () => {
    await same([
      ["start_date", "1900-01-01"],
      ["end_date", "1900-01-02"],
    ]);
  });
});
