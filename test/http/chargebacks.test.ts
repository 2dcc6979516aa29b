import t from "tap";
import type { ChargebackRow } from "../../src/query/chargebacks/list.js";
import { holds } from "../holds.js";
import { notOfCloud } from "../not-of-cloud.js";
import { get, insertChargebacks, startService } from "./service.js";

const base = "/api/v1/tenants/acme/chargebacks";

t.test("GET /api/v1/tenants/{tenant_name}/chargebacks", async (t) => {
  const { app, stores } = await startService(t);
  const list = async (query: string): Promise<{ items: ChargebackRow[]; total: number; pages: number }> => {
    const { status, body } = await get(app, `${base}?${query}`);
    t.equal(status, 200, query);
    return body;
  };
  const amounts = async (query: string) => (await list(query)).items.map((row) => row.amount);

  await t.test("without rows the page is empty", async (t) => {
    const { status, body } = await get(app, base);
    t.equal(status, 200);
    t.same(body, { items: [], total: 0, page: 1, page_size: 100, pages: 0, next_cursor: null });
    t.same((await get(app, `${base}/dates`)).body, { dates: [] });
  });

  const shared = {
    cost_type: "shared",
    allocation_method: "even_split",
    allocation_detail: "even_split_allocation",
  } as const;
  await insertChargebacks(stores, "acme", [
    {
      timestamp: "2026-03-01T00:00:00Z",
      amount: "10.5",
      resource_id: "r-2",
      identity_id: "sa-2",
      env_id: "env-1",
      metric: "in+out",
    },
    { timestamp: "2026-03-01T05:00:00Z", amount: "-0.000000000001", ...shared },
    { timestamp: "2026-03-01T05:00:00Z", amount: "2", ...shared, identity_id: "sa-3" },
    {
      timestamp: "2026-03-02T23:59:59Z",
      amount: "1000000",
      identity_id: "UNALLOCATED",
      product_type: "NETWORK",
      ...shared,
      allocation_method: "terminal",
      allocation_detail: "no_identities_located",
    },
    { timestamp: "2026-01-01T00:00:00Z", amount: "7", identity_id: "old" },
  ]);
  await insertChargebacks(stores, "globex", [{ timestamp: "2026-03-01T00:00:00Z", amount: "99" }]);
  const { client } = await stores.tenant("acme");
  const usage = (metric: string, identity_id: string, micro_units: string) => ({
    timestamp: "2026-03-01 03:00:00",
    metric,
    resource_id: "r-2",
    identity_id,
    micro_units,
  });
  await client.insert({
    table: "usage",
    format: "JSONEachRow",
    values: [
      usage("in", "sa-2", "1500000"),
      usage("out", "sa-2", "1"),
      usage("in", "sa-9", "500000"),
      usage("other", "sa-2", "7"),
      usage("in", "sa-0", "0"),
    ],
  });

  await t.test("the default rows are those of the lookback, by UTC day and then key", async (t) => {
    t.same(await amounts(""), ["-0.000000000001", "2", "10.5", "1000000"]);
  });

  await t.test("a row has every field of the interface, and shows how it was allocated", async (t) => {
    const { items } = await list("identity_id=sa-2");
    const [row] = items;
    t.same(row, {
      dimension_id: row?.dimension_id,
      ecosystem: "generic_metrics_only",
      tenant_id: "acme",
      timestamp: "2026-03-01T00:00:00Z",
      resource_id: "r-2",
      product_category: "KAFKA",
      product_type: "STORAGE",
      identity_id: "sa-2",
      cost_type: "usage",
      amount: "10.5",
      currency: "USD",
      ...notOfCloud,
      allocation_method: "usage_ratio",
      allocation_detail: "usage_ratio_allocation",
      passed_from: "",
      provisional: false,
      tags: [],
      tag_pairs: [],
      identity_name: null,
      identity_type: null,
      team: "UNASSIGNED",
      resource_name: null,
      resource_type: null,
      metadata: {
        component: 0,
        component_ratio: "1",
        tier: 0,
        env_id: "env-1",
        metric: "in+out",
        weight: "1.500001",
        total_weight: "2.000001",
      },
    });
    t.ok(Number.isSafeInteger(row?.dimension_id));
  });

  await t.test(
    "weights of methods other than usage are equal shares of the component, or the whole",
    async (t) => {
      const [even, , , terminal] = (await list("")).items;
      holds(t, even?.metadata, { weight: "1", total_weight: "2" });
      holds(t, terminal?.metadata, { weight: "1", total_weight: "1" });
    },
  );

  await t.test("filters compare by equality, and all must match", async (t) => {
    t.same(await amounts("cost_type=usage"), ["10.5"]);
    t.same(await amounts("product_type=NETWORK"), ["1000000"]);
    t.same(await amounts("resource_id=r-1&identity_id=sa-3"), ["2"]);
    t.same(await amounts("identity_id=SA-3"), []);
  });

  await t.test("dates are inclusive, and the time zone sets their midnight", async (t) => {
    t.same(await amounts("start_date=2026-03-02&end_date=2026-03-02"), ["1000000"]);
    t.same(await amounts("start_date=2026-02-28&end_date=2026-02-28&timezone=America/Denver"), [
      "-0.000000000001",
      "2",
      "10.5",
    ]);
    t.same(await amounts("start_date=2026-03-03&end_date=2026-03-03&timezone=Asia/Tokyo"), ["1000000"]);
    t.same(await amounts("end_date=2026-01-01"), ["7"], "the window ends at the end date");
    t.same(await amounts("start_date=2027-01-01"), []);
    t.same(await amounts("start_date=1900-01-01&end_date=2299-12-31&timezone=Pacific/Kiritimati"), [
      "7",
      "-0.000000000001",
      "2",
      "10.5",
      "1000000",
    ]);
  });

  await t.test("pages have one order, and a page past the end is empty", async (t) => {
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => list(`page=${page}&page_size=3&start_date=2026-01-01`)),
    );
    t.same(
      pages.map(({ items }) => items.length),
      [3, 2, 0, 0],
    );
    t.same(
      pages.flatMap(({ items }) => items.map((row) => row.amount)),
      ["7", "-0.000000000001", "2", "10.5", "1000000"],
    );
    holds(t, pages[3], { total: 5, pages: 2 });
    t.same((await list("page=9007199254740991")).items, []);
  });

  await t.test("tags are display names in the order of their ids", async (t) => {
    const [row] = (await list("identity_id=sa-2")).items;
    const tag = (tag_id: number, display_name: string, is_deleted = 0, version = 1) => ({
      dimension_id: String(row?.dimension_id),
      tag_id,
      tag_key: `k${tag_id}`,
      display_name,
      is_deleted,
      version,
    });
    await client.insert({
      table: "dimension_tags",
      format: "JSONEachRow",
      values: [
        tag(2, "Second"),
        tag(10, "Tenth"),
        tag(1, "First"),
        tag(3, "Gone"),
        tag(3, "Gone", 1, 2),
        tag(2, "Two", 0, 2),
      ],
    });
    t.same((await list("identity_id=sa-2")).items[0]?.tags, ["First", "Two", "Tenth"]);
    t.same((await list("identity_id=sa-3")).items[0]?.tags, []);
  });

  await t.test("a dimension whose hash is taken keeps the id that was assigned to it", async (t) => {
    const before = (await list("identity_id=sa-3")).items[0]?.dimension_id;
    await client.command({
      query: `INSERT INTO dimension_collisions SELECT reinterpretAsUInt128(sipHash128(toString(ecosystem), toString(tenant_id), toString(env_id),
        toString(resource_id), toString(product_category), toString(product_type), toString(identity_id), toString(cost_type))), 4242, 1
        FROM chargebacks WHERE identity_id = 'sa-3'`,
    });
    t.not(before, 4242);
    t.equal((await list("identity_id=sa-3")).items[0]?.dimension_id, 4242);
    t.not((await list("identity_id=sa-2")).items[0]?.dimension_id, 4242);
  });

  await t.test("GET …/chargebacks/dates returns all UTC days with rows, of any age", async (t) => {
    t.same((await get(app, `${base}/dates`)).body, { dates: ["2026-01-01", "2026-03-01", "2026-03-02"] });
  });

  await t.test("one tenant does not see the rows of another", async (t) => {
    const { body } = await get(app, "/api/v1/tenants/globex/chargebacks");
    t.same(
      body.items.map((row: ChargebackRow) => [row.tenant_id, row.amount]),
      [["globex", "99"]],
    );
  });
});
