/** Billing lines of some days, from the deliveries that count. */
import { identifier, literal } from "../../../../clickhouse/sql-text.js";
import type { Statement } from "../../../../clickhouse/statement.js";
import { addDays, type DayRange, daysOfWindow, earliest, latest } from "../../../../common/days.js";
import { type Declarations, lineTagsSql } from "../declared-columns.js";
import type { RecordedDelivery } from "../deliveries/records.js";
import { ownColumns } from "../line-columns.js";
import { MALFORMED } from "../load/findings.js";
import { type CostColumn, type LandingColumn, landingColumns } from "../load/landing-columns.js";
import { chargeStart, dayOffsets, partOf, type Spread } from "./charge-days.js";

export interface LinesRequest {
  readonly window: DayRange;
  readonly deliveries: readonly number[];
  /** SQL of `isCounted`. */
  readonly counted: string;
  readonly cost: CostColumn;
  readonly spread: Spread;
  readonly columns: Declarations;
}

/**
 * Approximate number of lines that one statement reads. Planning it takes 0.2 s, and lines of several days together
 * take more memory, because each block has some lines of all of them: 3.8 KiB a line.
 */
const LINES_OF_PIECE = 100_000;

type Charged = Pick<RecordedDelivery, "first_day" | "last_day" | "lines">;

/**
 * Splits the days of a window that the deliveries have charges on into windows that are read one after the other. A
 * spread charge is read once for all of its days.
 */
export function linePieces(
  window: DayRange,
  deliveries: readonly Charged[],
  spread: Spread,
): readonly DayRange[] {
  const firsts = deliveries.flatMap(({ first_day }) => first_day ?? []).sort();
  const lasts = deliveries.flatMap(({ last_day }) => last_day ?? []).sort();
  const [first] = firsts;
  const last = lasts.at(-1);
  if (first === undefined || last === undefined) return [];
  const charged = { start: latest(window.start, first), end: earliest(window.end, addDays(last, 1)) };
  if (charged.start >= charged.end) return [];
  if (spread !== "none") return [charged];
  const lines = deliveries.reduce((sum, delivery) => sum + Number(delivery.lines), 0);
  const days = Math.max(1, Math.floor((daysOfWindow(charged).length * LINES_OF_PIECE) / lines));
  const pieces: DayRange[] = [];
  for (let { start } = charged; start < charged.end; start = addDays(start, days))
    pieces.push({ start, end: earliest(charged.end, addDays(start, days)) });
  return pieces;
}

/** SQL of the `resource_id` of a line. */
export const billedResource =
  "multiIf(ResourceId != '', ResourceId, SubAccountId != '', SubAccountId, BillingAccountId != '', BillingAccountId, 'unknown')";

/** Condition: the line belongs to the bill, because it has a day, a currency, and the charged cost. */
export function isCharged(cost: CostColumn): string {
  return `bitAnd(findings, ${MALFORMED}) = 0 AND isNotNull(${cost})`;
}

/** Condition: the line may be charged in the window. A spread charge begins before the day that it is charged to. */
export function ofWindow(spread: Spread): string {
  const until = "delivery IN {deliveries:Array(UInt64)} AND charge_day < {end:Date}";
  return spread === "none"
    ? `${until} AND charge_day >= {start:Date}`
    : `${until} AND (charge_day >= {start:Date} OR ChargePeriodEnd > toDateTime({start:Date}, 'UTC'))`;
}

/** How columns of equal lines become one value. */
interface ColumnMerge {
  /** For columns that equal lines have in common. */
  readonly same: (sql: string) => string;
  readonly sum: (sql: string) => string;
}

/** For lines without an equal one. */
const single: ColumnMerge = { same: (sql) => sql, sum: (sql) => sql };
const repeated: ColumnMerge = { same: (sql) => `any(${sql})`, sum: (sql) => `sum(toDecimal256(${sql}, 12))` };

/**
 * The sorting key of `focus_lines`: equal lines are adjacent, and are added up without holding all of them in memory.
 */
const sorted = "charge_day, ServiceName, ResourceId, line_id";

/**
 * Equal lines become one, with the sum of their amounts. Only those are grouped, because a group holds all columns of
 * its line in memory, which took 7 KiB a line. They are found by a set of ids, some 60 bytes each; finding them by the
 * order of forty columns took seven times as long.
 */
