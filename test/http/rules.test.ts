import t from "tap";
import {
  type BillingInput,
  type ChargebackInput,
  get,
  insertBilling,
  insertChargebacks,
  startService,
} from "./service.js";

const rules = `allocation:
  rules:
    - name: kept
      where: { product_type: "*Tax*" }
      allocation: keep
    - name: idle
      where: { any: [{ env_id: a }, { tag.cluster: { exists: true } }] }
      components:
        - { ratio: 0.5, split: [{ by: line }] }
        - { ratio: 0.5, split: [{ by: fixed, shares: { web: 1 } }] }
    - name: support
      where: { product_type: [Support, "Help*"] }
      split: [{ by: cost }]`.split("\n");

const at = "2026-03-01T00:00:00Z";

interface Line extends Omit<BillingInput, "timestamp"> {
  readonly rows: readonly Omit<ChargebackInput, "timestamp">[];
}

const lineOf = (line: Line): { bill: BillingInput; rows: ChargebackInput[] } => {
  const { rows, ...bill } = line;
  const same = Object.fromEntries(
    ["rule", "product_type", "resource_id", "currency", "line_tags", "account_id", "env_id"].flatMap(
      (name) => {
        const value = bill[name as keyof typeof bill];
        return value === undefined ? [] : [[name, value]];
      },
    ),
  );
  return {
    bill: { timestamp: at, ...bill },
    rows: rows.map((row) => ({ timestamp: at, ...same, ...row })),
  };
};

const byCost = { allocation_method: "cost_ratio", allocation_detail: "cost_ratio_allocation" };
const nobody = {
  identity_id: "UNALLOCATED",
  allocation_method: "terminal",
  allocation_detail: "no_identities_located",
  tier: 1,
};

