/**
 * What a day's input comes down to: two days with the same hash have the same lines, usage, sets and gaps, and are
 * allocated by the same rules, so neither has to be calculated again.
 *
 * ClickHouse hashes each row and adds the hashes up, so the order in which an upstream returned them does not matter and
 * no row travels here. A sum and not an exclusive or: two equal rows must not cancel each other out.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { digestOf } from "../../config/digest.js";
import { isoDay } from "../../store/clickhouse/sql-text.js";
import { stagedTable } from "../../store/clickhouse/staging.js";
import { type Params, readRows } from "../../store/clickhouse/statement.js";
import { columnsOf } from "../../store/fact-tables.js";
import type { MissingData } from "./missing-data.js";
import type { StagedInput } from "./row-text.js";

export interface DayContent {
  readonly day: string;
  readonly billingLines: number;
  /** Sentences: what of the day could not be had, so that it is provisional. */
  readonly lacks: readonly string[];
  readonly hash: string;
}

export interface HashInputs {
  readonly days: readonly string[];
  readonly rulesHash: string;
  readonly decimalPlaces: number;
  readonly lacks: MissingData;
}

/** Raise it when the meaning of the input changes: all days are then calculated anew. */
const VERSION = 2;

/** Columns that count: all that are stated, but for those that are declared not to. The day is what hashes are of. */
function hashedColumns(table: StagedInput): string {
  const counts = columnsOf(table).filter(([name, { hashed }]) => name !== "day" && hashed !== false);
  return counts.map(([name]) => name).join(", ");
}

const TABLES: readonly StagedInput[] = ["billing", "usage", "identity_sets", "usage_gaps"];

/** Hash of a day that nothing is billed on, whatever the rules: there is nothing to allocate. */
export const EMPTY_DAY_HASH = digest(["empty"]);

export async function dayContents(
  client: ClickHouseClient,
  epoch: number,
  { days, rulesHash, decimalPlaces, lacks }: HashInputs,
  signal: AbortSignal,
): Promise<DayContent[]> {
  const sums = await Promise.all(
    TABLES.map((table) => tableSums(client, table, { epoch, days, where: "", params: {}, signal })),
  );
  return days.map((day) => contentOf(day, sums, lacks, [rulesHash, decimalPlaces]));
}

/**
 * What the attribution of a day to topics comes from: lines of some product types, and usage of topics. Not the rest, so that
 * neither ledger of a bill is calculated anew for what only the other one depends on.
 */
export async function attributionContents(
  client: ClickHouseClient,
  epoch: number,
  {
    days,
    rulesHash,
    decimalPlaces,
    lacks,
    productTypes,
  }: HashInputs & { readonly productTypes: readonly string[] },
  signal: AbortSignal,
): Promise<DayContent[]> {
  const scope = { epoch, days, signal, where: "", params: {} };
  const ofTypes = " AND product_type IN {product_types:Array(String)}";
  const sums = await Promise.all([
    tableSums(client, "billing", { ...scope, where: ofTypes, params: { product_types: productTypes } }),
    tableSums(client, "topic_usage", scope),
    tableSums(client, "topic_usage_gaps", scope),
  ]);
  return days.map((day) => contentOf(day, sums, lacks, [rulesHash, decimalPlaces]));
}

/** Sums of the bill come first. */
function contentOf(
  day: string,
  sums: readonly ReadonlyMap<string, TableSum>[],
  lacks: MissingData,
  settings: readonly (string | number)[],
): DayContent {
  const ofDay = sums.map((each) => each.get(day));
  const billing = ofDay[0];
  if (billing === undefined) return { day, billingLines: 0, lacks: [], hash: EMPTY_DAY_HASH };
  const parts = ofDay.map((sum) => (sum === undefined ? "0" : `${sum.rows}:${sum.sum}`));
  return {
    day,
    billingLines: Number(billing.rows),
    lacks: lacks.get(day) ?? [],
    hash: digest([...settings, ...parts]),
  };
}

interface TableSum {
  readonly day: string;
  readonly rows: string;
  readonly sum: string;
}

async function tableSums(
  client: ClickHouseClient,
  table: StagedInput,
  {
    epoch,
    days,
    where,
    params,
    signal,
  }: {
    epoch: number;
    days: readonly string[];
    where: string;
    params: Params;
    signal: AbortSignal;
  },
): Promise<Map<string, TableSum>> {
  const hashed = hashedColumns(table);
  // A gap counts once: a second reason for it is no new input.
  const source = `${table.endsWith("usage_gaps") ? "DISTINCT " : ""}day, ${hashed}`;
  const read = {
    query: `
      SELECT day, toString(count()) AS rows,
             toString(sum(reinterpretAsUInt128(sipHash128(${hashed})))) AS sum
      FROM (SELECT ${source} FROM ${stagedTable(table, epoch)} WHERE day IN {days:Array(Date)}${where})
      GROUP BY day`,
    params: { days: days.map(isoDay), ...params },
  };
  return new Map((await readRows<TableSum>(client, read, signal)).map((sum) => [sum.day, sum]));
}

function digest(parts: readonly (string | number)[]): string {
  return digestOf([VERSION, ...parts]);
}
