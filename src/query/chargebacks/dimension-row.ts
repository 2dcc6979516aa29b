/** Reads the newest chargeback row of a dimension, with the metadata that explains it. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import type { AllocationDetail, AllocationMethod } from "../../domain/allocation-rule.js";
import { dimensionFields } from "../../domain/dimension-id.js";
import type { ShownValues } from "../../domain/fact-tables.js";
import { pick } from "../page/read-pages.js";
import { readMetadata, type SplitRow, splitColumns } from "./allocation-weights.js";
import { pathIdSql, type RowMetadata } from "./row-metadata.js";
import { cloudColumns, type DaySpan, readChargebackDates } from "./scan.js";

export type DimensionFields = Readonly<Record<(typeof dimensionFields)[number], string>>;

/** A cloud bill's further columns of the row's line. */
type CloudValues = Pick<ShownValues<"chargebacks">, keyof typeof cloudColumns | "line_tags">;
const lineColumns = [...Object.keys(cloudColumns), "line_tags"] as (keyof CloudValues)[];

export interface NewestRow extends CloudValues {
  /** `2026-01-01T00:00:00Z`. */
  readonly timestamp: string;
  /** Plain decimal. */
  readonly amount: string;
  readonly currency: string;
  readonly allocation_method: AllocationMethod;
  readonly allocation_detail: AllocationDetail;
  readonly passed_from: string;
  readonly provisional: boolean;
  readonly metadata: RowMetadata;
}

export interface FoundRow extends SplitRow, Omit<NewestRow, "metadata"> {}

/**
 * Without a span, selects from the newest day. If several rows have the same instant (a line in components, or in two
 * currencies), selects the first component, then the first currency.
 */
export function newestRow(dimension: DimensionFields, span?: DaySpan): Statement {
  const days =
    span === undefined
      ? "day = (SELECT max(day) FROM chargebacks)"
      : "day >= {first_day:Date} AND day <= {last_day:Date}";
  const matchesDimension = dimensionFields.map((field) => `${field} = {${field}:String}`).join(" AND ");
  return {
    query: `
SELECT ${[...splitColumns, ...lineColumns].join(", ")}, toString(amount_hi + amount_lo) AS amount, allocation_detail, passed_from, provisional,
  ${pathIdSql("passed_path")} AS path_id
FROM chargebacks
WHERE ${days} AND ${matchesDimension}
ORDER BY day DESC, timestamp DESC, component, currency, line_id, path_id
LIMIT 1`,
    params: { ...Object.fromEntries(dimensionFields.map((field) => [field, dimension[field]])), ...span },
  };
}

/** Two short statements instead of the list's one with its joins. Returns undefined if the dimension has no row. */
export async function readNewestRow(
  client: ClickHouseClient,
  dimension: DimensionFields,
  signal?: AbortSignal,
): Promise<NewestRow | undefined> {
  const found = await findRow(client, dimension, signal);
  if (found === undefined) return undefined;
  const { timestamp, amount, currency, allocation_method, allocation_detail, passed_from, provisional } =
    found;
  const metadata = await readMetadata(client, [found], signal);
  return {
    timestamp,
    amount,
    currency,
    allocation_method,
    allocation_detail,
    passed_from,
    provisional,
    ...pick(found, lineColumns),
    metadata: metadata(found),
  };
}

/**
 * Nearly every dimension has rows on the newest day. Otherwise, searches backwards in spans that grow fourfold, because
 * each day is a part that is read as a whole or not at all.
 */
async function findRow(
  client: ClickHouseClient,
  dimension: DimensionFields,
  signal?: AbortSignal,
): Promise<FoundRow | undefined> {
  const [newest] = await readRows<FoundRow>(client, newestRow(dimension), signal);
  if (newest !== undefined) return newest;
  const days = await readChargebackDates(client, signal);
  for (let end = days.length - 1, length = 4; end > 0; end -= length, length *= 4) {
    const span = { first_day: days[Math.max(end - length, 0)] ?? "", last_day: days[end - 1] ?? "" };
    const [row] = await readRows<FoundRow>(client, newestRow(dimension, span), signal);
    if (row !== undefined) return row;
  }
  return undefined;
}
