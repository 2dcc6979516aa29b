/** Lines of the bill of some days, from the deliveries that count. */
import { identifier } from "../../../../store/clickhouse/sql-text.js";
import type { Statement } from "../../../../store/clickhouse/statement.js";
import type { DayWindow } from "../../../ecosystem.js";
import { ownColumns } from "../line-columns.js";
import { MALFORMED } from "../load/findings.js";
import { type CostColumn, landingColumns } from "../load/landing-columns.js";
import { chargeStart, dayPlaces, partOf, type Spread } from "./charge-days.js";

export interface LinesRequest {
  readonly window: DayWindow;
  readonly deliveries: readonly number[];
  readonly cost: CostColumn;
  readonly spread: Spread;
}

/** What of a line belongs to the bill: it has a day, a currency, and the cost that is charged. */
export function isCharged(cost: CostColumn): string {
  return `bitAnd(findings, ${MALFORMED}) = 0 AND isNotNull(${cost})`;
}

/** Lines that may touch the window: a charge that is spread begins before the day that it is charged to. */
export function ofWindow(spread: Spread): string {
  const until = "delivery IN {deliveries:Array(UInt64)} AND charge_day < {end:Date}";
  return spread === "none"
    ? `${until} AND charge_day >= {start:Date}`
    : `${until} AND (charge_day >= {start:Date} OR ChargePeriodEnd > toDateTime({start:Date}, 'UTC'))`;
}

/** Equal lines become one, with the sum of their amounts. */
export function billingLines({ window, deliveries, cost, spread }: LinesRequest): Statement {
  const amount = (column: string) =>
    `CAST(sum(toDecimal256(${partOf(`ifNull(${column}, 0)`, spread)}, 12)) AS Decimal(38, 12))`;
  const metadata = landingColumns
    .filter(({ name }) => name !== "Tags" && !Object.hasOwn(ownColumns, name))
    .map(({ name, kind, summable }) => {
      if (summable) return `'${name}', if(isNull(any(${name})), '', toString(${amount(name)}))`;
      if (kind === "instant")
        return `'${name}', any(ifNull(formatDateTime(${name}, '%Y-%m-%dT%H:%i:%SZ', 'UTC'), ''))`;
      return kind === "cost" || kind === "number"
        ? `'${name}', any(ifNull(toString(${name}), ''))`
        : `'${name}', any(toString(${identifier(name)}))`;
    });
  const query = `SELECT ${chargeStart} AS timestamp,
    any(SubAccountId) AS env_id,
    any(multiIf(ResourceId != '', ResourceId, SubAccountId != '', SubAccountId, BillingAccountId != '', BillingAccountId, 'unknown')) AS resource_id,
    any(ServiceCategory) AS product_category,
    any(if(ServiceName = '', 'unknown', ServiceName)) AS product_type,
    ${amount("coalesce(ConsumedQuantity, PricingQuantity)")} AS quantity,
    any(ifNull(ContractedUnitPrice, 0)) AS unit_price,
    ${amount(cost)} AS total_cost,
    any(BillingCurrency) AS currency,
    line_id,
    any(ChargeCategory) AS charge_category,
    any(ServiceProviderName) AS service_provider,
    any(BillingAccountId) AS account_id,
    any(RegionId) AS region_id,
    any(SkuId) AS sku_id,
    any(Tags) AS line_tags,
    ${amount("BilledCost")} AS billed_cost,
    ${amount("ListCost")} AS list_cost,
    any(${spread === "daily" ? "'daily'" : "multiIf(ChargePeriodEnd - ChargePeriodStart <= 3600, 'hourly', ChargePeriodEnd - ChargePeriodStart <= 86400, 'daily', 'period')"}) AS granularity,
    toJSONString(mapFilter((k, v) -> v != '', mapConcat(map(${metadata.join(", ")}), CAST(any(custom_columns) AS Map(String, String))))) AS metadata
  FROM (SELECT * FROM focus_lines WHERE ${ofWindow(spread)} AND ${isCharged(cost)})
  ARRAY JOIN ${dayPlaces(spread)} AS place
  WHERE charge_day + place >= {start:Date} AND charge_day + place < {end:Date}
  GROUP BY line_id, timestamp`;
  return { query, params: { deliveries, start: window.start, end: window.end } };
}
