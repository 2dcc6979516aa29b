import t from "tap";
import { holds } from "../holds.js";
import { sumUp } from "../sum-up.js";
import { get, insertChargebacks, startService } from "./service.js";

const base = "/api/v1/tenants/acme/chargebacks/aggregate";

t.test("GET /api/v1/tenants/{tenant_name}/chargebacks/aggregate", async (t) => {
  const { app, stores } = await startService(t);
  const aggregate = async (query: string) => {
    const { status, body } = await get(app, `${base}?${query}`);
    t.equal(status, 200, query);
    return body;
  };

  await t.test("without rows there are no buckets, and the totals are 0", async (t) => {
    t.same(await aggregate(""), {
      buckets: [],
      currency: null,
      total_amount: "0",
      usage_amount: "0",
      shared_amount: "0",
      passed_amount: "0",
      totals: [],
      total_rows: 0,
      total_buckets: 0,
      truncated: false,
    });
  });

  await insertChargebacks(stores, "acme", [
    { timestamp: "2026-03-01T00:00:00Z", amount: "0.1", identity_id: "a", env_id: "e-1" },
    { timestamp: "2026-03-01T06:30:00Z", amount: "0.2", identity_id: "a" },
    {
      timestamp: "2026-03-01T00:00:00Z",
      amount: "7",
      identity_id: "a",
      cost_type: "shared",
      allocation_method: "even_split",
      allocation_detail: "even_split_allocation",
    },
    {
      timestamp: "2026-03-02T00:00:00Z",
      amount: "-3",
      identity_id: "b",
      resource_id: "r-2",
      cost_type: "shared",
      allocation_method: "terminal",
      allocation_detail: "no_identities_located",
    },
  ]);

  await t.test("the default groups are by identity and day, with exact sums", async (t) => {
    t.same(await aggregate(""), {
      buckets: [
        {
          dimensions: { identity_id: "a" },
          display_names: {},
          time_bucket: "2026-03-01",
          currency: "USD",
          total_amount: "7.3",
          usage_amount: "0.3",
          shared_amount: "7",
          passed_amount: "0",
          row_count: 3,
          provisional: false,
        },
        {
          dimensions: { identity_id: "b" },
          display_names: {},
          time_bucket: "2026-03-02",
          currency: "USD",
          total_amount: "-3",
          usage_amount: "0",
          shared_amount: "-3",
          passed_amount: "0",
          row_count: 1,
          provisional: false,
        },
      ],
      currency: "USD",
      total_amount: "4.3",
      usage_amount: "0.3",
      shared_amount: "4",
      passed_amount: "0",
      totals: [
        {
          currency: "USD",
          total_amount: "4.3",
          usage_amount: "0.3",
          shared_amount: "4",
          passed_amount: "0",
          row_count: 4,
        },
      ],
      total_rows: 4,
      total_buckets: 2,
      truncated: false,
    });
  });

  await t.test(
    "groups have the requested columns in order, and an empty environment if there is none",
    async (t) => {
      const { buckets } = await aggregate(
        "group_by=environment_id&group_by=cost_type&time_bucket=month&group_by=cost_type",
      );
      t.same(
        buckets.map((bucket: { dimensions: object; time_bucket: string; total_amount: string }) => [
          Object.entries(bucket.dimensions),
          bucket.time_bucket,
          bucket.total_amount,
        ]),
        [
          [
            [
              ["environment_id", ""],
              ["cost_type", "shared"],
            ],
            "2026-03",
            "4",
          ],
          [
            [
              ["environment_id", ""],
              ["cost_type", "usage"],
            ],
            "2026-03",
            "0.2",
          ],
          [
            [
              ["environment_id", "e-1"],
              ["cost_type", "usage"],
            ],
            "2026-03",
            "0.1",
          ],
        ],
      );
    },
  );

  await t.test("all columns can be grouped by together", async (t) => {
    const columns = [
      "identity_id",
      "resource_id",
      "product_type",
      "product_category",
      "cost_type",
      "allocation_method",
      "allocation_detail",
      "environment_id",
    ];
    const { buckets, total_amount } = await aggregate(
      columns.map((column) => `group_by=${column}`).join("&"),
    );
    t.equal(buckets.length, 4);
    t.same(Object.keys(buckets[0].dimensions), columns);
    t.equal(total_amount, "4.3");
  });

  for (const [query, labels] of [
    ["time_bucket=hour", ["2026-03-01T00:00:00Z", "2026-03-01T06:00:00Z", "2026-03-02T00:00:00Z"]],
    [
      "time_bucket=hour&timezone=Etc/UTC",
      ["2026-03-01T00:00:00Z", "2026-03-01T06:00:00Z", "2026-03-02T00:00:00Z"],
    ],
    [
      "time_bucket=hour&timezone=Asia/Kolkata",
      ["2026-03-01T05:00:00+05:30", "2026-03-01T12:00:00+05:30", "2026-03-02T05:00:00+05:30"],
    ],
    ["time_bucket=day&timezone=America/Denver", ["2026-02-28", "2026-03-01"]],
    ["time_bucket=week", ["2026-W09", "2026-W10"]],
    ["time_bucket=month&timezone=America/Denver", ["2026-02", "2026-03"]],
  ] as const) {
    await t.test(`labels: ${query}`, async (t) => {
      const { buckets } = await aggregate(`${query}&group_by=product_category`);
      t.same(
        buckets.map((bucket: { time_bucket: string }) => bucket.time_bucket),
        labels,
      );
    });
  }

  await t.test("sums can be filtered", async (t) => {
    t.equal((await aggregate("cost_type=usage")).total_amount, "0.3");
    t.equal((await aggregate("resource_id=r-2&identity_id=b")).total_amount, "-3");
    t.equal((await aggregate("start_date=2026-03-02&end_date=2026-03-02")).total_rows, 1);
  });

  await t.test("an hour that occurs twice when clocks go back has two buckets, in order", async (t) => {
    await insertChargebacks(
      stores,
      "acme",
      ["23", "00", "01", "02"].map((hour, index) => ({
        timestamp: `2025-10-${hour === "23" ? 25 : 26}T${hour}:00:00Z`,
        amount: String(index + 1),
      })),
    );
    const { buckets } = await aggregate(
      "time_bucket=hour&start_date=2025-10-26&end_date=2025-10-26&timezone=Europe/Berlin",
    );
    t.same(
      buckets.map((bucket: { time_bucket: string; total_amount: string }) => [
        bucket.time_bucket,
        bucket.total_amount,
      ]),
      [
        ["2025-10-26T01:00:00+02:00", "1"],
        ["2025-10-26T02:00:00+02:00", "2"],
        ["2025-10-26T02:00:00+01:00", "3"],
        ["2025-10-26T03:00:00+01:00", "4"],
      ],
    );
  });

  await t.test("the week around new year is one ISO week", async (t) => {
    await insertChargebacks(
      stores,
      "acme",
      ["2024-12-30", "2024-12-31", "2025-01-01", "2025-01-05", "2025-01-06"].map((day) => ({
        timestamp: `${day}T00:00:00Z`,
        amount: "1",
      })),
    );
    const { buckets } = await aggregate("time_bucket=week&start_date=2024-12-30&end_date=2025-01-06");
    t.same(
      buckets.map((bucket: { time_bucket: string; row_count: number }) => [
        bucket.time_bucket,
        bucket.row_count,
      ]),
      [
        ["2025-W01", 4],
        ["2025-W02", 1],
      ],
    );
  });

  await t.test("without dates the sums cover the lookback", async (t) => {
    holds(t, await aggregate(""), { total_amount: "4.3", total_rows: 4 });
    holds(t, await aggregate("start_date=2024-12-30"), { total_rows: 13 });
    holds(t, await aggregate("end_date=2025-01-02"), { total_rows: 3 });
  });

  await t.test("of more than 10,000 buckets, the first are returned, and the totals cover all", async (t) => {
    const { client } = await stores.tenant("acme");
    await client.command({
      query: `INSERT INTO chargebacks (timestamp, ecosystem, tenant_id, resource_id, product_category, product_type, identity_id, cost_type,
          allocation_method, allocation_detail, component_ratio, amount_hi)
        SELECT toDateTime('2025-06-01 00:00:00', 'UTC'), 'e', 'acme', 'r', 'c', 'p', concat('sa-', leftPad(toString(number), 6, '0')), 'usage',
          'usage_ratio', 'usage_ratio_allocation', '1', 0.01 FROM numbers(10050)`,
    });
    await sumUp(client);
    const body = await aggregate("start_date=2025-06-01&end_date=2025-06-01");
    t.equal(body.buckets.length, 10_000);
    t.equal(body.buckets[9_999].dimensions.identity_id, "sa-009999");
    holds(t, body, {
      total_amount: "100.5",
      usage_amount: "100.5",
      shared_amount: "0",
      passed_amount: "0",
      total_rows: 10_050,
      total_buckets: 10_050,
      truncated: true,
    });
    const { buckets: _, ...totals } = await aggregate(
      "start_date=2025-06-01&end_date=2025-06-01&group_by=cost_type",
    );
    const amounts = {
      total_amount: "100.5",
      usage_amount: "100.5",
      shared_amount: "0",
      passed_amount: "0",
    };
    const dollars = { currency: "USD", ...amounts, row_count: 10_050 };
    t.same(totals, {
      currency: "USD",
      ...amounts,
      totals: [dollars],
      total_rows: 10_050,
      total_buckets: 1,
      truncated: false,
    });
    const euros = ["zz-1", "zz-2"].map((identity_id) => ({
      timestamp: "2025-06-01T00:00:00Z",
      identity_id,
      currency: "EUR",
      amount: "0.25",
    }));
    await insertChargebacks(stores, "acme", euros);
    const both = await aggregate("start_date=2025-06-01&end_date=2025-06-01");
    t.strictSame(both.buckets, body.buckets, "the first 10,000 buckets do not include the second currency");
    t.strictSame(both.totals, [
      {
        currency: "EUR",
        total_amount: "0.5",
        usage_amount: "0.5",
        shared_amount: "0",
        passed_amount: "0",
        row_count: 2,
      },
      dollars,
    ]);
    holds(t, both, {
      currency: null,
      total_amount: null,
      usage_amount: null,
      shared_amount: null,
      passed_amount: null,
      total_rows: 10_052,
      total_buckets: 10_052,
      truncated: true,
    });
  });

  for (const [query, named] of [
    ["group_by=nope", /`group_by` must be .*environment_id/],
    ["group_by=", /group_by/],
    ["group_by=identity_id,resource_id", /group_by/],
    ["time_bucket=Day", /`time_bucket` must be one of hour, day, week, month\./],
    ["cost_type=USAGE", /`cost_type` must be one of usage, shared, passed, and given at most 100 times\.$/],
    ["page=1", /Unknown parameter `page`/],
    ["groupby=identity_id", /did you mean `group_by`/],
  ] as const) {
    await t.test(`400: ${query}`, async (t) => {
      const { status, body } = await get(app, `${base}?${query}`);
      t.equal(status, 400);
      t.equal(body.code, "invalid_request");
      holds(t, body.detail, named);
    });
  }
});
