import t from "tap";
import { healthyDetails, issueDetails } from "../../src/domain/allocation-rule.js";
import { holds } from "../holds.js";
import { type ChargebackInput, get, insertChargebacks, startService } from "./service.js";

const base = "/api/v1/tenants/acme/chargebacks/allocation-issues";

t.test("GET /api/v1/tenants/{tenant_name}/chargebacks/allocation-issues", async (t) => {
  const { app, stores } = await startService(t);
  const list = async (query: string) => {
    const { status, body } = await get(app, `${base}?${query}`);
    t.equal(status, 200, query);
    return body;
  };
  const costs = async (query: string): Promise<string[]> =>
    (await list(query)).items.map(({ total_cost }: { total_cost: string }) => total_cost);
  holds(t, await list(""), { items: [], total: 0, pages: 0, next_cursor: null });
  holds(t, await list("page=7"), { items: [], total: 0, pages: 0 });

  const issue: Omit<ChargebackInput, "timestamp" | "amount"> = {
    identity_id: "UNALLOCATED",
    env_id: "env-1",
    cost_type: "shared",
    allocation_method: "terminal",
    allocation_detail: "no_identities_located",
  };
  const on = (day: string, amount: string, changes: Partial<ChargebackInput> = {}): ChargebackInput => ({
    timestamp: `${day}T00:00:00Z`,
    amount,
    ...issue,
    ...changes,
  });
  await insertChargebacks(stores, "acme", [
    on("2026-03-01", "0.000000000001"),
    on("2026-03-02", "41.999999999999"),
    on("2026-03-02", "3", { cost_type: "usage", component: 1 }),
    on("2026-03-02", "100", { env_id: "env-2" }),
    on("2026-03-03", "100", { resource_id: "r-2", product_type: "NETWORK" }),
    on("2026-03-03", "-7", { allocation_detail: "owner_unknown", identity_id: "sa-1" }),
    on("2026-01-01", "9000"),
    ...healthyDetails.map((allocation_detail) => on("2026-03-02", "5000", { allocation_detail })),
  ]);
  await insertChargebacks(stores, "globex", [on("2026-03-01", "1")]);

  await t.test("rows of an issue are summed by their common columns", async (t) => {
    const body = await list("resource_id=r-1&identity_id=UNALLOCATED");
    t.equal(body.total, 2);
    t.same(body.items[1], {
      ecosystem: "generic_metrics_only",
      env_id: "env-1",
      resource_id: "r-1",
      product_type: "STORAGE",
      identity_id: "UNALLOCATED",
      allocation_detail: "no_identities_located",
      currency: "USD",
      identity_name: null,
      identity_type: null,
      team: "UNASSIGNED",
      resource_name: null,
      resource_type: null,
      row_count: 3,
      usage_cost: "3",
      shared_cost: "42",
      total_cost: "45",
    });
  });

  await t.test("issues are ordered by cost, then by group, with negative ones last", async (t) => {
    const { items } = await list("");
    t.same(
      items.map((row: Record<string, string>) => [row.total_cost, row.env_id, row.resource_id]),
      [
        ["100", "env-1", "r-2"],
        ["100", "env-2", "r-1"],
        ["45", "env-1", "r-1"],
        ["-7", "env-1", "r-1"],
      ],
    );
  });

  for (const [query, wanted] of [
    ["cost_type=usage", ["3"]],
    ["cost_type=shared", ["100", "100", "42", "-7"]],
    ["product_type=NETWORK", ["100"]],
    ["resource_id=r-2", ["100"]],
    ["identity_id=sa-1", ["-7"]],
    ["identity_id=nobody", []],
    ["allocation_detail=owner_unknown", ["-7"]],
    ["not:allocation_detail=owner_unknown", ["100", "100", "45"]],
    ["allocation_detail=usage_ratio_allocation", []],
    ["start_date=2026-03-03", ["100", "-7"]],
    ["end_date=2026-01-01", ["9000"]],
    ["start_date=2026-02-28&end_date=2026-02-28&timezone=America/Denver", ["0.000000000001"]],
    ["tag:team=x", []],
    ["tag:team=UNTAGGED&resource_id=r-2", ["100"]],
    ["page_size=3&page=2", ["-7"]],
  ] as const) {
    await t.test(query, async (t) => t.same(await costs(query), wanted));
  }

  await t.test("the total covers all matching rows, also on a page past the end", async (t) => {
    holds(t, await list("page=9007199254740991&page_size=2"), { items: [], total: 4, pages: 2 });
    holds(t, await list("page=2&page_size=1&cost_type=usage"), { items: [], total: 1, pages: 1 });
  });

  await t.test("every issue code is listed, and no code by design is", async (t) => {
    await insertChargebacks(
      stores,
      "globex",
      issueDetails.map((allocation_detail) => on("2026-03-05", "1", { allocation_detail })),
    );
    await insertChargebacks(
      stores,
      "globex",
      healthyDetails.map((allocation_detail) => on("2026-03-05", "1", { allocation_detail })),
    );
    const { body } = await get(
      app,
      "/api/v1/tenants/globex/chargebacks/allocation-issues?start_date=2026-03-05",
    );
    t.same(
      body.items.map((row: { allocation_detail: string }) => row.allocation_detail).sort(),
      [...issueDetails].sort(),
    );
  });

  for (const query of [
    "cost_type=Usage",
    "start_date=2026-03-05&end_date=2026-03-01",
    "timezone=Mars",
    "cursor=x",
    "env_id=x",
  ]) {
    await t.test(`400 ${query}`, async (t) => {
      holds(t, await get(app, `${base}?${query}`), { status: 400, body: { code: "invalid_request" } });
    });
  }
});
