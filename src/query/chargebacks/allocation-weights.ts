/**
 * Looks up the weights that a page's rows were split by, by the rows' own keys. Two statements with constants run side
 * by side. If they were joined to the page, the engine would read the page once for each side of each join.
 */
import { type ClickHouseClient, TupleParam } from "@clickhouse/client";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import { decimalText } from "../../common/exact-decimal.js";
import type { AllocationMethod } from "../../domain/allocation-rule.js";
import { columnTypes, factTableColumns } from "../../domain/fact-tables.js";
import { type LineOfRow, PARTS, type PassedHop, type RowMetadata, splitKey } from "./row-metadata.js";
import { anyDay, type ScaledDays } from "./scaled-days.js";
import { storedInstant } from "./scan.js";

/** The columns that a row's metadata is derived from. Instants are `2026-01-01T00:00:00Z`. */
export interface SplitRow extends LineOfRow {
  /** UTC day. */
  readonly day: string;
  readonly identity_id: string;
  readonly allocation_method: AllocationMethod;
  readonly component: number;
  readonly component_ratio: string;
  readonly tier: number;
  /** Names joined by `+`. */
  readonly metric: string;
  /** Steps that passed the cost on. */
  readonly passed_path: PassedHop[];
  readonly path_id: number;
}

type Weights = Pick<RowMetadata, "weight" | "total_weight">;

/** The columns of `SplitRow`. */
export const splitColumns = [
  ...splitKey,
  "identity_id",
  "allocation_method",
  "component_ratio",
  "tier",
  "metric",
  "passed_path",
] as const satisfies readonly (keyof SplitRow)[];

/** Returns a function for the metadata of each of the rows. */
export async function readMetadata(
  client: ClickHouseClient,
  rows: readonly SplitRow[],
  signal?: AbortSignal,
  scaledDays: ScaledDays = anyDay,
): Promise<(row: SplitRow) => RowMetadata> {
  const [usage, parts] = await Promise.all([
    readUsage(client, rows.filter(isMeasured), scaledDays, signal),
    readParts(client, rows.filter(isEven), signal),
  ]);
  return (row) => {
    const { component, component_ratio, tier, env_id, metric, path_id, passed_path } = row;
    if (passed_path.length > 0)
      return {
        component,
        component_ratio,
        tier,
        ...(env_id !== "" && { env_id }),
        ...(isWeighed(row) && { metric }),
        path_id,
        passed_path,
      };
    return {
      component,
      component_ratio,
      tier,
      ...(env_id !== "" && { env_id }),
      ...(isWeighed(row) ? { metric } : { weight: "1", total_weight: isEven(row) ? parts(row) : "1" }),
      ...(isMeasured(row) && usage(row)),
    };
  };
}

/** The weights of a row that was passed on belong to the step, and explanations show them. */
const isPassed = (row: SplitRow) => row.passed_path.length > 0;
const isMeasured = (row: SplitRow) => row.allocation_method === "usage_ratio" && !isPassed(row);
const isWeighed = (row: SplitRow) =>
  row.allocation_method === "usage_ratio" ||
  row.allocation_method === "cost_ratio" ||
  row.allocation_method === "fixed_ratio";
const isEven = (row: SplitRow) => row.allocation_method === "even_split" && !isPassed(row);

/** The usage of a resource on a day, by one metric. */
type Measured = readonly [day: string, metric: string, resource_id: string];

const measuredOf = ({ day, metric, resource_id }: SplitRow): Measured[] =>
  metric.split("+").map((each) => [day, each, resource_id]);

/**
 * Selects `{day, metric, resource_id, place, quantity}`: micro-units of each identity in `identities`, by its position
 * from 1, and at position 0 those of all others together.
 *
 * The triples select ranges of the key. Rows are then compared column by column, and the triples once more with the
 * groups. Comparing triples row by row takes as long as all the rest. 100 triples of 7 days, in processor time: 71 ms
 * instead of 132 ms.
 *
 * A projection has the sums of a day. The engine uses it only if no condition refers to single samples: for 10,000
 * identities with a sample an hour 13 ms of processor time instead of 46, and for ten such resources 35 ms instead of
 * 361.
 */
