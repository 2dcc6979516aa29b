/** Sums the bill by product type and by tag of the line, for the report on tag coverage. */
import type { Statement } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import { rowsInWindow } from "../chargebacks/scan.js";

/** Per currency. */
export const MOST_TAG_KEYS = 100;
export const MOST_COVERED_PRODUCTS = 25;

/** Plain decimals. `gross` adds amounts without their sign. */
export interface SummedLines {
  readonly currency: string;
  readonly lines: number;
  readonly net: string;
  readonly gross: string;
}

const sums = `toUInt64(sum(n)) AS lines, toString(sum(cost)) AS net, toString(sum(size)) AS gross`;

/** Merges lines with the same tag keys: there are far fewer of these than lines. */
export function kindsSql(condition: string): string {
  return `
  SELECT toString(currency) AS currency, toString(product_type) AS product, mapKeys(line_tags) AS keys, count() AS n, sum(total_cost) AS cost,
    sum(abs(total_cost)) AS size
  FROM published_billing WHERE ${condition} GROUP BY currency, product, keys`;
}

export interface ProductRow extends SummedLines {
  /** Empty for the sum of product types beyond the largest. */
  readonly product_type: string;
  readonly is_rest: boolean;
}

/** A product type is listed for all its currencies if it is among the largest of one. */
export function linesByProduct(window: InstantRange): Statement {
  const { condition, params } = rowsInWindow(window);
  return {
    query: `
SELECT currency, if(is_rest, '', product) AS product_type, is_rest, ${sums}
FROM (
  SELECT *, min(place) OVER (PARTITION BY product) > {most:UInt32} AS is_rest
  FROM (
    SELECT *, row_number() OVER (PARTITION BY currency ORDER BY size DESC, product) AS place
    FROM (
      SELECT currency, product, sum(n) AS n, sum(cost) AS cost, sum(size) AS size FROM (${kindsSql(condition)}) GROUP BY currency, product
    )
  )
)
GROUP BY currency, product_type, is_rest
ORDER BY currency, is_rest, sum(size) DESC, product_type`,
    params: { ...params, most: MOST_COVERED_PRODUCTS },
  };
}

export interface KeyRow extends SummedLines {
  readonly tag_key: string;
  /** Number of keys of the currency. */
  readonly tag_keys: number;
}

export function linesByTagKey(window: InstantRange): Statement {
  const { condition, params } = rowsInWindow(window);
  return {
    query: `
SELECT currency, tag_key, toUInt64(count() OVER (PARTITION BY currency)) AS tag_keys, ${sums}
FROM (${kindsSql(condition)}) ARRAY JOIN keys AS tag_key
GROUP BY currency, tag_key
ORDER BY currency, sum(size) DESC, tag_key
LIMIT {most:UInt32} BY currency`,
    params: { ...params, most: MOST_TAG_KEYS },
  };
}

export interface KeyAndProductRow extends ProductRow {
  readonly tag_key: string;
}

/** Sums these keys by these product types; other product types are summed together. */
export function linesByKeyAndProduct(
  window: InstantRange,
  tagKeys: readonly string[],
  productTypes: readonly string[],
): Statement {
  const { condition, params } = rowsInWindow(window);
  return {
    query: `
SELECT currency, tag_key, if(is_rest, '', product) AS product_type, NOT has({product_types:Array(String)}, product) AS is_rest, ${sums}
FROM (${kindsSql(condition)}) ARRAY JOIN arrayFilter(key -> has({tag_keys:Array(String)}, key), keys) AS tag_key
GROUP BY currency, tag_key, product_type, is_rest`,
    params: { ...params, tag_keys: tagKeys, product_types: productTypes },
  };
}