export function billingLines(request: LinesRequest): Statement {
  const { window, deliveries, counted, cost, spread } = request;
  const lines = `SELECT * FROM focus_lines WHERE ${ofWindow(spread)} AND ${isCharged(cost)} AND ${counted}`;
  const several = `SELECT line_id FROM (${lines}) GROUP BY line_id HAVING count() > 1`;
  const days = `ARRAY JOIN ${dayOffsets(spread)} AS day_offset WHERE charge_day + day_offset >= {start:Date} AND charge_day + day_offset < {end:Date}`;
  const ofSingle = `SELECT ${columnsOf(single, request)} FROM (${lines}) ${days} AND line_id NOT IN (${several})`;
  const ofRepeated = `SELECT ${columnsOf(repeated, request)} FROM (${lines}) ${days} AND line_id IN (${several}) GROUP BY ${sorted}, timestamp`;
  return {
    query: `${ofSingle} UNION ALL ${ofRepeated}`,
    params: { deliveries, start: window.start, end: window.end },
  };
}

function columnsOf({ same, sum }: ColumnMerge, { cost, spread, columns }: LinesRequest): string {
  const amount = (column: string) =>
    `CAST(${sum(partOf(`ifNull(${column}, 0)`, spread))} AS Decimal(38, 12))`;
  const fields = landingColumns
    .filter(({ name }) => name !== "Tags" && !Object.hasOwn(ownColumns, name))
    .map((column) => metadataField(column, same, amount));
  const granularity =
    "multiIf(ChargePeriodEnd - ChargePeriodStart <= 3600, 'hourly', ChargePeriodEnd - ChargePeriodStart <= 86400, 'daily', 'period')";
  return `${chargeStart} AS timestamp,
    ${same("SubAccountId")} AS env_id,
    ${same(billedResource)} AS resource_id,
    ${same("ServiceCategory")} AS product_category,
    ${same("if(ServiceName = '', 'unknown', ServiceName)")} AS product_type,
    ${amount("coalesce(ConsumedQuantity, PricingQuantity)")} AS quantity,
    ${same("ifNull(ContractedUnitPrice, 0)")} AS unit_price,
    ${amount(cost)} AS total_cost,
    ${same("BillingCurrency")} AS currency,
    line_id,
    ${same("ChargeCategory")} AS charge_category,
    ${same("ServiceProviderName")} AS service_provider,
    ${same("BillingAccountId")} AS account_id,
    ${same("RegionId")} AS region_id,
    ${same("SkuId")} AS sku_id,
    ${same(lineTagsSql(columns))} AS line_tags,
    ${amount("BilledCost")} AS billed_cost,
    ${amount(`coalesce(EffectiveCost, ${cost})`)} AS effective_cost,
    ${amount("ListCost")} AS list_cost,
    ${same(spread === "daily" ? "'daily'" : granularity)} AS granularity,
    concat('{', substring(concat(${[...fields, customFields(same("custom_columns"))].join(", ")}), 2), '}') AS metadata`;
}

/**
 * Returns SQL for a field of the JSON object `metadata`, with a comma before it; empty if the line has no value. Text
 * that is put together takes a third of the time of a map that is written as JSON, which was most of reading a bill.
 */
function metadataField(
  { name, kind, summable }: LandingColumn,
  same: ColumnMerge["same"],
  amount: (column: string) => string,
): string {
  const key = `,${JSON.stringify(name)}:`;
  const quoted = (text: string) => `concat(${literal(`${key}"`)}, ${text}, '"')`;
  const value = same(identifier(name));
  if (summable) return `if(isNull(${value}), '', ${quoted(`toString(${amount(name)})`)})`;
  if (kind === "instant")
    return `if(isNull(${value}), '', ${quoted(`formatDateTime(assumeNotNull(${value}), '%Y-%m-%dT%H:%i:%SZ', 'UTC')`)})`;
  if (kind === "cost" || kind === "number")
    return `if(isNull(${value}), '', ${quoted(`toString(assumeNotNull(${value}))`)})`;
  return `if(${value} = '', '', concat(${literal(key)}, toJSONString(${value})))`;
}

/** Returns SQL for the fields of a map of texts. */
function customFields(map: string): string {
  return `arrayStringConcat(arrayMap((k, v) -> concat(',', toJSONString(k), ':', toJSONString(v)), mapKeys(${map}), mapValues(${map})))`;
}
