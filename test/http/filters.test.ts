import t from "tap";
import { copyNames } from "../../src/ingest/inventory/copy-names.js";
import fc, { seedOf } from "../property.js";
import { recordTestDimensions } from "../tags/tagging.js";
import { gatherInto } from "./gathered-inventory.js";
import { type ChargebackInput, get, insertBilling, insertChargebacks, startService } from "./service.js";

const acme = "/api/v1/tenants/acme";
const window = "start_date=2026-03-01&end_date=2026-03-04";

interface Row
  extends Required<
    Omit<ChargebackInput, "component" | "metric" | "provisional" | "rules_hash" | "tenant_id" | "ecosystem">
  > {
  readonly cost_type: "usage" | "shared";
}

const values = {
  identity_id: ["sa-1", "sa-2", "sa-3", 'it\'s \\ "x"\t,', "UNALLOCATED"],
  resource_id: ["r-1", "r-2", "r,3"],
  product_type: ["STORAGE", "NETWORK"],
  product_category: ["KAFKA", "FLINK"],
  env_id: ["", "env-1", "env-2"],
  cost_type: ["usage", "shared"],
  allocation_method: ["usage_ratio", "even_split", "terminal"],
  allocation_detail: ["usage_ratio_allocation", "owner_unknown", "no_metrics_located"],
  currency: ["USD", "EUR"],
  charge_category: ["", "Usage"],
  service_provider: ["", "AWS"],
  account_id: ["", "1", "2"],
  region_id: ["", "eu"],
  sku_id: ["", "S,1"],
  rule: ["", "shared"],
  /** The value of the line's tag `cost center`. Undefined if the line has none. */
  center: [undefined, "", "a,b", "UNTAGGED", "c"],
} as const;

const tagsOf = (center: string | undefined): Record<string, string> =>
  center === undefined ? { "column:model": "gpt-4" } : { "cost center": center };

const rows: Row[] = fc.sample(
  fc.record({
    timestamp: fc.constantFrom("2026-03-01T00:00:00Z", "2026-03-02T05:00:00Z", "2026-03-04T23:00:00Z"),
    amount: fc.integer({ min: -90_000, max: 900_000 }).map(String),
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
    rule: fc.constantFrom(...values.rule),
    line_tags: fc.constantFrom(...values.center.map(tagsOf)),
  }),
  { numRuns: 400, seed: seedOf(t, 7) },
);

const teams: Readonly<Record<string, string>> = {
  "sa-1": "payments",
  "sa-2": "search",
  UNALLOCATED: "UNALLOCATED",
};
const squads: Readonly<Record<string, string>> = { "sa-1": "red, hot", "sa-3": "blue" };

/** Returns the row's value for a filter. */
const fieldOf: Readonly<Record<string, (row: Row) => string>> = {
  identity_id: (row) => row.identity_id,
  resource_id: (row) => row.resource_id,
  product_type: (row) => row.product_type,
  product_category: (row) => row.product_category,
  environment_id: (row) => row.env_id,
  cost_type: (row) => row.cost_type,
  allocation_method: (row) => row.allocation_method,
  allocation_detail: (row) => row.allocation_detail,
  currency: (row) => row.currency,
  charge_category: (row) => row.charge_category,
  service_provider: (row) => row.service_provider,
  account_id: (row) => row.account_id,
  region_id: (row) => row.region_id,
  sku_id: (row) => row.sku_id,
  rule: (row) => row.rule,
  team: (row) => teams[row.identity_id] ?? "UNASSIGNED",
  "line_tag:cost center": (row) => row.line_tags["cost center"] ?? "UNTAGGED",
  "column:model": (row) => row.line_tags["column:model"] ?? "UNTAGGED",
  "tag:squad": (row) => squads[row.identity_id] ?? "UNTAGGED",
};

const choices: Readonly<Record<string, readonly string[]>> = {
  identity_id: [...values.identity_id, "nobody"],
  resource_id: values.resource_id,
  product_type: values.product_type,
  product_category: values.product_category,
  environment_id: ["", "env-1", "env-2"],
  cost_type: values.cost_type,
  charge_category: values.charge_category,
  service_provider: values.service_provider,
  account_id: values.account_id,
  region_id: values.region_id,
  sku_id: values.sku_id,
  rule: values.rule,
  "line_tag:cost center": ["a,b", "UNTAGGED", "c"],
  "column:model": ["gpt-4", "UNTAGGED", "other"],
  allocation_method: values.allocation_method,
  allocation_detail: values.allocation_detail,
  currency: values.currency,
  team: ["payments", "search", "UNALLOCATED", "UNASSIGNED"],
  "tag:squad": ["red, hot", "blue", "UNTAGGED"],
};

