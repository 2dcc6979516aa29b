/**
 * Splits the metrics of a line among its rows, in whole numbers. Each row covers a range of the line's cost, from the
 * sum of the rows before it (`share_from`) to the sum including it (`share_to`), out of `share_whole`. A metric is cut
 * at the same positions, down to its last decimal place. So the parts of any metric add up to it, and the parts of the
 * allocated cost are exactly the allocated amounts. The rows of a line without cost get equal parts.
 */
import { identifier, literal } from "../../clickhouse/sql-text.js";
import { COLUMN_PREFIX } from "../../domain/rule-columns.js";
import { splitKey } from "../../query/chargebacks/row-metadata.js";
import { exportedLineColumns, formerColumns } from "./line-columns.js";

/** Decimal places of stored amounts and quantities. */
const PLACES = 12;
/** Decimal places of ratios. */
const RATIO_PLACES = 18;

const scaled = (sql: string, places: number) =>
  `toDecimal256(toString(${sql}), 0) * toDecimal256('${power(-places)}', ${places})`;

function power(exponent: number): string {
  return exponent < 0 ? `0.${"0".repeat(-exponent - 1)}1` : `1${"0".repeat(exponent)}`;
}

const ticks = (decimal: string) => `toInt256(${decimal} * toDecimal256('${power(PLACES)}', 0))`;

/**
 * Returns chargeback rows with the three numbers of their share.
 *
 * @param condition selects days and lines; the result must have whole lines only
 */
export function sharedRows(condition: string): string {
  const line = `PARTITION BY ${lineKey.join(", ")}`;
  const order =
    "ORDER BY component, tier, identity_id, cost_type, allocation_method, allocation_detail, toString(passed_path)";
  return `
  SELECT *, if(line_ticks = 0, toInt256(line_rows), line_ticks) AS share_whole,
    if(line_ticks = 0, toInt256(place), ticks_until) AS share_to,
    if(line_ticks = 0, toInt256(place) - 1, ticks_until - ticks) AS share_from
  FROM (
    SELECT *, sum(ticks) OVER (${line}) AS line_ticks, count() OVER (${line}) AS line_rows,
      sum(ticks) OVER (${line} ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS ticks_until,
      row_number() OVER (${line} ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS place
    FROM (SELECT *, ${ticks("(amount_hi + amount_lo)")} AS ticks FROM chargebacks WHERE ${condition})
  )`;
}

/** Returns a row's part of a metric of its line; null if the metric is null. */
export function shareOf(metric: string): string {
  const until = (place: string) => `intDiv(${ticks(metric)} * ${place}, share_whole)`;
  return `CAST(${scaled(`(${until("share_to")} - ${until("share_from")})`, PLACES)} AS Nullable(Decimal(38, ${PLACES})))`;
}

/** A row's ratio of its line, as a JSON number. The ratios of a line add up to 1. */
export const ratio = (() => {
  const until = (place: string) => `intDiv(${place} * toInt256('${power(RATIO_PLACES)}'), share_whole)`;
  return `toString(CAST(${scaled(`(${until("share_to")} - ${until("share_from")})`, RATIO_PLACES)} AS Decimal(38, ${RATIO_PLACES})))`;
})();

/** Tags without the declared columns that are stored with them. The bill's own columns are exported anyway. */
const billTags = `mapFilter((k, v) -> NOT startsWith(k, ${literal(COLUMN_PREFIX)}), line_tags)`;

/** The key of a line, by which chargebacks are joined to it. */
export const lineKey = splitKey.filter((name) => name !== "component");

/**
 * Returns a subquery of billing lines of some days with their FOCUS columns, one row per line.
 *
 * Lines with the same key are split together, so they are summed. If their prices differ, the price is null.
 *
 * @param condition selects days
 */
export function focusLines(condition: string): string {
  const columns = { ...exportedLineColumns, ...formerColumns };
  const note = (name: string) => `if(is_focus, '', JSONExtractString(any(metadata), '${name}'))`;
  return `
  SELECT *, ${Object.entries(columns)
    .map(([name, sql]) => `${sql} AS ${identifier(name)}`)
    .join(",\n    ")}
  FROM (
    SELECT ${lineKey.join(", ")}, any(ecosystem) AS ecosystem, any(tenant_id) AS tenant_id, ecosystem = 'focus' AS is_focus,
      sum(b.quantity) AS units, if(min(b.unit_price) = max(b.unit_price), nullIf(abs(min(b.unit_price)), 0), NULL) AS unit_price,
      sum(b.total_cost) AS total, sum(b.billed_cost) AS billed, sum(if(b.ecosystem = 'focus', b.list_cost, ifNull(toDecimal128OrNull(JSONExtractString(metadata, 'original_amount'), 12), b.total_cost))) AS listed,
      any(charge_category) AS category, any(service_provider) AS provider, any(account_id) AS account, any(region_id) AS region,
      any(sku_id) AS sku, any(${billTags}) AS tags, any(b.granularity) AS granularity,
      ${note("description")} AS note, ${note("resource_name")} AS resource_note, ifNull(nullIf(${note("unit")}, ''), 'Units') AS unit,
      if(is_focus, JSONExtract(any(metadata), 'Map(String, String)'), map()) AS said,
      ${["Start", "End"].map((end) => `parseDateTimeBestEffortOrNull(said['ChargePeriod${end}'], 'UTC') AS said_${end.toLowerCase()}`).join(", ")}
    FROM published_billing AS b
    WHERE ${condition}
    GROUP BY ${lineKey.join(", ")}
  )`;
}