export function usageOf(measured: readonly Measured[], identities: readonly string[]): Statement {
  const isRequested = "(day, metric, resource_id) IN {measured:Array(Tuple(Date, String, String))}";
  return {
    query: `
SELECT day, metric, resource_id, toString(sum(micro_units)) AS quantity,
  transform(identity_id, {identities:Array(String)}, range(1, length({identities:Array(String)}) + 1), 0) AS place
FROM usage
WHERE indexHint(${isRequested}) AND metric IN {metrics:Array(String)} AND resource_id IN {resources:Array(String)}
GROUP BY day, metric, resource_id, place
HAVING ${isRequested}`,
    params: {
      measured: measured.map((each) => new TupleParam(each)),
      identities,
      metrics: distinct(measured.map(([, metric]) => metric)),
      resources: distinct(measured.map(([, , resource_id]) => resource_id)),
    },
  };
}

/**
 * Selects `{day, metric, resource_id, scale}` if the scale is not 0. Hardly any usage has one, and a day's sums do not
 * include it.
 */
export function scalesOf(measured: readonly Measured[]): Statement {
  const isRequested = "(day, metric, resource_id) IN {measured:Array(Tuple(Date, String, String))}";
  return {
    query: `
SELECT day, metric, resource_id, max(usage.scale) AS scale
FROM usage
WHERE indexHint(${isRequested}) AND metric IN {metrics:Array(String)} AND resource_id IN {resources:Array(String)} AND usage.scale != 0
GROUP BY day, metric, resource_id
HAVING ${isRequested}`,
    params: {
      measured: measured.map((each) => new TupleParam(each)),
      metrics: distinct(measured.map(([, metric]) => metric)),
      resources: distinct(measured.map(([, , resource_id]) => resource_id)),
    },
  };
}

/** Selects the `day` of each of these days that has usage with a scale. */
export function daysWithScales(days: readonly string[]): Statement {
  return {
    query: "SELECT day FROM usage WHERE day IN {days:Array(Date)} AND usage.scale != 0 GROUP BY day",
    params: { days },
  };
}

const distinct = <Value>(values: readonly Value[]) => [...new Set(values)];

interface UsageRow {
  readonly day: string;
  readonly metric: string;
  readonly resource_id: string;
  readonly place: number;
  readonly quantity: string;
}

interface ScaleRow {
  readonly day: string;
  readonly metric: string;
  readonly resource_id: string;
  readonly scale: number;
}

async function readUsage(
  client: ClickHouseClient,
  rows: readonly SplitRow[],
  scaledDays: ScaledDays,
  signal?: AbortSignal,
): Promise<(row: SplitRow) => Weights> {
  if (rows.length === 0) return () => ({});
  const measured = new Map(rows.flatMap(measuredOf).map((each) => [keyOf(each), each]));
  const identities = distinct(rows.map(({ identity_id }) => identity_id));
  const [found, scaled] = await Promise.all([
    readRows<UsageRow>(client, usageOf([...measured.values()], identities), signal),
    readScales(client, [...measured.values()], scaledDays, signal),
  ]);
  const scales = new Map(
    scaled.map(({ day, metric, resource_id, scale }) => [keyOf([day, metric, resource_id]), scale]),
  );
  const totals = new Map<string, bigint>();
  const ownUsage = new Map<string, bigint>();
  for (const { day, metric, resource_id, place, quantity } of found) {
    const key = keyOf([day, metric, resource_id]);
    totals.set(key, (totals.get(key) ?? 0n) + BigInt(quantity));
    const identity_id = identities[place - 1];
    if (identity_id !== undefined) ownUsage.set(keyOf([key, identity_id]), BigInt(quantity));
  }
  return (row) => {
    const keys = measuredOf(row).map(keyOf);
    const weight = sumOf(keys.map((key) => ownUsage.get(keyOf([key, row.identity_id]))));
    if (weight === 0n) return {};
    // All metrics of a row have the same scale, because they are weighed together.
    const scale = Math.max(...keys.map((key) => scales.get(key) ?? 0));
    const total = sumOf(keys.map((key) => totals.get(key)));
    return { weight: unitsOf(weight, scale), total_weight: unitsOf(total, scale) };
  };
}