type Filters = Readonly<Record<string, readonly string[]>>;

const filtersOf = fc
  .uniqueArray(
    fc.constantFrom(...Object.keys(choices)).chain((name) =>
      fc.record({
        name: fc.constantFrom(name, `not:${name}`),
        wanted: fc.shuffledSubarray([...(choices[name] ?? [])], { minLength: 1 }),
      }),
    ),
    { minLength: 1, maxLength: 3, selector: ({ name }) => name },
  )
  .map((all): Filters => Object.fromEntries(all.map(({ name, wanted }) => [name, wanted])));

/**
 * Each filter is used alone, first with one value and then excluding several. These requests are always among the drawn
 * ones.
 */
const oneOfEach: [Filters][] = Object.entries(choices).flatMap(([name, wanted]): [Filters][] => [
  [{ [name]: wanted.slice(0, 1) }],
  [{ [`not:${name}`]: wanted.slice(0, 2) }],
]);

function matches(row: Row, filters: Filters): boolean {
  return Object.entries(filters).every(([name, wanted]) => {
    const isExcluding = name.startsWith("not:");
    const value = fieldOf[isExcluding ? name.slice(4) : name]?.(row) ?? "";
    return wanted.includes(value) !== isExcluding;
  });
}

const isTag = (name: string) => /(tag|column):/.test(name);
const escaped = (name: string) => name.replace(/[\\,]/g, "\\$&");

/** Encodes filters as parameters. The names of tags are part of one parameter. */
function queryOf(filters: Filters): string {
  const query = new URLSearchParams();
  for (const [name, wanted] of Object.entries(filters)) {
    for (const value of isTag(name) ? [wanted.map(escaped).join(",")] : wanted) query.append(name, value);
  }
  return query.toString();
}

/** Encodes filters as fields of a body. One value is a string, several are a list. */
const fieldsOf = (filters: Filters) =>
  Object.fromEntries(
    Object.entries(filters).map(([name, wanted]) => [
      name,
      isTag(name) ? wanted.map(escaped).join(",") : wanted.length === 1 ? wanted[0] : wanted,
    ]),
  );

/** Lists `currency count sum` for each currency. */
function totalsOf(found: readonly { readonly currency: string; readonly amount: string }[]): string[] {
  const currencies = [...new Set(found.map(({ currency }) => currency))].sort();
  return currencies.map((currency) => {
    const own = found.filter((row) => row.currency === currency);
    return `${currency} ${own.length} ${own.reduce((sum, { amount }) => sum + Number(amount), 0)}`;
  });
}