t.test("GET /api/v1/tenants/{tenant_name}/rules", async (t) => {
  const { app, stores, build, config } = await startService(t, [], { tenant: rules });
  const url = "/api/v1/tenants/acme/rules?start_date=2026-03-01&end_date=2026-03-02";
  const send = async (query = "") => {
    const { status, body } = await get(app, `${url}${query}`);
    t.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const put = async (tenant: string, lines: readonly Line[]) => {
    await insertBilling(
      stores,
      tenant,
      lines.map((line) => lineOf(line).bill),
    );
    await insertChargebacks(
      stores,
      tenant,
      lines.flatMap((line) => lineOf(line).rows),
    );
  };
  const configured = [
    {
      name: "kept",
      configured: true,
      keep: true,
      stage: 1,
      narrow_weights: [],
      where: { product_type: "*Tax*" },
    },
    {
      name: "idle",
      configured: true,
      keep: false,
      stage: 1,
      narrow_weights: [],
      where: { any: [{ env_id: "a" }, { "tag.cluster": { exists: true } }] },
      components: [
        { ratio: "0.5", split: [{ by: "line" }] },
        { ratio: "0.5", split: [{ by: "fixed", shares: { web: "1" } }] },
      ],
    },
    {
      name: "support",
      configured: true,
      keep: false,
      stage: 2,
      narrow_weights: [],
      where: { product_type: ["Support", "Help*"] },
      split: [{ by: "cost", of: "allocated", over: "day" }],
    },
  ];

  await t.test("without published days no rule matches lines", async (t) => {
    t.strictSame(await send(), {
      rules: configured.map((rule) => ({ ...rule, took_nothing: true, sums: [] })),
      steps: [],
      product_rules: [],
      other_product_rules: [],
      tag_hints: [],
    });
  });

  await put("acme", [
    {
      rule: "support",
      product_type: "Support",
      total_cost: "10",
      rows: [
        { amount: "6.6667", identity_id: "web", ...byCost },
        { amount: "3.3333", identity_id: "data", ...byCost },
      ],
    },
    {
      rule: "support",
      product_type: "Help",
      total_cost: "-2.5",
      resource_id: "r-2",
      rows: [{ amount: "-2.5", ...nobody }],
    },
    {
      rule: "support",
      product_type: "Support",
      total_cost: "7",
      currency: "EUR",
      rows: [{ amount: "7", ...nobody }],
    },
    {
      rule: "kept",
      product_type: "Tax",
      total_cost: "1.5",
      rows: [
        {
          amount: "1.5",
          allocation_method: "even_split",
          allocation_detail: "even_split_allocation",
          cost_type: "shared",
        },
      ],
    },
    { rule: "former", total_cost: "4", rows: [{ amount: "4", component: 1 }] },
    {
      product_type: "STORAGE",
      total_cost: "20",
      rows: [{ amount: "12" }, { amount: "8", identity_id: "sa-2" }],
    },
    { product_type: "__proto__", total_cost: "-30", resource_id: "r-3", rows: [{ amount: "-30" }] },
    { product_type: "' OR 1", total_cost: "1", resource_id: "r-4", rows: [{ amount: "1" }] },
  ]);
  const usage = {
    component: 0,
    tier: 0,
    allocation_method: "usage_ratio",
    allocation_detail: "usage_ratio_allocation",
  };
  const own = (product_type: string, amount: string, row_count = 1) => ({
    product_type,
    sums: [{ currency: "USD", line_count: 1, amount, tiers: [{ ...usage, row_count, amount }] }],
  });
  const terminal = {
    component: 0,
    tier: 1,
    allocation_method: "terminal",
    allocation_detail: "no_identities_located",
  };

  await t.test("each rule shows the lines that it matched, by currency and tier", async (t) => {
    t.strictSame(await send(), {
      rules: [
        {
          ...configured[0],
          took_nothing: false,
          sums: [
            {
              currency: "USD",
              line_count: 1,
              amount: "1.5",
              tiers: [
                {
                  component: 0,
                  tier: 0,
                  allocation_method: "even_split",
                  allocation_detail: "even_split_allocation",
                  row_count: 1,
                  amount: "1.5",
                },
              ],
            },
          ],
        },
        { ...configured[1], took_nothing: true, sums: [] },
        {
          ...configured[2],
          took_nothing: false,
          sums: [
            {
              currency: "EUR",
              line_count: 1,
              amount: "7",
              tiers: [{ ...terminal, row_count: 1, amount: "7" }],
            },
            {
              currency: "USD",
              line_count: 2,
              amount: "7.5",
              tiers: [
                { component: 0, tier: 0, ...byCost, row_count: 2, amount: "10" },
                { ...terminal, row_count: 1, amount: "-2.5" },
              ],
            },
          ],
        },
        {
          name: "former",
          configured: false,
          keep: false,
          narrow_weights: [],
          took_nothing: false,
          sums: [
            {
              currency: "USD",
              line_count: 1,
              amount: "4",
              tiers: [{ ...usage, component: 1, row_count: 1, amount: "4" }],
            },
          ],
        },
      ],
      steps: [],
      product_rules: [own("__proto__", "-30"), own("STORAGE", "20", 2), own("' OR 1", "1")],
      other_product_rules: [],
      tag_hints: [],
    });
  });

  await t.test(
    "a tag that differs in case is reported, with its share of the cost in each currency",
    async (t) => {
      const line = (
        total_cost: string,
        line_tags: Record<string, string>,
        more: Partial<Line> = {},
      ): Line => ({
        total_cost,
        line_tags,
        rule: "support",
        product_type: "Support",
        ...more,
        rows: [{ amount: total_cost, ...nobody }],
      });
      await put("globex", [
        line("90", { Cluster: "a" }, { resource_id: "r-1" }),
        line("-4", { Cluster: "a", CLUSTER: "b" }, { resource_id: "r-2" }),
        line("5", { cluster: "a", Cluster: "b" }, { resource_id: "r-3" }),
        line("1", { clusters: "a" }, { resource_id: "r-4" }),
        line("7", { CLUSTER: "" }, { resource_id: "r-5", currency: "EUR" }),
      ]);
      const { body } = await get(
        app,
        "/api/v1/tenants/globex/rules?start_date=2026-03-01&end_date=2026-03-01",
      );
      t.strictSame(body.tag_hints, [
        { currency: "EUR", tag: "cluster", similar_tag: "CLUSTER", line_count: 1, amount: "7", share: "1" },
        {
          currency: "USD",
          tag: "cluster",
          similar_tag: "Cluster",
          line_count: 1,
          amount: "90",
          share: "0.9",
        },
        {
          currency: "USD",
          tag: "cluster",
          similar_tag: "CLUSTER",
          line_count: 1,
          amount: "-4",
          share: "0.04",
        },
      ]);
    },
  );

  await t.test("a period without these days shows no matched lines", async (t) => {
    const { body } = await get(app, "/api/v1/tenants/acme/rules?start_date=2026-03-02&end_date=2026-03-03");
    t.strictSame(
      body.rules.map(({ took_nothing }: { took_nothing: boolean }) => took_nothing),
      [true, true, true],
    );
  });

  await t.test("the ETag of the rules changes with the configuration", async (t) => {
    const first = await get(app, url);
    const same = await get(app, url, { "if-none-match": String(first.headers.etag) });
    t.equal(same.status, 304);
    const acme = config.tenants.get("acme");
    if (acme === undefined) throw new Error("no tenant");
    const other = { ...acme, allocation: { ...acme.allocation, rules: acme.allocation.rules.slice(1) } };
    const changed = await build({ config: { ...config, tenants: new Map([["acme", other]]) } });
    const again = await get(changed, url, { "if-none-match": String(first.headers.etag) });
    t.strictSame(
      [
        again.status,
        again.body.rules.map(({ name, configured }: Record<string, unknown>) => `${name} ${configured}`),
      ],
      [200, ["idle true", "support true", "former false", "kept false"]],
    );
  });

  await t.test(
    "of ten thousand product types, the largest are shown and the others are summed",
    async (t) => {
      const lines = Array.from({ length: 10_000 }, (_, index) => ({
        product_type: `p-${index}`,
        resource_id: `r-${index}`,
        total_cost: `${index % 2 === 0 ? "" : "-"}${index + 1}`,
        // The smallest type of one currency is the largest of another, and is listed for both.
        rows: [{ amount: `${index % 2 === 0 ? "" : "-"}${index + 1}` }],
      }));
      const euros = {
        product_type: "p-0",
        resource_id: "r-0",
        total_cost: "3",
        currency: "EUR",
        rows: [{ amount: "3" }],
      };
      await put("globex", [...lines, euros]);
      const { body } = await get(app, url.replace("acme", "globex"));
      const names = body.product_rules.map(({ product_type }: { product_type: string }) => product_type);
      t.equal(names.length, 501);
      t.strictSame(names.slice(0, 3), ["p-0", "p-9999", "p-9998"]);
      t.strictSame(
        body.product_rules[0].sums.map(
          ({ currency, amount }: Record<string, string>) => `${currency} ${amount}`,
        ),
        ["EUR 3", "USD 1"],
      );
      // The sum of 9,499 amounts of -2, 3, -4 … 9,500.
      t.strictSame(body.other_product_rules, [
        { currency: "USD", line_count: 9499, amount: "-4751", product_type_count: 9499 },
      ]);
    },
  );
});
