/** Lists the largest costs without a payer, each with what is missing to know the payer. */
import type { ClickHouseClient } from "@clickhouse/client";
import { RE2JS } from "re2js";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import type { IdentityMaps } from "../../config/allocation/identity-map.js";
import {
  IDENTITY_GROUP,
  type IdentitySource,
  sourceColumn,
} from "../../config/allocation/identity-source.js";
import { issueDetails, missingValueTexts, UNALLOCATED } from "../../domain/allocation-rule.js";
import { ledgers, lineKeySql, rowKeySql } from "../../domain/ledger.js";
import type { RuleColumns } from "../../domain/rule-columns.js";
import { LONGEST_ID } from "../../domain/text-limits.js";
import { existsOf, lineValueSql, otherCaseOf } from "../../stores/facts/line-value.js";
import { type ChargebackFilters, filtered, rowsInWindow } from "../chargebacks/scan.js";
import type { PageRequest } from "../page/position.js";

interface WorklistItem extends Omit<UnallocatedRow, "found" | "groups"> {
  /** In the order of the sources. Empty if the lines name an identity, or if there are no sources. */
  readonly lacks: AllocationGap[];
}

export async function readWorklist(
  client: ClickHouseClient,
  input: WorklistInput & { readonly maps: IdentityMaps },
  signal?: AbortSignal,
): Promise<{ items: WorklistItem[]; total: number }> {
  const rows = await readRows<UnallocatedRow>(client, unallocatedLines(input), signal);
  const [first] = rows;
  if (first === undefined && input.page > 1) {
    // A page past the end has no rows to read the total from.
    const { total } = await readWorklist(client, { ...input, page: 1, page_size: 1 }, signal);
    return { items: [], total };
  }
  const items = rows.map(({ found, groups: _, ...row }) => ({
    ...row,
    lacks: input.sources.flatMap((source, index) => {
      const value = found[index];
      return value === undefined ? [] : [gapOf(source, value, input.maps)];
    }),
  }));
  return { items, total: first?.groups ?? 0 };
}

/** `now_known`: the source finds an identity now, but the days were calculated before. */
export const gapReasons = [
  "no_tag",
  "no_value",
  "not_in_map",
  "no_match",
  "no_identity",
  "now_known",
] as const;

interface AllocationGap extends Pick<IdentitySource, "tag" | "column" | "map" | "pattern" | "ignore_case"> {
  readonly reason: (typeof gapReasons)[number];
  /** Value of the tag or column. */
  readonly value: string;
  /** A tag of the lines whose key differs from `tag` only in case. */
  readonly similar_tag?: string;
  /** Set if `reason` is `now_known`. */
  readonly identity?: string;
}

/**
 * Explains why an identity source finds no identity for a line, so that a user can add the tag or the value to the map.
 */
export function gapOf(
  source: IdentitySource,
  [exists, value, similar]: FoundValue,
  maps: IdentityMaps,
): AllocationGap {
  if (value === "") {
    const isMissing = source.tag !== undefined && !exists;
    const meant = source.ignore_case !== true && similar !== "" && { similar_tag: similar };
    return { ...source, reason: isMissing ? "no_tag" : "no_value", value, ...meant };
  }
  const foundIdentity = identityBy(source, value, maps);
  if (foundIdentity !== undefined) {
    const identity = foundIdentity.replace(/^ +| +$/g, "");
    return isValidIdentity(identity)
      ? { ...source, reason: "now_known", value, identity }
      : { ...source, reason: "no_identity", value };
  }
  return { ...source, reason: source.map === undefined ? "no_match" : "not_in_map", value };
}

function identityBy(
  { map, pattern, ignore_case: ignoresCase }: IdentitySource,
  value: string,
  maps: IdentityMaps,
): string | undefined {
  if (map !== undefined) {
    const entries = maps.get(map)?.entries;
    const exact = entries?.get(value);
    if (exact !== undefined || ignoresCase !== true) return exact;
    const wanted = value.toLowerCase();
    return [...(entries ?? [])].find(([each]) => each.toLowerCase() === wanted)?.[1];
  }
  if (pattern === undefined) return value;
  // A dot also matches a line break, as in the store.
  const matcher = RE2JS.compile(pattern, RE2JS.DOTALL).matcher(value);
  return matcher.find() ? (matcher.group(IDENTITY_GROUP) ?? "") : undefined;
}

/** Applies the same conditions as `identitySql`, which assigns lines. */
function isValidIdentity(identity: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  const hasControls = /[\u0000-\u001f\u007f]/.test(identity);
  const isName =
    identity !== "" && identity !== UNALLOCATED && !missingValueTexts.includes(identity.toLowerCase());
  return isName && [...identity].length <= LONGEST_ID && !hasControls;
}

interface WorklistInput extends PageRequest {
  readonly window: InstantRange;
  /** From the configuration, in order. */
  readonly sources: readonly IdentitySource[];
  readonly columns: RuleColumns;
  readonly filters: Pick<ChargebackFilters, "resource_id" | "not:resource_id" | "cause" | "not:cause">;
}

/**
 * The result of a source for the lines: whether the tag or column exists, its value, and a tag key that differs only in
 * case.
 */
export type FoundValue = readonly [exists: boolean, value: string, similar: string];

interface UnallocatedRow {
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
 * Groups billing lines without a payer by their common columns and by what each identity source found in them.
 *
 * Amounts are those of the chargebacks, so no cost is missing if the bill has no such line; the bill is read for the
 * values of the sources. Lines that differ only in their amounts count once, and lines that cost nothing do not count.
 * The largest amounts come first, whatever their sign.
 */
export function unallocatedLines({
  window,
  sources,
  columns,
  filters,
  page,
  page_size,
}: WorklistInput): Statement {
  const { condition, params } = rowsInWindow(window);
  const unpaid = filtered(filters);
  const ledger = ledgers.chargebacks;
  const key = lineKeySql(ledger);
  const found = sources.map((source) => foundSql(source, columns));
  const none = "CAST([], 'Array(Tuple(Bool, String, String))')";
  const read = found.length === 0 ? none : `if(named_identity = '', [${found.join(", ")}], ${none})`;
  const isUnallocated = `${condition}${unpaid.condition} AND identity_id = '${UNALLOCATED}' AND allocation_detail IN {issue_details:Array(String)}`;
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
    params: {
      ...params,
      ...unpaid.params,
      issue_details: issueDetails,
      page_size,
      offset: (page - 1) * page_size,
    },
  };
}

/** SQL of a line's `FoundValue`. */
export function foundSql(source: IdentitySource, columns: RuleColumns): string {
  const name = sourceColumn(source);
  const similar = source.tag === undefined ? "''" : otherCaseOf(source.tag);
  const ignoresCase = source.ignore_case;
  return `tuple(toBool(${existsOf(name, columns, ignoresCase)}), ${lineValueSql(name, columns, ignoresCase)}, ${similar})`;
}