t.test("filters take several values, and can exclude", async (t) => {
  const { app, stores } = await startService(t);
  await insertChargebacks(stores, "acme", rows);
  await gatherInto(stores, "acme", {
    at: "2026-03-05T00:00:00Z",
    resources: [],
    identities: Object.entries(teams).map(([identity_id, team]) => ({ identity_id, metadata: { team } })),
  });
  const { client } = await stores.tenant("acme");
  const signal = new AbortController().signal;
  t.equal(await copyNames({ client, postgres: stores.postgres, tenantName: "acme", signal }), true);
  await recordTestDimensions(stores, "acme");
  const post = async (url: string, payload: object) => {
    const response = await app.inject({ method: "POST", url: `${acme}/${url}`, payload });
    return { status: response.statusCode, text: response.body };
  };
  await t.test("bulk tagging tags what matches the filters", async (t) => {
    for (const [identity_id, name] of Object.entries(squads)) {
      const { status, text } = await post("tags/bulk-by-filter", {
        tag_key: "squad",
        display_name: name,
        created_by: "test",
        start_date: "2026-03-01",
        end_date: "2026-03-04",
        "not:identity_id": values.identity_id.filter((each) => each !== identity_id),
      });
      const { created_count } = JSON.parse(text);
      const own = rows.filter((row) => row.identity_id === identity_id);
      const { currency: _, timestamp: _at, amount: _of, ...fields } = own[0] as Row;
      const ofLine = ["charge_category", "service_provider", "account_id", "region_id", "sku_id"];
      const dimension = Object.keys(fields).filter(
        (name) => ![...ofLine, "line_tags", "rule", "allocation_method", "allocation_detail"].includes(name),
      );
      const dimensions = new Set(own.map((row) => dimension.map((name) => row[name as keyof Row]).join("|")));
      t.strictSame([status, created_count], [200, dimensions.size]);
    }
  });

  const drawn = new Map<string, number>();
  await t.test("all reads agree with rows that are filtered one by one", async (t) => {
    await fc.assert(
      fc.asyncProperty(filtersOf, async (filters) => {
        for (const [name, wanted] of Object.entries(filters)) {
          for (const each of [name, wanted.length > 1 ? "several" : "one"])
            drawn.set(each, (drawn.get(each) ?? 0) + 1);
        }
        const expected = totalsOf(rows.filter((row) => matches(row, filters)));
        const query = `${window}&${queryOf(filters)}`;
        const read = async (path: string, more = "") => {
          const { status, body } = await get(app, `${acme}/chargebacks${path}?${query}${more}`);
          t.equal(status, 200, JSON.stringify(body).slice(0, 300));
          return body;
        };
        t.strictSame(
          totalsOf((await read("", "&page_size=1000")).items),
          expected,
          `list: ${queryOf(filters)}`,
        );
        const summed = (totals: { currency: string; total_amount: string; row_count: number }[]) =>
          totals.map(({ currency, row_count, total_amount }) => `${currency} ${row_count} ${total_amount}`);
        t.strictSame(summed((await read("/aggregate")).totals), expected, `aggregate: ${queryOf(filters)}`);
        t.strictSame(summed((await read("/breakdown")).totals), expected, `breakdown: ${queryOf(filters)}`);
        const { totals } = await read("/change");
        t.strictSame(
          totals.map(({ currency, amount }: { currency: string; amount: string }) => [currency, amount]),
          expected.map((each) => each.split(" ").filter((_, part) => part !== 1)),
          `change: ${queryOf(filters)}`,
        );
        const columns = ["currency", "amount"];
        const csv = await post("export?format=csv", {
          columns,
          start_date: "2026-03-01",
          end_date: "2026-03-04",
          filters: fieldsOf(filters),
        });
        t.equal(csv.status, 200, csv.text.slice(0, 300));
        const exported = csv.text
          .trim()
          .split("\n")
          .slice(1)
          .map((line) => ({ currency: line.slice(0, 3), amount: line.slice(4).replace(/^'/, "") }));
        t.strictSame(totalsOf(exported), expected, `export: ${queryOf(filters)}`);
      }),
      { numRuns: 60, examples: oneOfEach },
    );
  });
  await t.test("every filter was drawn, with one value and with several", async (t) => {
    const classes = [...Object.keys(choices).flatMap((name) => [name, `not:${name}`]), "one", "several"];
    t.strictSame(
      classes.filter((each) => !drawn.has(each)),
      [],
    );
  });

  await t.test("bills and attributions have the same filters", async (t) => {
    const lines = ["r-1", "r-2", "r-3"].map((resource_id) => ({
      timestamp: "2026-03-01T00:00:00Z",
      resource_id,
    }));
    await insertBilling(
      stores,
      "acme",
      lines.map((line) => ({ ...line, total_cost: "1" })),
    );
    const found = async (query: string) =>
      (await get(app, `${acme}/billing?${window}&${query}`)).body.items.map(
        ({ resource_id }: { resource_id: string }) => resource_id,
      );
    t.strictSame(await found("resource_id=r-1&resource_id=r-3"), ["r-1", "r-3"]);
    t.strictSame(await found("not:resource_id=r-1&not:resource_id=r-3"), ["r-2"]);
    t.strictSame(await found("resource_id=r-1&not:resource_id=r-1"), []);
    const { status, body } = await get(
      app,
      `${acme}/topic-attributions?${window}&topic_name=a&not:topic_name=b`,
    );
    t.strictSame([status, body.items], [200, []]);
  });

  const refused = async (query: string) => {
    const { status, body } = await get(app, `${acme}/chargebacks?${query}`);
    return [status, body.detail];
  };
  await t.test("unknown filters are refused by name", async (t) => {
    const many = Array(101).fill("identity_id=a").join("&");
    t.strictSame(await refused(many), [
      400,
      "`identity_id` must be text of 1 to 1000 characters, and given at most 100 times.",
    ]);
    t.strictSame(await refused("not:cost_type=x"), [
      400,
      "`not:cost_type` must be one of usage, shared, passed, and given at most 100 times.",
    ]);
    t.strictSame(await refused("not:identity_id="), [
      400,
      "`not:identity_id` must not be empty: leave it out, or give it a value.",
    ]);
    const [status, detail] = await refused("not:page=1");
    t.equal(status, 400);
    t.match(detail, /^Unknown parameter `not:page`/);
    const body = await post("export", { filters: { "not:identity_id": [] } });
    t.strictSame(
      [body.status, JSON.parse(body.text).detail],
      [400, "`filters.not:identity_id` must be text of 1 to 1000 characters, or a list of 1 to 100 of them."],
    );
  });
});
