/**
 * The weights that the rows of a page were split by, looked up by the rows' own keys. Two statements with constants run side by
 * side. If they were joined to the page, the engine would read the page once for each side of each join.
 */
import { type ClickHouseClient, TupleParam } from "@clickhouse/client";
import type { AllocationMethod } from "../../config/allocation-rule.js";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import { columnTypes, factTableColumns } from "../../store/fact-tables.js";
import { type LineOfRow, type RowMetadata, splitKey } from "./row-metadata.js";
import { storedInstant } from "./scan.js";

/** What a row's metadata is made of. Instants are `2026-01-01T00:00:00Z`. */
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
}

type Weights = Pick<RowMetadata, "weight" | "total_weight">;

/** Fields of `SplitRow` from the table. */
export const splitColumns = [
  ...splitKey,
  "identity_id",
  "allocation_method",
  "component_ratio",
  "tier",
  "metric",
] as const satisfies readonly (keyof SplitRow)[];

/** Of each of the rows. */
export async function readMetadata(
  client: ClickHouseClient,
  rows: readonly SplitRow[],
  signal?: AbortSignal,
): Promise<(row: SplitRow) => RowMetadata> {
  const [usage, parts] = await Promise.all([
    readUsage(client, rows.filter(isMeasured), signal),
    readParts(client, rows.filter(isEven), signal),
  ]);
  return (row) => {
    const { component, component_ratio, tier, env_id, metric } = row;
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

const isMeasured = (row: SplitRow) => row.allocation_method === "usage_ratio";
const isWeighed = (row: SplitRow) =>
  isMeasured(row) || row.allocation_method === "cost_ratio" || row.allocation_method === "fixed_ratio";
const isEven = (row: SplitRow) => row.allocation_method === "even_split";

/** What is measured of a resource on a day, by one metric. */
type Measured = readonly [day: string, metric: string, resource_id: string];

const measuredOf = ({ day, metric, resource_id }: SplitRow): Measured[] =>
  metric.split("+").map((each) => [day, each, resource_id]);

/**
 * Rows `{day, metric, resource_id, total, own}`: micro-units of all identities, and of those that are asked for, names and quantities in two lists. All
 * identities are summed at once: one group for each takes 3 to 7 % longer.
 */
export function usageOf(measured: readonly Measured[], identities: readonly string[]): Statement {
  return {
    query: `
WITH sumMapIf([toString(identity_id)], [micro_units], identity_id IN {identities:Array(String)}) AS sums
SELECT day, metric, resource_id, toString(sum(micro_units)) AS total, (sums.1, arrayMap(quantity -> toString(quantity), sums.2)) AS own
FROM usage
WHERE (day, metric, resource_id) IN {measured:Array(Tuple(Date, String, String))} AND micro_units > 0
GROUP BY day, metric, resource_id`,
    params: { measured: measured.map((each) => new TupleParam(each)), identities },
  };
}

interface UsageRow {
  readonly day: string;
  readonly metric: string;
  readonly resource_id: string;
  readonly total: string;
  readonly own: readonly [identities: readonly string[], quantities: readonly string[]];
}

async function readUsage(
  client: ClickHouseClient,
  rows: readonly SplitRow[],
  signal?: AbortSignal,
): Promise<(row: SplitRow) => Weights> {
  if (rows.length === 0) return () => ({});
  const measured = new Map(rows.flatMap(measuredOf).map((each) => [keyOf(each), each]));
  const identities = new Set(rows.map(({ identity_id }) => identity_id));
  const found = await readRows<UsageRow>(client, usageOf([...measured.values()], [...identities]), signal);
  const known = new Map(
    found.map(({ day, metric, resource_id, total, own: [ids, quantities] }) => [
      keyOf([day, metric, resource_id]),
      { total: BigInt(total), own: new Map(ids.map((id, at) => [id, BigInt(quantities[at] ?? 0)])) },
    ]),
  );
  return (row) => {
    const each = measuredOf(row).flatMap((key) => known.get(keyOf(key)) ?? []);
    const weight = each.reduce((sum, { own }) => sum + (own.get(row.identity_id) ?? 0n), 0n);
    if (weight === 0n) return {};
    const total = each.reduce((sum, measured) => sum + measured.total, 0n);
    return { weight: unitsOf(weight), total_weight: unitsOf(total) };
  };
}

const splitOf = (row: Pick<SplitRow, (typeof splitKey)[number]>) => splitKey.map((column) => row[column]);

/** Rows of the split's key with `parts`, how many rows it has. */
export function partsOf(splits: readonly (readonly (string | number)[])[]): Statement {
  const types = splitKey
    .map((column) => columnTypes[factTableColumns.chargebacks[column].kind])
    .map((type) => (type.startsWith("LowCardinality") ? "String" : type))
    .join(", ");
  return {
    query: `
SELECT ${splitKey.join(", ")}, toString(count()) AS parts
FROM chargebacks
WHERE (${splitKey.join(", ")}) IN {splits:Array(Tuple(${types}))}
GROUP BY ${splitKey.join(", ")}`,
    params: { splits: splits.map((each) => new TupleParam(each)) },
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

/** Instants as the text that a DateTime is read from. */
const storable = (row: SplitRow): SplitRow => ({
  ...row,
  timestamp: storedInstant(row.timestamp),
});

const keyOf = (values: readonly (string | number)[]) => JSON.stringify(values);

/** Micro-units as plain units: `1500000n` is `1.5`. */
function unitsOf(microUnits: bigint): string {
  const digits = microUnits.toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, "");
}