async function readScales(
  client: ClickHouseClient,
  measured: readonly Measured[],
  scaledDays: ScaledDays,
  signal?: AbortSignal,
): Promise<ScaleRow[]> {
  const days = await scaledDays(distinct(measured.map(([day]) => day)), async (unread) =>
    (await readRows<Pick<ScaleRow, "day">>(client, daysWithScales(unread), signal)).map(({ day }) => day),
  );
  const scaled = measured.filter(([day]) => days.includes(day));
  return scaled.length === 0 ? [] : await readRows<ScaleRow>(client, scalesOf(scaled), signal);
}

const sumOf = (values: readonly (bigint | undefined)[]) =>
  values.reduce<bigint>((sum, value) => sum + (value ?? 0n), 0n);

const splitOf = (row: Pick<SplitRow, (typeof splitKey)[number]>) => splitKey.map((column) => row[column]);

/**
 * Selects the split's key and `parts`, the number of its rows. Rows are compared column by column, and whole keys with
 * the groups, for the same reason as in `usageOf`: on 20 M rows 18 ms of processor time instead of 29 ms for a page
 * with one such split, though on parts of a few thousand rows 5 ms more. The keys select the ranges. Otherwise, 1,000
 * rows of many days and resources would be searched in all of them.
 */
export function partsOf(splits: readonly (readonly (string | number)[])[]): Statement {
  const columns = splitKey.join(", ");
  const valuesOf = (column: (typeof splitKey)[number]) =>
    distinct(splits.flatMap((split) => split[splitKey.indexOf(column)] ?? []));
  const types = splitKey
    .map((column) => columnTypes[factTableColumns.chargebacks[column].kind])
    .map((type) => (type.startsWith("LowCardinality") ? "String" : type))
    .join(", ");
  const isRequested = `(${columns}) IN {splits:Array(Tuple(${types}))}`;
  return {
    query: `
SELECT ${columns}, toString(${PARTS}) AS parts
FROM chargebacks
WHERE indexHint(${isRequested}) AND day IN {days:Array(Date)} AND resource_id IN {resources:Array(String)} AND product_type IN {products:Array(String)}
GROUP BY ${columns}
HAVING ${isRequested}`,
    params: {
      splits: splits.map((each) => new TupleParam(each)),
      days: valuesOf("day"),
      resources: valuesOf("resource_id"),
      products: valuesOf("product_type"),
    },
  };
}

type PartsRow = Pick<SplitRow, (typeof splitKey)[number]> & { readonly parts: string };

async function readParts(
  client: ClickHouseClient,
  rows: readonly SplitRow[],
  signal?: AbortSignal,
): Promise<(row: SplitRow) => string> {
  const splits = new Map(rows.map((row) => [keyOf(splitOf(row)), splitOf(storable(row))]));
  const found =
    splits.size === 0 ? [] : await readRows<PartsRow>(client, partsOf([...splits.values()]), signal);
  const parts = new Map(found.map((row) => [keyOf(splitOf(row)), row.parts]));
  return (row) => parts.get(keyOf(splitOf(row))) ?? "0";
}

/** Converts instants to the text of a DateTime. */
const storable = (row: SplitRow): SplitRow => ({
  ...row,
  timestamp: storedInstant(row.timestamp),
});

const keyOf = (values: readonly (string | number)[]) => JSON.stringify(values);

/** Converts micro-units, or units with `scale` more decimal places, to plain units: `1500000n` is `1.5`. */
function unitsOf(microUnits: bigint, scale: number): string {
  return decimalText(microUnits, 6 + scale);
}
