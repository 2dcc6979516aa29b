/**
 * Compares staged days with the published ones, whose rows are still there: lines of the bill, other input, and who pays.
 */
import { stagedTable } from "../../clickhouse/staging.js";
import type { Statement } from "../../clickhouse/statement.js";
import { isDerivedMetric } from "../../config/allocation/derived-facts.js";
import type { FactTable } from "../../domain/fact-tables.js";
import type { PgStatement } from "../../postgres/statement.js";

interface StagedDays {
  readonly epoch: number;
  readonly days: readonly string[];
}

/** The rows of the days before and after, as text after FROM. */
function bothSides(table: FactTable, epoch: number, columns: string, condition = ""): string {
  const side = (from: string, isAfter: boolean) =>
    `SELECT day, ${isAfter} AS is_after, ${columns} FROM ${from} WHERE day IN {days:Array(Date)}${condition}`;
  return `(
      ${side(table, false)}
      UNION ALL ${side(stagedTable(table, epoch), true)}
    )`;
}

export interface ChangedLines {
  readonly day: string;
  readonly lines_new: number;
  readonly lines_changed: number;
  readonly lines_gone: number;
  /** 1 if a line that did not change has another rule or names another identity. */
  readonly reassigned: 0 | 1;
}

const PLACE =
  "timestamp, env_id, resource_id, product_category, product_type, currency, charge_category, service_provider, account_id, region_id, sku_id";
const CONTENT = "line_id, quantity, unit_price, total_cost, billed_cost, list_cost";

/**
 * Counts lines by day. A line without an equal one on the other side has changed if the other side has such a line of
 * the same time, resource, product, SKU and account; otherwise it is new, or gone.
 */
export function changedLines({ epoch, days }: StagedDays): Statement {
  const hashes = `sipHash128(${PLACE}) AS place, sipHash128(${CONTENT}) AS content, cityHash64(rule, named_identity) AS assigned`;
  return {
    query: `
SELECT day, toUInt64(sum(came - changed)) AS lines_new, toUInt64(sum(changed)) AS lines_changed, toUInt64(sum(went - changed)) AS lines_gone,
  max(is_reassigned) AS reassigned
FROM (
  SELECT day, place, sum(greatest(after - before, 0)) AS came, sum(greatest(before - after, 0)) AS went, least(came, went) AS changed,
    max(toUInt8(before = after AND assigned_before != assigned_after)) AS is_reassigned
  FROM (
    SELECT day, place, content, toInt64(countIf(NOT is_after)) AS before, toInt64(countIf(is_after)) AS after,
      sumIf(assigned, NOT is_after) AS assigned_before, sumIf(assigned, is_after) AS assigned_after
    FROM ${bothSides("billing", epoch, hashes)}
    GROUP BY day, place, content
  )
  GROUP BY day, place
)
GROUP BY day ORDER BY day`,
    params: { days },
  };
}

/** Selects `{day}` of days whose rules, usage or sets of identities change, too. Weights that follow from the bill do not count. */
export function daysWithOtherChanges({ epoch, days }: StagedDays): Statement {
  const followsFromBill = `${isDerivedMetric("metric")} AND NOT startsWith(metric, 'fixed:')`;
  const differing = (sides: string) =>
    `SELECT day FROM ${sides} GROUP BY day HAVING sumIf(input, is_after) != sumIf(input, NOT is_after)`;
  return {
    query: `
SELECT DISTINCT day FROM (
  SELECT day FROM ${bothSides("chargebacks", epoch, "rules_hash, decimal_places")} GROUP BY day HAVING uniqExact(rules_hash, decimal_places) > 1
  UNION ALL
  ${differing(bothSides("usage", epoch, "cityHash64(timestamp, metric, resource_id, identity_id, micro_units, scale) AS input", ` AND NOT (${followsFromBill})`))}
  UNION ALL
  ${differing(bothSides("identity_sets", epoch, "cityHash64(scope, resource_id, identity_id) AS input"))}
)`,
    params: { days },
  };
}

/** Selects one JSON list of `{identity_id, currency, amount}`, without differences of 0. */
export function changedPayers({ epoch, days }: StagedDays): Statement {
  return {
    query: `
SELECT toJSONString(groupArray(CAST((identity_id, currency, toString(amount)), 'Tuple(identity_id String, currency String, amount String)')))
FROM (
  SELECT identity_id, currency, sumIf(amount_hi, is_after) - sumIf(amount_hi, NOT is_after) + sumIf(amount_lo, is_after) - sumIf(amount_lo, NOT is_after) AS amount
  FROM ${bothSides("chargebacks", epoch, "identity_id, currency, amount_hi, amount_lo")}
  GROUP BY identity_id, currency HAVING amount != 0
)`,
    params: { days },
  };
}

/** The changes that new deliveries make to some days. */
export interface DeliveryChange {
  readonly deliveries: readonly string[];
  readonly days: readonly string[];
  readonly lines_new: number;
  readonly lines_changed: number;
  readonly lines_gone: number;
  /** JSON, see `changedPayers`. */
  readonly payers: string;
  /** Rules, usage or assignments of the days change in the same run. */
  readonly is_mixed: boolean;
}

/** Inserts one row per change. The changes are not shown until the days are published. */
export function insertDeliveryChanges(tenantName: string, changes: readonly DeliveryChange[]): PgStatement {
  return {
    query: `
INSERT INTO delivery_changes (tenant_name, deliveries, days, lines_new, lines_changed, lines_gone, payers, sums, is_mixed)
SELECT $1, deliveries, days, lines_new, lines_changed, lines_gone, payers::jsonb, (
    SELECT coalesce(jsonb_agg(jsonb_build_object('currency', currency, 'amount', amount::text) ORDER BY currency), '[]') FROM (
      SELECT currency, sum(amount) AS amount FROM jsonb_to_recordset(payers::jsonb) AS payer (currency text, amount numeric) GROUP BY currency
    ) AS summed
  ), is_mixed
FROM jsonb_to_recordset($2::jsonb) AS change (deliveries bigint[], days date[], lines_new bigint, lines_changed bigint, lines_gone bigint,
  payers text, is_mixed boolean)`,
    params: [tenantName, JSON.stringify(changes)],
  };
}
