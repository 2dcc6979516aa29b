import t from "tap";
import { lineNotOfCloud } from "../not-of-cloud.js";
import { get, insertBilling, startService } from "./service.js";

const base = "/api/v1/tenants/acme/billing";

t.test("GET /api/v1/tenants/{tenant_name}/billing", async (t) => {
  const { app, stores } = await startService(t);
  t.same((await get(app, base)).body, {
    items: [],
    total: 0,
    page: 1,
    page_size: 100,
    pages: 0,
    next_cursor: null,
  });
  await insertBilling(stores, "acme", [
    { timestamp: "2026-03-02T00:00:00Z", total_cost: "0.1", quantity: "12.5" },
    {
      timestamp: "2026-03-01T00:00:00Z",
      total_cost: "99999999999999999999999999.000000000001",
      metadata: '{"resource_name":"orders"}',
    },
    { timestamp: "2026-03-01T06:00:00Z", total_cost: "-0.5", resource_id: "r-2", product_type: "NETWORK" },
    { timestamp: "2026-01-01T00:00:00Z", total_cost: "7" },
  ]);

  await t.test("a line has every field of the interface, with exact amounts", async (t) => {
    const { body } = await get(app, base);
    t.equal(body.total, 3);
    t.same(body.items[0], {
      ecosystem: "generic_metrics_only",
      tenant_id: "acme",
      timestamp: "2026-03-01T00:00:00Z",
      resource_id: "r-1",
      product_category: "KAFKA",
      product_type: "STORAGE",
      quantity: "1",
      unit_price: "1",
      total_cost: "99999999999999999999999999.000000000001",
      currency: "USD",
      ...lineNotOfCloud,
      granularity: "daily",
      resource_name: null,
      resource_type: null,
      metadata: { resource_name: "orders" },
    });
    t.same(
      body.items.slice(1).map((row: { total_cost: string }) => row.total_cost),
      ["-0.5", "0.1"],
    );
  });

  await t.test("a line has its environment in its metadata, and can be filtered by it", async (t) => {
    await insertBilling(stores, "globex", [
      { timestamp: "2026-03-01T00:00:00Z", total_cost: "1", env_id: "sub-1", metadata: '{"component":"x"}' },
      { timestamp: "2026-03-01T00:00:00Z", total_cost: "2", env_id: "sub-2" },
      { timestamp: "2026-03-01T00:00:00Z", total_cost: "4" },
    ]);
    const metadata = async (query: string) =>
      (await get(app, `/api/v1/tenants/globex/billing?${query}`)).body.items.map(
        (row: { metadata: object }) => row.metadata,
      );
    t.strictSame(await metadata("environment_id=sub-1"), [{ env_id: "sub-1", component: "x" }]);
    t.strictSame(await metadata("environment_id=sub-2"), [{ env_id: "sub-2" }]);
    t.strictSame(await metadata("environment_id="), [{}]);
  });

  for (const [query, costs] of [
    ["product_type=NETWORK", ["-0.5"]],
    ["resource_id=r-1&start_date=2026-03-02", ["0.1"]],
    ["end_date=2026-01-01", ["7"]],
    [
      "start_date=2026-02-28&end_date=2026-02-28&timezone=America/Denver",
      ["99999999999999999999999999.000000000001", "-0.5"],
    ],
    ["page=2&page_size=2", ["0.1"]],
    ["page=3&page_size=2", []],
  ] as const) {
    await t.test(query, async (t) => {
      const { status, body } = await get(app, `${base}?${query}`);
      t.equal(status, 200);
      t.same(
        body.items.map((row: { total_cost: string }) => row.total_cost),
        costs,
      );
    });
  }

  await t.test("filters that billing lines do not have are refused", async (t) => {
    const { status, body } = await get(app, `${base}?identity_id=sa-1`);
    t.equal(status, 400);
    t.match(body.detail, /identity_id/);
  });
});
