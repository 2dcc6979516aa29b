/** The weights that one chargeback row was split by: the same as `row-metadata.ts` joins to many. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { AllocationMethod } from "../config/allocation-rule.js";
import { type ClickHouseRead, readRows } from "./clickhouse-read.js";
import type { RowMetadata } from "./row-metadata.js";

export interface SplitRow {
  /** UTC day. */
  readonly day: string;
  readonly timestamp: string;
  readonly env_id: string;
  readonly resource_id: string;
  readonly product_category: string;
  readonly product_type: string;
  readonly identity_id: string;
  readonly allocation_method: AllocationMethod;
  readonly component: number;
  readonly metric: string;
}

export type Weights = Pick<RowMetadata, "weight" | "total_weight">;

/** Usage of the row's identity, and of all, over the row's metrics. */
export function usageWeights(row: SplitRow): ClickHouseRead {
  const { day, metric, resource_id, identity_id } = row;
  const units = (microUnits: string) => `toString(toDecimal256(${microUnits}, 6) / 1000000)`;
  return {
    query: `
SELECT sumIf(micro_units, identity_id = {identity_id:String}) AS own,
  ${units("own")} AS weight, ${units("sum(micro_units)")} AS total_weight
FROM usage
WHERE day = {day:Date} AND metric IN {metrics:Array(String)} AND resource_id = {resource_id:String} AND micro_units > 0
HAVING own > 0`,
    params: { day, metrics: metric.split("+"), resource_id, identity_id },
  };
}

/** The number of rows of the row's line and component. */
export function evenWeights(row: SplitRow): ClickHouseRead {
  const { day, timestamp, env_id, resource_id, product_category, product_type, component } = row;
  return {
    query: `
SELECT '1' AS weight, toString(count()) AS total_weight
FROM chargebacks
WHERE day = {day:Date} AND resource_id = {resource_id:String} AND product_type = {product_type:String} AND env_id = {env_id:String}
  AND product_category = {product_category:String} AND timestamp = {timestamp:DateTime('UTC')} AND component = {component:UInt8}`,
    params: {
      day,
      timestamp: timestamp.replace("T", " ").replace("Z", ""),
      env_id,
      resource_id,
      product_category,
      product_type,
      component,
    },
  };
}

export async function readWeights(
  client: ClickHouseClient,
  row: SplitRow,
  signal?: AbortSignal,
): Promise<Weights> {
  if (row.allocation_method === "direct_owner" || row.allocation_method === "terminal")
    return { weight: "1", total_weight: "1" };
  const read = row.allocation_method === "usage_ratio" ? usageWeights(row) : evenWeights(row);
  const [weights] = await readRows<Required<Weights>>(client, read, signal);
  return weights === undefined ? {} : { weight: weights.weight, total_weight: weights.total_weight };
}
