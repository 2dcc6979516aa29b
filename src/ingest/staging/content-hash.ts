/**
 * Hashes the input of a day. Two days with the same hash have the same lines, usage, sets and gaps, and the same rules,
 * so neither has to be calculated again.
 *
 * ClickHouse hashes each row and adds up the hashes, so the order of the upstream's rows does not matter, and no rows
 * are transferred. It is a sum and not an exclusive or, because two equal rows must not cancel each other out.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import { type Params, readRows } from "../../clickhouse/statement.js";
import { digestOf } from "../../common/digest.js";
import { columnsOf } from "../../domain/fact-tables.js";
import type { MissingData } from "./missing-data.js";
import type { StagedInput } from "./staged-row.js";

export interface DayContent {
  readonly day: string;
  readonly billingLines: number;
  /** Sentences about missing data of the day, which make it provisional. */
  readonly lacks: readonly string[];
  readonly hash: string;
}

export interface HashInputs {
  readonly days: readonly string[];
  readonly rulesHash: string;
  readonly decimalPlaces: number;
  readonly lacks: MissingData;
}

/** Increment if the meaning of the input changes; then all days are calculated again. */
const VERSION = 2;

/**
 * Columns that count: all stated columns except those that are declared not to. The day is left out because each hash
 * is of one day.
 */
function hashedColumns(table: StagedInput): string {
  const counts = columnsOf(table).filter(([name, { hashed }]) => name !== "day" && hashed !== false);
  return counts.map(([name]) => name).join(", ");
}

const TABLES: readonly StagedInput[] = ["billing", "usage", "identity_sets", "usage_gaps"];

/** Hash of a day without a bill, whatever the rules, because there is nothing to allocate. */
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
 * Hashes the input of a day's attribution to topics: lines of some product types, and usage of topics. The rest is left
 * out, so that neither ledger is recalculated because of input that only the other one depends on.
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
  const typeCondition = " AND product_type IN {product_types:Array(String)}";
  const sums = await Promise.all([
    tableSums(client, "billing", { ...scope, where: typeCondition, params: { product_types: productTypes } }),
    tableSums(client, "topic_usage", scope),
    tableSums(client, "topic_usage_gaps", scope),
  ]);
  return days.map((day) => contentOf(day, sums, lacks, [rulesHash, decimalPlaces]));
}

/** The sums of the bill come first. */
function contentOf(
  day: string,
  sums: readonly ReadonlyMap<string, TableSum>[],
  lacks: MissingData,
  settings: readonly (string | number)[],
): DayContent {
  const daySums = sums.map((each) => each.get(day));
  const billing = daySums[0];
  if (billing === undefined) return { day, billingLines: 0, lacks: [], hash: EMPTY_DAY_HASH };
  const parts = daySums.map((sum) => (sum === undefined ? "0" : `${sum.rows}:${sum.sum}`));
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
  // A gap counts once: a second reason for it is not new input.
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
