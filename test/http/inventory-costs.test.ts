import t from "tap";
import { holds } from "../holds.js";
import { gatherInto } from "./gathered-inventory.js";
import { type ChargebackInput, get, insertChargebacks, startService } from "./service.js";

const base = "/api/v1/tenants/acme/inventory/costs";
const window = "start_date=2026-03-01&end_date=2026-03-03";

interface Item {
  readonly id: string;
  readonly costs: readonly { readonly currency: string; readonly amount: string }[];
}

t.test("GET /api/v1/tenants/{tenant_name}/inventory/costs", async (t) => {
  const { app, stores } = await startService(t);
  await gatherInto(stores, "acme", {
    at: "2026-03-02T00:00:00Z",
    resources: [
      { resource_id: "r-1", display_name: "orders", owner_id: "sa-1", parent_id: "env-1" },
      { resource_id: "r-2" },
      { resource_id: "r-3", resource_type: "topic" },
    ],
    identities: [
      { identity_id: "UNALLOCATED", identity_type: "system" },
      { identity_id: "sa-1", display_name: "Orders", metadata: { team: "search" } },
      { identity_id: "sa-2" },
      { identity_id: "sa-3" },
    ],
  });
  await gatherInto(stores, "acme", {
    at: "2026-03-04T00:00:00Z",
    resources: [{ resource_id: "r-1", display_name: "orders", owner_id: "sa-1", parent_id: "env-1" }],
    identities: [
      { identity_id: "sa-1", display_name: "Orders", metadata: { team: "search" } },
      { identity_id: "sa-2" },
      { identity_id: "sa-3" },
    ],
  });
  const row = (day: number, identity_id: string, amount: string, rest: Partial<ChargebackInput> = {}) => ({
    timestamp: `2026-03-0${day}T00:00:00Z`,
    identity_id,
    resource_id: "r-1",
    product_type: "STORAGE",
    currency: "USD",
    amount,
    ...rest,
  });
  await insertChargebacks(stores, "acme", [
    row(1, "sa-1", "0.1"),
    row(2, "sa-1", "0.2"),
    row(3, "sa-1", "-0.05", { resource_id: "r-2" }),
    row(2, "sa-2", "12.345678901234"),
    row(2, "sa-2", "3", { currency: "EUR", resource_id: "r-2" }),
    row(3, "sa-1", "7", { currency: "EUR", resource_id: "r-2" }),
    row(1, "sa-9", "20", { resource_id: "r-9" }),
    row(1, "sa-3", "5"),
    row(2, "sa-3", "-5"),
    row(4, "sa-3", "99"),
  ]);
  const read = async (query: string) => (await get(app, `${base}?${window}&${query}`)).body;
  const ids = async (query: string) => (await read(query)).items.map(({ id }: Item) => id);

  await t.test("the largest come first, with exact sums by currency", async (t) => {
    const { items, ...page } = await read("kind=identities");
    t.strictSame(
      items.map(({ id, costs }: Item) => [
        id,
        ...costs.map(({ currency, amount }) => `${amount} ${currency}`),
      ]),
      [
        ["sa-1", "7 EUR", "0.25 USD"],
        ["sa-2", "3 EUR", "12.345678901234 USD"],
        ["sa-9", "20 USD"],
      ],
      "EUR is compared before USD; what adds up to 0 is hidden",
    );
    t.strictSame(page, { total: 3, page: 1, page_size: 100, pages: 1, next_cursor: null });
  });

  await t.test("items have what the inventory knows, and unknown ones are listed", async (t) => {
    const { items } = await read("order=cost.asc&search=R-");
    t.strictSame(items, [
      {
        id: "r-1",
        type: "cluster",
        display_name: "orders",
        status: "active",
        parent_id: "env-1",
        owner_id: "sa-1",
        team: null,
        created_at: null,
        deleted_at: null,
        last_seen_at: "2026-03-04T00:00:00Z",
        costs: [{ currency: "USD", amount: "12.645678901234" }],
      },
      {
        id: "r-9",
        type: null,
        display_name: null,
        status: null,
        parent_id: null,
        owner_id: null,
        team: null,
        created_at: null,
        deleted_at: null,
        last_seen_at: null,
        costs: [{ currency: "USD", amount: "20" }],
      },
      {
        id: "r-2",
        type: "cluster",
        display_name: null,
        status: "deleted",
        parent_id: null,
        owner_id: null,
        team: null,
        created_at: null,
        deleted_at: "2026-03-04T00:00:00Z",
        last_seen_at: "2026-03-02T00:00:00Z",
        costs: [
          { currency: "EUR", amount: "10" },
          { currency: "USD", amount: "-0.05" },
        ],
      },
    ]);
    t.equal((await read("kind=identities&search=orders")).items[0].team, "search");
  });

  await t.test("everything is sorted before it is cut into pages", async (t) => {
    t.strictSame(await ids("costless=true"), ["r-2", "r-9", "r-1", "r-3"], "costless last");
    t.strictSame(await ids("costless=true&order=cost.asc"), ["r-1", "r-9", "r-2", "r-3"]);
    t.strictSame(await ids("costless=true&order=id.desc"), ["r-9", "r-3", "r-2", "r-1"]);
    t.strictSame(await ids("costless=true&order=name.asc"), ["r-1", "r-2", "r-3", "r-9"]);
    const pages = await Promise.all([1, 2, 3].map((page) => read(`costless=true&page_size=2&page=${page}`)));
    t.strictSame(
      pages.map(({ items, total, pages }) => [items.map(({ id }: Item) => id), total, pages]),
      [
        [["r-2", "r-9"], 4, 2],
        [["r-1", "r-3"], 4, 2],
        [[], 4, 2],
      ],
    );
  });

  await t.test("the list can be narrowed, and the period has a time zone", async (t) => {
    t.strictSame(await ids("costless=true&type=topic"), ["r-3"]);
    t.strictSame(await ids("type=topic"), []);
    t.strictSame(await ids("status=deleted"), ["r-2"]);
    t.strictSame(await ids("search=ORD"), ["r-1"]);
    t.strictSame(await ids("kind=identities&search=%25"), []);
    const denver = "kind=identities&search=sa-3&timezone=America/Denver";
    t.strictSame((await read(denver)).items[0].costs, [{ currency: "USD", amount: "94" }]);
  });

  await t.test("wrong parameters are named", async (t) => {
    for (const [query, detail] of [
      ["kind=topics", "`kind` must be one of resources, identities."],
      ["order=cost", /^`order` must be one of cost\.asc, cost\.desc, id\.asc/],
      ["order=metadata.asc", /^`order` must be one of/],
      ["costless=1", "`costless` must be true or false."],
      ["cursor=x", /cursor/],
    ] as const) {
      const { status, body } = await get(app, `${base}?${query}`);
      t.equal(status, 400, query);
      holds(t, body, { detail }, query);
    }
    t.equal((await get(app, "/api/v1/tenants/nobody/inventory/costs")).status, 404);
  });
});
