/**
 * The metadata of a chargeback row as JSON text: its component, and the weights it was split by.
 *
 * The weights are not stored with the rows, because that would double the table. Exports join them from the usage that
 * the day was calculated from (`allocation-weights.ts` looks up those of a page):
 * - usage_ratio: usage of the identity, and of all, over the row's metrics on its resource and day, in the metric's
 *   unit;
 * - even_split: 1, and the number of identities of the component, without those whose part rounds to zero, because they
 *   have no row;
 * - cost_ratio, fixed_ratio: the metric alone, because its weights are stored by currency and not by resource;
 * - direct_owner, line_identity, terminal: 1 of 1.
 *
 * A row that steps passed on has its path instead of weights.
 */
import type { AllocationDetail, AllocationMethod } from "../../domain/allocation-rule.js";
import { type ColumnLike, columnsOf } from "../../domain/fact-tables.js";
import { identityBeforeSql } from "../../domain/passed-cost.js";

/** Decimals as text. */
export interface RowMetadata {
  readonly component: number;
  readonly component_ratio: string;
  readonly tier: number;
  readonly env_id?: string;
  readonly metric?: string;
  readonly weight?: string;
  readonly total_weight?: string;
  /** Distinguishes the rows of a dimension and line that steps passed on along different ways. */
  readonly path_id?: number;
  readonly passed_path?: PassedHop[];
}

/** SQL for a row's `path_id`: 53 bits of a hash, which a JavaScript number represents exactly. 0 without a path. */
export const pathIdSql = (column: string) =>
  `toUInt64(if(empty(${column}), 0, bitAnd(xxHash64(toString(${column})), 9007199254740991)))`;

/** A step of `pass_on` that took a cost, and how its identity had been given it. */
export interface PassedHop {
  /** From 1. */
  readonly step: number;
  readonly identity_id: string;
  readonly tier: number;
  readonly allocation_method: AllocationMethod;
  readonly allocation_detail: AllocationDetail;
  readonly metric: string;
}

/** SQL for the number of identities that rules split a component among, whether or not steps passed their parts on. */
export const PARTS = `uniqExact(${identityBeforeSql(0)})`;

/** The columns that identify a line, in its rows. */
export type LineKey = ColumnLike<"chargebacks", { readonly line: "key" }>;
/** The key of a row's line. */
export type LineOfRow = Readonly<Record<Exclude<LineKey, "line_id">, string>> & { readonly line_id: number };
const lineKey = columnsOf("chargebacks").flatMap(([name, { line }]) =>
  line === "key" ? [name as LineKey] : [],
);

/** The day, the line's key and its component, which all rows of a split share. */
export const splitKey = ["day", ...lineKey, "component"] as const;

const plain = (columns: readonly string[], prefix = "") =>
  columns.map((column) => `${prefix}${column}`).join(", ");

/**
 * Joins the weights to the rows of `rows`, the name of a common table expression. Both joins are limited to keys that
 * occur in it, which lead the sorting keys of the joined tables.
 */
export function weightJoins(rows: string): string {
  return `
LEFT JOIN (
  SELECT u.day AS day, u.resource_id AS resource_id, wanted.metrics AS metrics, u.identity_id AS identity_id,
    sum(u.own_usage) AS weight, sum(weight) OVER (PARTITION BY day, resource_id, metrics) AS total_weight, max(scaled.scale) AS scale
  FROM (
    SELECT day, metric, resource_id, identity_id, sum(micro_units) AS own_usage FROM usage
    WHERE (day, metric, resource_id) IN (
      SELECT day, arrayJoin(splitByChar('+', toString(metric))), resource_id FROM ${rows} WHERE allocation_method = 'usage_ratio'
    )
    GROUP BY day, metric, resource_id, identity_id
  ) AS u
  INNER JOIN (
    SELECT DISTINCT day, resource_id, toString(metric) AS metrics, arrayJoin(splitByChar('+', toString(metric))) AS one_metric
    FROM ${rows} WHERE allocation_method = 'usage_ratio'
  ) AS wanted ON u.day = wanted.day AND u.resource_id = wanted.resource_id AND u.metric = wanted.one_metric
  LEFT JOIN (
    SELECT day, metric, resource_id, max(usage.scale) AS scale FROM usage
    WHERE usage.scale != 0 AND (day, resource_id) IN (SELECT day, resource_id FROM ${rows} WHERE allocation_method = 'usage_ratio')
    GROUP BY day, metric, resource_id
  ) AS scaled ON scaled.day = u.day AND scaled.resource_id = u.resource_id AND scaled.metric = u.metric
  GROUP BY day, resource_id, metrics, identity_id
) AS measured ON measured.day = r.day AND measured.resource_id = r.resource_id AND measured.metrics = r.metric
  AND measured.identity_id = r.identity_id
LEFT JOIN (
  SELECT ${plain(splitKey)}, ${PARTS} AS parts FROM chargebacks
  WHERE (day, resource_id, product_type) IN (
    SELECT day, resource_id, product_type FROM ${rows} WHERE allocation_method = 'even_split'
  )
  GROUP BY ${plain(splitKey)}
) AS divided ON ${splitKey.map((column) => `divided.${column} = r.${column}`).join(" AND ")}`;
}

/** Formats a plain decimal. Quantities with a scale have more places than the engine's decimals. */
const units = (microUnits: string) => {
  const places = "(6 + toInt32(measured.scale))";
  const digits = `leftPad(toString(${microUnits}), 7 + toInt32(measured.scale), '0')`;
  const decimal = `concat(substring(${digits}, 1, length(${digits}) - ${places}), '.', substring(${digits}, length(${digits}) - ${places} + 1))`;
  return `if(measured.scale = 0, toString(toDecimal256(${microUnits}, 6) / 1000000), replaceRegexpOne(${decimal}, '\\\\.?0+$', ''))`;
};

/** JSON text for a row of `r`, joined by `weightJoins`. The engine quotes text; numbers need no quotes. */
export const metadataSql = `concat(
  '{"component":', toString(r.component), ',"component_ratio":', toJSONString(toString(r.component_ratio)), ',"tier":', toString(r.tier),
  if(r.env_id = '', '', concat(',"env_id":', toJSONString(toString(r.env_id)))),
  multiIf(
    notEmpty(r.passed_path), concat(if(r.metric = '', '', concat(',"metric":', toJSONString(toString(r.metric)))), ',"path_id":', toString(${pathIdSql("r.passed_path")}), ',"passed_path":', toJSONString(r.passed_path)),
    r.allocation_method = 'usage_ratio', concat(',"metric":', toJSONString(toString(r.metric)),
      if(measured.weight = 0, '', concat(',"weight":"', ${units("measured.weight")}, '","total_weight":"', ${units("measured.total_weight")}, '"'))),
    r.allocation_method IN ('cost_ratio', 'fixed_ratio'), concat(',"metric":', toJSONString(toString(r.metric))),
    r.allocation_method = 'even_split', concat(',"weight":"1","total_weight":"', toString(divided.parts), '"'),
    ',"weight":"1","total_weight":"1"'
  ),
  '}')`;
