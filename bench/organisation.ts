/**
 * The organisation of the benchmarks, in the shape of real users: 200 days of daily lines, 2,000 resources (fewer below
 * a million rows), 5,000 identities, 25 product types. Each resource has one to four product types and a pool of
 * identities of its own. Pools are skewed (the largest is 130 times the median's size for 1 %, the smallest one
 * identity), identities are skewed (some are in many pools), weights and costs have heavy tails, and a tenth of a pool
 * is idle on any day. So nearly all rows of a day are different dimensions. Everything is a hash of its numbers: the
 * same size gives the same data, and no row passes through JavaScript.
 */
import type { Statement } from "../src/clickhouse/statement.js";
import { addDays } from "../src/common/days.js";

export const organisation = {
  days: 200,
  resources: 2_000,
  identities: 5_000,
  productTypes: 25,
  metrics: 5,
  /** Product types from this number on have no usage metric and are divided evenly among the resource's identities. */
  firstEvenProductType: 23,
  firstDay: "2026-01-01",
} as const;

/** Share of a pool that is active on a day. */
const ACTIVE = 0.9;

function dayOf(index: number): string {
  return addDays(organisation.firstDay, index);
}

export const allDays: readonly string[] = Array.from({ length: organisation.days }, (_, index) =>
  dayOf(index),
);

/** A uniform number between 0 and 1, both excluded. */
const uniform = (...parts: string[]) =>
  `((bitShiftRight(cityHash64(${parts.join(", ")}), 11) + 0.5) / 9007199254740992)`;

/** A standard normal number, by Box and Muller. */
const normal = (name: string, ...parts: string[]) =>
  `(sqrt(-2 * log(${uniform(`'${name} 1'`, ...parts)})) * cos(2 * pi() * ${uniform(`'${name} 2'`, ...parts)}))`;

const PRODUCTS = `arrayJoin(arrayMap(j -> (first_product + j) % ${organisation.productTypes}, range(products))) AS product`;

/** Average number of products of a resource. */
const PRODUCTS_EACH = 2.5;

/** Returns all resources, or fewer if their lines alone were more than `rows`. */
function resourcesOf(rows: number): number {
  const { resources, days } = organisation;
  return Math.max(1, Math.min(resources, Math.round(rows / (PRODUCTS_EACH * days))));
}

/**
 * Makes resources and their pools. `rows` determines the mean size of a pool: one line per product and day gives one
 * row per active member.
 */
export function organisationTables(rows: number): Statement[] {
  const { identities, days, productTypes } = organisation;
  const resources = resourcesOf(rows);
  const meanPool = rows / (resources * PRODUCTS_EACH * days * ACTIVE);
  // Pool sizes fall with the rank's power of 0.7.
  const ranks = Array.from({ length: resources }, (_, rank) => (rank + 1) ** -0.7);
  const largest = (meanPool * resources) / ranks.reduce((sum, rank) => sum + rank, 0);
  return [
    {
      query: `
CREATE OR REPLACE TABLE bench_resources ENGINE = MergeTree ORDER BY resource AS
SELECT number AS resource, concat('lkc-', lower(substring(hex(cityHash64('resource', number)), 1, 6))) AS resource_id,
  concat('env-', lower(substring(hex(cityHash64('environment', number % 20)), 1, 5))) AS env_id,
  1 + cityHash64('products', number) % 4 AS products, cityHash64('first product', number) % ${productTypes} AS first_product,
  toUInt32(greatest(1, least(4000, round({largest:Float64} * pow(1 + (number * 787) % ${resources}, -0.7))))) AS pool_size
FROM numbers(${resources})`,
      params: { largest },
    },
    {
      // Members are drawn without replacement, popular identities first: the smallest of exponential keys divided by
      // popularity.
      query: `
CREATE OR REPLACE TABLE bench_pools ENGINE = MergeTree ORDER BY (resource_id, identity_id) AS
SELECT resource, resource_id, identity, concat('sa-', lower(substring(hex(cityHash64('identity', identity)), 1, 6))) AS identity_id,
  exp(2 * ${normal("size", "resource", "identity")}) AS size
FROM (
  SELECT resource, resource_id, arrayJoin(arraySlice(arraySort(groupArray((key, number))), 1, any(pool_size))).2 AS identity
  FROM (
    SELECT resource, resource_id, pool_size, n.number AS number,
      -log(${uniform("'member'", "resource", "n.number")}) * sqrt(n.number + 1) AS key
    FROM bench_resources CROSS JOIN numbers(${identities}) AS n
  )
  GROUP BY resource, resource_id
)`,
      params: {},
    },
  ];
}

export interface FactTables {
  readonly billing: string;
  readonly usage: string;
  readonly identity_sets: string;
}

/**
 * Makes the facts of days `[from, to)` in the tables that gathering would have filled. `samplesADay` is the number of
 * usage facts per metric, resource and identity, spread over the day.
 */
export function organisationFacts(tables: FactTables, samplesADay: number): string[] {
  const day = `toDate('${organisation.firstDay}') + d.number`;
  const days = "(SELECT number FROM numbers({from:UInt32}, {to:UInt32} - {from:UInt32})) AS d";
  const { firstEvenProductType, metrics } = organisation;
  return [
    `
INSERT INTO ${tables.billing}
  (timestamp, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, quantity, unit_price, total_cost, currency, granularity, metadata)
SELECT toDateTime(${day}, 'UTC'), 'confluent_cloud', 'bench', env_id, resource_id, concat('CATEGORY_', toString(product % 5)),
  concat('PRODUCT_', leftPad(toString(product), 2, '0')), 1, 1,
  toDecimal128(round(pool_size * exp(1.2 * ${normal("cost", "resource", "product")}) * (0.8 + 0.4 * ${uniform("'day'", "resource", "product", "d.number")}),
    if(cityHash64('places', resource, product) % 5 = 0, 8, 4)), 12), 'USD', 'daily', '{}'
FROM ${days} CROSS JOIN (SELECT *, ${PRODUCTS} FROM bench_resources) AS o`,
    `
INSERT INTO ${tables.usage} (timestamp, metric, resource_id, identity_id, micro_units)
SELECT toDateTime(${day}, 'UTC') + INTERVAL arrayJoin(range(${samplesADay})) * ${Math.floor(24 / samplesADay)} HOUR, concat('metric_', toString(product % ${metrics})), p.resource_id, p.identity_id,
  toInt128(1e12 * size * exp(${uniform("'product'", "resource", "identity", "product")}) * (0.5 + ${uniform("'use'", "resource", "identity", "product", "d.number")}))
FROM ${days}
CROSS JOIN (
  SELECT * FROM bench_pools AS pool INNER JOIN (SELECT resource AS of_resource, ${PRODUCTS} FROM bench_resources) AS o ON pool.resource = o.of_resource
  WHERE product < ${firstEvenProductType}
) AS p
WHERE cityHash64('active', resource, identity, product, d.number) % 10 < ${ACTIVE * 10}`,
    `
INSERT INTO ${tables.identity_sets} (day, scope, resource_id, identity_id)
SELECT ${day}, 'resource_active', resource_id, identity_id FROM ${days} CROSS JOIN bench_pools
UNION ALL
SELECT ${day}, 'owner', resource_id, owner FROM ${days} CROSS JOIN (SELECT resource_id, min(identity_id) AS owner FROM bench_pools GROUP BY resource_id) AS o`,
  ];
}
