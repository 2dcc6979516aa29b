import t from "tap";
import { holds } from "../holds.js";
import { get, insertTopicAttributions as insert, startService } from "./service.js";

const base = "/api/v1/tenants/acme/topic-attributions";

t.test("GET /api/v1/tenants/{tenant_name}/topic-attributions", async (t) => {
  const { app, stores } = await startService(t);
  const empty = { items: [], total: 0, page: 1, page_size: 100, pages: 0, next_cursor: null };
  t.same((await get(app, base)).body, empty);
  t.same((await get(app, `${base}/dates`)).body, { dates: [] });
  holds(t, (await get(app, `${base}/aggregate`)).body, { buckets: [], total_amount: "0", total_buckets: 0 });
  await insert(stores, [
    { timestamp: "2026-03-01T00:00:00Z", amount: "99999999999999999999999999.000000000001" },
    { timestamp: "2026-03-01T00:00:00Z", amount: "-0.5", topic_name: "users" },
    {
      timestamp: "2026-03-02T00:00:00Z",
      amount: "0.1",
      product_type: "KAFKA_BASE",
      attribution_method: "even_split",
    },
    { timestamp: "2026-03-02T06:00:00Z", amount: "2", cluster_resource_id: "lkc-2", env_id: "env-2" },
    { timestamp: "2026-01-01T00:00:00Z", amount: "7" },
  ]);
  const amounts = ({ items }: { items: { amount: string }[] }) => items.map((row) => row.amount);

  await t.test("a row has every field, with an exact amount", async (t) => {
    const { body } = await get(app, base);
    t.equal(body.total, 4);
    t.same(body.items[0], {
      ecosystem: "generic_metrics_only",
      tenant_id: "acme",
      timestamp: "2026-03-01T00:00:00Z",
      env_id: "env-1",
      cluster_resource_id: "lkc-1",
      cluster_name: null,
      topic_name: "orders",
      product_category: "KAFKA",
      product_type: "KAFKA_NETWORK_WRITE",
      attribution_method: "bytes_ratio",
      attribution_detail: "usage_ratio_allocation",
      metric: "topic_bytes_in",
      amount: "99999999999999999999999999.000000000001",
      currency: "USD",
      provisional: false,
    });
    t.same(amounts(body).slice(1), ["-0.5", "0.1", "2"]);
    t.same((await get(app, `${base}/dates`)).body.dates, ["2026-01-01", "2026-03-01", "2026-03-02"]);
  });

  for (const [query, wanted] of [
    ["topic_name=users", ["-0.5"]],
    ["cluster_resource_id=lkc-2", ["2"]],
    ["product_type=KAFKA_BASE", ["0.1"]],
    ["attribution_method=even_split", ["0.1"]],
    ["topic_name=orders&product_type=KAFKA_BASE&start_date=2026-03-02", ["0.1"]],
    ["end_date=2026-01-01", ["7"]],
    ["start_date=2026-03-01&end_date=2026-03-01&timezone=America/Denver", ["0.1", "2"]],
    ["page=2&page_size=3", ["2"]],
    ["page=3&page_size=3", []],
  ] as const) {
    await t.test(query, async (t) => {
      const { status, body } = await get(app, `${base}?${query}`);
      t.equal(status, 200);
      t.same(amounts(body), wanted);
    });
  }

  await t.test("cursors return all rows, and are only valid for their filters", async (t) => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body }: { body: { items: { amount: string }[]; next_cursor: string | null } } = await get(
        app,
        `${base}?page_size=1${cursor === null ? "" : `&cursor=${cursor}`}`,
      );
      seen.push(...amounts(body));
      cursor = body.next_cursor;
    } while (cursor !== null && seen.length < 9);
    t.same(seen, ["99999999999999999999999999.000000000001", "-0.5", "0.1", "2"]);
    const { body } = await get(app, `${base}?page_size=1`);
    const other = await get(app, `${base}?topic_name=users&cursor=${body.next_cursor}`);
    holds(t, other, { status: 400, body: { code: "invalid_cursor" } });
  });

  await t.test("sums are by bucket and columns, with the totals of all rows", async (t) => {
    const { body } = await get(
      app,
      `${base}/aggregate?group_by=topic_name&group_by=environment_id&time_bucket=month`,
    );
    t.same(body, {
      buckets: [
        {
          dimensions: { topic_name: "orders", environment_id: "env-1" },
          display_names: {},
          time_bucket: "2026-03",
          currency: "USD",
          total_amount: "99999999999999999999999999.100000000001",
          usage_amount: "99999999999999999999999999.000000000001",
          shared_amount: "0.1",
          row_count: 2,
          provisional: false,
        },
        {
          dimensions: { topic_name: "orders", environment_id: "env-2" },
          display_names: {},
          time_bucket: "2026-03",
          currency: "USD",
          total_amount: "2",
          usage_amount: "2",
          shared_amount: "0",
          row_count: 1,
          provisional: false,
        },
        {
          dimensions: { topic_name: "users", environment_id: "env-1" },
          display_names: {},
          time_bucket: "2026-03",
          currency: "USD",
          total_amount: "-0.5",
          usage_amount: "-0.5",
          shared_amount: "0",
          row_count: 1,
          provisional: false,
        },
      ],
      currency: "USD",
      total_amount: "100000000000000000000000000.600000000001",
      usage_amount: "100000000000000000000000000.500000000001",
      shared_amount: "0.1",
      totals: [
        {
          currency: "USD",
          total_amount: "100000000000000000000000000.600000000001",
          usage_amount: "100000000000000000000000000.500000000001",
          shared_amount: "0.1",
          row_count: 4,
        },
      ],
      total_rows: 4,
      total_buckets: 3,
      truncated: false,
    });
    const filtered = await get(
      app,
      `${base}/aggregate?cluster_resource_id=lkc-2&time_bucket=hour&timezone=Asia/Kolkata`,
    );
    holds(t, filtered.body, {
      total_rows: 1,
      buckets: [{ time_bucket: "2026-03-02T11:00:00+05:30", dimensions: { topic_name: "orders" } }],
    });
  });

  await t.test("a breakdown has the largest groups, the others and the totals", async (t) => {
    const { body } = await get(app, `${base}/breakdown?group_by=topic_name&limit=1&time_bucket=day`);
    const group = {
      dimensions: { topic_name: "orders" },
      display_names: {},
      currency: "USD",
      total_amount: "100000000000000000000000001.100000000001",
      usage_amount: "100000000000000000000000001.000000000001",
      shared_amount: "0.1",
      row_count: 3,
      amounts: ["99999999999999999999999999.000000000001", "2.1"],
      provisional: false,
    };
    const others = {
      currency: "USD",
      total_amount: "-0.5",
      usage_amount: "-0.5",
      shared_amount: "0",
      row_count: 1,
      amounts: ["-0.5", "0"],
      group_count: 1,
    };
    const totals = {
      currency: "USD",
      total_amount: "100000000000000000000000000.600000000001",
      usage_amount: "100000000000000000000000000.500000000001",
      shared_amount: "0.1",
      row_count: 4,
      amounts: ["99999999999999999999999998.500000000001", "2.1"],
      group_count: 2,
    };
    const time_buckets = ["2026-03-01", "2026-03-02"];
    t.same(body, { time_buckets, groups: [group], others: [others], totals: [totals] });
  });

  const groupsBy = async (query: string) => {
    const { body } = await get(app, `${base}/breakdown?${query}`);
    return body.groups.map(
      (group: { dimensions: Readonly<Record<string, string>>; total_amount: string }) => [
        ...Object.values(group.dimensions),
        group.total_amount,
      ],
    );
  };

  await t.test("a breakdown sorts all groups before the limit", async (t) => {
    const columns =
      "group_by=product_type&group_by=cluster_resource_id&cluster_resource_id=lkc-1&cluster_resource_id=lkc-2";
    const write = ["KAFKA_NETWORK_WRITE", "lkc-1", "99999999999999999999999998.500000000001"];
    const two = ["KAFKA_NETWORK_WRITE", "lkc-2", "2"];
    const even = ["KAFKA_BASE", "lkc-1", "0.1"];
    t.strictSame(await groupsBy(columns), [write, two, even]);
    t.strictSame(await groupsBy(`${columns}&order=total_amount.asc&limit=2`), [even, two]);
    t.strictSame(await groupsBy(`${columns}&order=shared_amount.desc&limit=1`), [even]);
    t.strictSame(await groupsBy(`${columns}&order=cluster_resource_id.desc&limit=1`), [two]);
    t.strictSame(await groupsBy(`${columns}&order=row_count.desc&limit=1`), [write]);
    t.strictSame(await groupsBy(`${columns}&search=kc-2`), [two]);
  });

  await t.test("what is of no topic comes last and does not count for the limit", async (t) => {
    const window = "start_date=2026-02-01&end_date=2026-02-01";
    await insert(stores, [
      {
        timestamp: "2026-02-01T00:00:00Z",
        amount: "9",
        topic_name: "__UNATTRIBUTED__",
        attribution_method: "terminal",
      },
      { timestamp: "2026-02-01T00:00:00Z", amount: "1", topic_name: "a" },
      { timestamp: "2026-02-01T00:00:00Z", amount: "2", topic_name: "b" },
    ]);
    t.strictSame(await groupsBy(`${window}&limit=1`), [
      ["b", "2"],
      ["__UNATTRIBUTED__", "9"],
    ]);
    t.strictSame(await groupsBy(`${window}&limit=1&group_by=topic_name&group_by=product_type`), [
      ["__UNATTRIBUTED__", "KAFKA_NETWORK_WRITE", "9"],
    ]);
  });

  await t.test("unsupported parameters are refused by name", async (t) => {
    for (const [query, name] of [
      ["?identity_id=sa-1", "identity_id"],
      ["?attribution_method=direct_owner", "attribution_method"],
      ["/aggregate?group_by=identity_id", "group_by"],
      ["/aggregate?time_bucket=year", "time_bucket"],
      ["/breakdown?time_bucket=hour", "time_bucket"],
      ["/breakdown?order=topic_name", "order"],
      ["/breakdown?order=product_type.asc", "order"],
    ] as const) {
      const { status, body } = await get(app, `${base}${query}`);
      t.equal(status, 400, query);
      t.match(body.detail, new RegExp(name));
    }
    t.equal((await get(app, "/api/v1/tenants/nobody/topic-attributions")).status, 404);
  });
});
