/** Groups billing lines without a payer by their common columns and by what each identity source found in them. */
import type { Statement } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import { type IdentitySource, sourceColumn } from "../../config/allocation/identity-source.js";
import { issueDetails, UNALLOCATED } from "../../domain/allocation-rule.js";
import { ledgers, lineKeySql, rowKeySql } from "../../domain/ledger.js";
import type { LineColumns } from "../../domain/line-columns.js";
import { existsOf, lineValueSql, otherCaseOf } from "../../stores/facts/line-value.js";
import { rowsInWindow } from "../chargebacks/scan.js";
import type { PageRequest } from "../page/days.js";

export interface WorklistInput extends PageRequest {
  readonly window: InstantRange;
  /** From the configuration, in order. */
  readonly sources: readonly IdentitySource[];
  readonly columns: LineColumns;
}

/**
 * The result of a source for the lines: whether the tag or column exists, its value, and a tag key that differs only in
 * case.
 */
export type FoundValue = readonly [exists: boolean, value: string, similar: string];

export interface UnallocatedRow {
  readonly currency: string;
  readonly product_type: string;
  readonly account_id: string;
  readonly environment_id: string;
  readonly rule: string;
  readonly allocation_detail: (typeof issueDetails)[number];
  readonly named_identity: string;
  /** One for each source; empty if the lines name an identity. */
  readonly found: readonly FoundValue[];
  readonly line_count: number;
  readonly resource_count: number;
  /** Resource of the largest line. */
  readonly example_resource_id: string;
  readonly example_date: string;
  readonly amount: string;
  readonly groups: number;
}

const group = [
  "currency",
  "product_type",
  "account_id",
  "environment_id",
  "rule",
  "allocation_detail",
  "named_identity",
  "found",
].join(", ");

/**
 * Amounts are those of the chargebacks, so no cost is missing if the bill has no such line; the bill is read for the
 * values of the sources. Lines that differ only in their amounts count once, and lines that cost nothing do not count.
 * The largest amounts come first, whatever their sign.
 */
export function unallocatedLines({ window, sources, columns, page, page_size }: WorklistInput): Statement {
  const { condition, params } = rowsInWindow(window);
  const ledger = ledgers.chargebacks;
  const key = lineKeySql(ledger);
  const found = sources.map((source) => foundSql(source, columns));
  const none = "CAST([], 'Array(Tuple(Bool, String, String))')";
  const read = found.length === 0 ? none : `if(named_identity = '', [${found.join(", ")}], ${none})`;
  const isUnallocated = `${condition} AND identity_id = '${UNALLOCATED}' AND allocation_detail IN {issue_details:Array(String)}`;
  return {
    query: `
SELECT *, toUInt64(count() OVER ()) AS groups
FROM (
  SELECT ${group}, count() AS line_count, uniqExact(resource) AS resource_count, argMax(resource, (abs(cost), resource)) AS example_resource_id,
    toString(argMax(of_day, (abs(cost), resource, of_day))) AS example_date, toString(sum(cost)) AS amount
  FROM (
    SELECT toString(currency) AS currency, toString(product_type) AS product_type, toString(account) AS account_id, toString(env_id) AS environment_id,
      toString(of_rule) AS rule, toString(allocation_detail) AS allocation_detail, toString(named) AS named_identity, found,
      toString(resource_id) AS resource, toDate(timestamp, 'UTC') AS of_day, cost
    FROM (
      SELECT ${rowKeySql(ledger)}, allocation_detail, any(account_id) AS account, any(chargebacks.rule) AS of_rule, sum(amount_hi) + sum(amount_lo) AS cost
      FROM chargebacks WHERE ${isUnallocated}
      GROUP BY ${rowKeySql(ledger)}, allocation_detail
      HAVING cost != 0
    ) AS unpaid
    LEFT ANY JOIN (
      SELECT ${key}, named_identity AS named, ${read} AS found
      FROM published_billing
      WHERE ${condition} AND (day, resource_id) IN (SELECT day, resource_id FROM chargebacks WHERE ${isUnallocated})
    ) AS line USING (${key})
  )
  GROUP BY ${group}
)
ORDER BY abs(toDecimal128(amount, 12)) DESC, ${group}
LIMIT {page_size:UInt32} OFFSET {offset:UInt64}`,
    params: { ...params, issue_details: issueDetails, page_size, offset: (page - 1) * page_size },
  };
}

/** SQL of a line's `FoundValue`. */
export function foundSql(source: IdentitySource, columns: LineColumns): string {
  const name = sourceColumn(source);
  const similar = source.tag === undefined ? "''" : otherCaseOf(source.tag);
  const ignoresCase = source.ignore_case;
  return `tuple(toBool(${existsOf(name, columns, ignoresCase)}), ${lineValueSql(name, columns, ignoresCase)}, ${similar})`;
}
