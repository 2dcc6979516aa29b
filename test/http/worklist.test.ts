import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { temporaryFolder } from "../stores.js";
import {
  type BillingInput,
  type ChargebackInput,
  get,
  insertBilling,
  insertChargebacks,
  startService,
} from "./service.js";

const nobody = {
  identity_id: "UNALLOCATED",
  allocation_method: "terminal",
  tier: 1,
  allocation_detail: "no_identity_on_line",
};

t.test("GET /api/v1/tenants/{tenant_name}/worklist", async (t) => {
  const map = join(temporaryFolder(t), "accounts.csv");
  writeFileSync(map, "value,identity\nnew-env,data\n");
  const pattern = "^team-(?<identity>[a-zA-Z]*)$";
  const sources = [
    "allocation:",
    "  identity:",
    "    - tag: team",
    `    - { column: env_id, map: "${map}" }`,
    `    - { column: resource_id, pattern: '${pattern}' }`,
  ];
  const { app, stores } = await startService(t, [], { tenant: sources });
  const url = "/api/v1/tenants/acme/worklist?start_date=2026-03-01&end_date=2026-03-02";
  const send = async (query = "", tenant = "acme") => {
    const { status, body } = await get(app, `${url.replace("acme", tenant)}${query}`);
    t.equal(status, 200, JSON.stringify(body));
    return body;
  };

  await t.test("without published days the worklist is empty", async (t) => {
    t.strictSame(await send(), {
      items: [],
      total: 0,
      page: 1,
      page_size: 100,
      pages: 0,
      next_cursor: null,
    });
  });

  type Line = Omit<BillingInput, "timestamp" | "metadata" | "quantity"> & { day?: string };
  const put = async (tenant: string, lines: readonly Line[], row: Partial<ChargebackInput> = nobody) => {
    const stamped = lines.map(({ day = "01", ...line }) => ({
      ...line,
      timestamp: `2026-03-${day}T00:00:00Z`,
    }));
    await insertBilling(stores, tenant, stamped);
    await insertChargebacks(
      stores,
      tenant,
      stamped.map(({ total_cost: amount, named_identity: _, ...line }) => ({ ...line, amount, ...row })),
    );
  };
  await put("acme", [
    { total_cost: "10", resource_id: "i-1", env_id: "e-1", line_tags: { Team: "x" }, account_id: "a" },
    { total_cost: "12.5", resource_id: "i-1", env_id: "e-1", day: "02", line_tags: {}, account_id: "a" },
    { total_cost: "-40", resource_id: "team-", env_id: "", line_tags: { team: "UNALLOCATED" }, rule: "rest" },
    { total_cost: "3", resource_id: "team-web", env_id: "new-env", line_tags: { team: "" }, currency: "EUR" },
    { total_cost: "2", resource_id: "' OR 1 --", product_type: "__proto__", line_tags: { team: " " } },
  ]);
  await put("acme", [{ total_cost: "1", resource_id: "named", named_identity: "web" }], {
    ...nobody,
    allocation_detail: "no_identities_located",
  });
  // The row is allocated by design and paid, so there is nothing to do.
  await put("acme", [{ total_cost: "99", resource_id: "design" }], {
    ...nobody,
    allocation_detail: "unattributable_by_design",
  });
  await put("acme", [{ total_cost: "99", resource_id: "paid" }], {});
  // The row costs nothing, so no identity has to pay for it.
  await put("acme", [{ total_cost: "0", resource_id: "i-0", env_id: "e-1", account_id: "a", line_tags: {} }]);
  // A row whose line is not in the bill any more is still listed.
  await insertChargebacks(stores, "acme", [
    { timestamp: "2026-03-01T00:00:00Z", amount: "0.5", resource_id: "gone", ...nobody },
  ]);

  const byMap = { column: "env_id", map };
  const byPattern = { column: "resource_id", pattern };
  const item = (amount: string, example_resource_id: string, more: object) => ({
    currency: "USD",
    product_type: "STORAGE",
    account_id: "",
    environment_id: "",
    rule: "",
    allocation_detail: "no_identity_on_line",
    named_identity: "",
    line_count: 1,
    resource_count: 1,
    example_resource_id,
    example_date: "2026-03-01",
    amount,
    ...more,
  });
  const items = [
    item("-40", "team-", {
      rule: "rest",
      lacks: [
        { tag: "team", reason: "no_identity", value: "UNALLOCATED" },
        { ...byMap, reason: "no_value", value: "" },
        { ...byPattern, reason: "no_identity", value: "team-" },
      ],
    }),
    item("12.5", "i-1", {
      environment_id: "e-1",
      account_id: "a",
      example_date: "2026-03-02",
      lacks: [
        { tag: "team", reason: "no_tag", value: "" },
        { ...byMap, reason: "not_in_map", value: "e-1" },
        { ...byPattern, reason: "no_match", value: "i-1" },
      ],
    }),
    item("10", "i-1", {
      environment_id: "e-1",
      account_id: "a",
      lacks: [
        { tag: "team", reason: "no_tag", value: "", similar_tag: "Team" },
        { ...byMap, reason: "not_in_map", value: "e-1" },
        { ...byPattern, reason: "no_match", value: "i-1" },
      ],
    }),
    item("3", "team-web", {
      currency: "EUR",
      environment_id: "new-env",
      lacks: [
        { tag: "team", reason: "no_value", value: "" },
        { ...byMap, reason: "now_known", value: "new-env", identity: "data" },
        { ...byPattern, reason: "now_known", value: "team-web", identity: "web" },
      ],
    }),
    item("2", "' OR 1 --", {
      product_type: "__proto__",
      lacks: [
        { tag: "team", reason: "no_identity", value: " " },
        { ...byMap, reason: "no_value", value: "" },
        { ...byPattern, reason: "no_match", value: "' OR 1 --" },
      ],
    }),
    item("1", "named", {
      allocation_detail: "no_identities_located",
      named_identity: "web",
      lacks: [],
    }),
    item("0.5", "gone", { lacks: [] }),
  ];
  await t.test("each item shows what every source is missing, the largest first", async (t) => {
    const { items: found, ...page } = await send();
    t.strictSame(page, { total: 7, page: 1, page_size: 100, pages: 1, next_cursor: null });
    t.strictSame(found, items);
  });

  await t.test("the worklist has pages", async (t) => {
    const second = await send("&page=2&page_size=2");
    t.strictSame([second.items, second.total, second.pages], [items.slice(2, 4), 7, 4]);
    const past = await send("&page=9&page_size=2");
    t.strictSame([past.items, past.total], [[], 7]);
  });

  await t.test("of ten thousand values, the largest are on the first page", async (t) => {
    await put(
      "globex",
      Array.from({ length: 10_000 }, (_, index) => ({
        total_cost: `${index + 1}`,
        resource_id: `i-${index}`,
        env_id: `env-${index}`,
      })),
    );
    const found = await send("&page_size=1", "globex");
    t.strictSame(
      [found.total, found.items[0].amount, found.items[0].lacks[1]],
      [10_000, "10000", { ...byMap, reason: "not_in_map", value: "env-9999" }],
    );
  });
});
