/** Tags of single dimensions, matched by all of a row's columns: filters and groups agree with a referee. */
import t from "tap";
import { readRows } from "../../src/clickhouse/statement.js";
import { dimensionFields } from "../../src/domain/dimension-id.js";
import { filtered, withClause } from "../../src/query/chargebacks/scan.js";
import { UNTAGGED } from "../../src/query/tags/filter.js";
import { tagLookup } from "../../src/query/tags/tag-sql.js";
import { insertChargebacks, startService } from "../http/service.js";
import fc, { seedOf } from "../property.js";
import { recordTestDimensions } from "../tags/tagging.js";

const days = ["2026-03-01", "2026-03-02"];
/** Each column has few values, so that most dimensions differ from another one in a single column. */
const dimension = fc.record({
  ecosystem: fc.constantFrom("e", "f"),
  tenant_id: fc.constantFrom("acme", "other"),
  env_id: fc.constantFrom("", "env-1"),
  resource_id: fc.constantFrom("r-1", "r-2", "r-3"),
  product_category: fc.constantFrom("KAFKA", "FLINK"),
  product_type: fc.constantFrom("STORAGE", "NETWORK"),
  identity_id: fc.constantFrom("sa-1", "sa-2", "sa-3"),
  cost_type: fc.constantFrom("usage" as const, "shared" as const),
});
type Dimension = typeof dimension extends fc.Arbitrary<infer Value> ? Value : never;

const keys = ["team", "stage"] as const;
const names = ["red", "blue", "green", UNTAGGED] as const;
const filter = fc.record({
  key: fc.constantFrom(...keys, "unknown"),
  displayNames: fc.shuffledSubarray([...names, "nobody"], { minLength: 1 }),
  isExcluding: fc.boolean(),
});

t.test("filters and groups by tags find the rows of exactly the tagged dimensions", async (t) => {
  const seed = seedOf(t, 11);
  const { stores } = await startService(t);
  const { client } = await stores.tenant("acme");
  const drawn = fc.sample(dimension, { numRuns: 300, seed });
  const rows = drawn.map((fields, index) => ({ ...fields, amount: `${index}`, day: days[index % 2] ?? "" }));
  await insertChargebacks(
    stores,
    "acme",
    rows.map(({ day, ...row }) => ({ ...row, timestamp: `${day}T00:00:00Z` })),
  );
  await recordTestDimensions(stores, "acme");

  const keyOf = (of: Dimension) => dimensionFields.map((field) => of[field]).join("|");
  const stored = await readRows<Dimension & { readonly dimension_id: string }>(client, {
    query: `SELECT toString(dimension_id) AS dimension_id, ${dimensionFields.join(", ")} FROM dimensions ORDER BY ${dimensionFields.join(", ")}`,
    params: {},
  });
  // A third of the dimensions has no tag under a key. Every tag had another name before.
  const nameAt = fc.constantFrom(...names, undefined, undefined);
  const chosen = fc.sample(nameAt, { numRuns: keys.length * stored.length, seed });
  const tagOf = new Map<string, string>();
  const tags = stored.flatMap(({ dimension_id, ...fields }, index) =>
    keys.flatMap((tag_key, offset) => {
      const display_name = chosen[keys.length * index + offset];
      if (display_name === undefined) return [];
      tagOf.set(`${tag_key} ${keyOf(fields)}`, display_name);
      return [{ dimension_id, tag_id: 2 * index + offset, tag_key, display_name, is_deleted: 0, version: 2 }];
    }),
  );
  const before = tags.map((tag) => ({ ...tag, display_name: "red", version: 1 }));
  for (const values of [before, tags])
    await client.insert({ table: "dimension_tags", values, format: "JSONEachRow" });
  const tagName = (key: string, row: Dimension) => tagOf.get(`${key} ${keyOf(row)}`) ?? UNTAGGED;
  const amountsOf = async (query: string, params: Parameters<typeof readRows>[1]["params"]) =>
    (await readRows<{ amount: string }>(client, { query, params })).map(({ amount }) => Number(amount));

  let found = 0;
  await t.test("a filter by tags selects the rows whose dimension has, or lacks, a wanted tag", async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(filter, { minLength: 1, maxLength: 3 }), async (tags) => {
        const where = filtered({ tags });
        const wanted = rows.filter((row) =>
          tags.every(
            ({ key, displayNames, isExcluding }) => displayNames.includes(tagName(key, row)) !== isExcluding,
          ),
        );
        const amounts = await amountsOf(
          `${withClause(...where.withClauses)}SELECT toString(amount) AS amount FROM chargebacks WHERE 1${where.condition} ORDER BY toInt64(amount)`,
          where.params,
        );
        t.strictSame(
          amounts,
          wanted.map(({ amount }) => Number(amount)),
          JSON.stringify(tags),
        );
        if (amounts.length > 0 && amounts.length < rows.length) found += 1;
      }),
      { numRuns: 60 },
    );
    t.ok(found > 10, `${found} of the filters matched some rows`);
  });

  await t.test("a group by a tag has the rows of the dimensions with that tag", async (t) => {
    for (const key of [...keys, "unknown"]) {
      const lookup = tagLookup(key, "c0");
      const groups = await readRows<{ name: string; amounts: string[] }>(client, {
        query: `${withClause(...lookup.withClauses)}SELECT ${lookup.displayNames}[${lookup.position}] AS name,
          arraySort(x -> toInt64(x), groupArray(toString(amount))) AS amounts
        FROM chargebacks GROUP BY name ORDER BY name`,
        params: lookup.params,
      });
      const wanted = new Map<string, string[]>();
      for (const row of rows)
        wanted.set(tagName(key, row), [...(wanted.get(tagName(key, row)) ?? []), row.amount]);
      t.strictSame(
        groups.map(({ name, amounts }) => [name, amounts.join()]),
        [...wanted].sort().map(([name, amounts]) => [name, amounts.join()]),
        key,
      );
    }
  });

  await t.test("views for BI tools show every tag of a dimension", async (t) => {
    const shown = await readRows<{ tag: string }>(client, {
      query:
        "SELECT concat(toString(dimension_id), ' ', tag_key, '=', display_name) AS tag FROM tags ORDER BY tag",
      params: {},
    });
    t.strictSame(
      shown.map(({ tag }) => tag),
      tags
        .map(({ dimension_id, tag_key, display_name }) => `${dimension_id} ${tag_key}=${display_name}`)
        .sort(),
    );
    const costs = await readRows<{ date: string; name: string; cost: string }>(client, {
      query: `SELECT date, concat(tag_key, '=', display_name) AS name, toString(sum(total_amount)) AS cost
        FROM daily_cost_by_tag GROUP BY date, name ORDER BY date, name`,
      params: {},
    });
    const wanted = new Map<string, number>();
    for (const row of rows)
      for (const key of keys) {
        const name = tagOf.get(`${key} ${keyOf(row)}`);
        if (name === undefined) continue;
        const group = `${row.day} ${key}=${name}`;
        wanted.set(group, (wanted.get(group) ?? 0) + Number(row.amount));
      }
    t.strictSame(
      costs.map(({ date, name, cost }) => [`${date} ${name}`, Number(cost)]),
      [...wanted].sort(),
    );
  });
});
