/** A subquery of billing lines of some days with their FOCUS columns, one row per line. */
import { identifier } from "../../clickhouse/sql-text.js";
import { splitKey } from "../../query/chargebacks/row-metadata.js";
import { exportedLineColumns, formerColumns } from "./line-columns.js";

/** The key of a line, by which chargebacks are joined to it. */
export const lineKey = splitKey.filter((name) => name !== "component");

/**
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
      any(sku_id) AS sku, any(line_tags) AS tags, any(b.granularity) AS granularity,
      ${note("description")} AS note, ${note("resource_name")} AS resource_note, ifNull(nullIf(${note("unit")}, ''), 'Units') AS unit,
      if(is_focus, JSONExtract(any(metadata), 'Map(String, String)'), map()) AS said,
      ${["Start", "End"].map((end) => `parseDateTimeBestEffortOrNull(said['ChargePeriod${end}'], 'UTC') AS said_${end.toLowerCase()}`).join(", ")}
    FROM published_billing AS b
    WHERE ${condition}
    GROUP BY ${lineKey.join(", ")}
  )`;
}
