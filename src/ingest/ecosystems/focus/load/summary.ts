/** Summarises what was loaded of a delivery: its sums, and what is odd about its lines. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../../../clickhouse/statement.js";
import { sumText } from "../../../../common/exact-decimal.js";
import { lastDay } from "../lines/charge-days.js";
import { groupFindings, lineFindings } from "./findings.js";
import { PERIOD, periodText } from "./period.js";

/** Names of the four costs, and their columns. */
export const costs = [
  ["billed_cost", "BilledCost"],
  ["effective_cost", "EffectiveCost"],
  ["contracted_cost", "ContractedCost"],
  ["list_cost", "ListCost"],
] as const;
export type CostName = (typeof costs)[number][0];

/** Decimals as text. Costs that the bill does not have are 0. */
export type CurrencySums = { readonly currency: string; readonly lines: number } & Readonly<
  Record<CostName, string>
>;

/**
 * Sums of the charges that begin in a month, which is given as its first day. Null for lines without a readable date.
 */
export type MonthSums = CurrencySums & { readonly month: string | null };

export interface Finding {
  readonly id: string;
  readonly what: string;
  readonly lines: number;
  /** Up to 5, the first ones: `FILE:ROW`, where row 1 is the first one after the header. */
  readonly examples: readonly string[];
}

/** Lines of one billing account and billing period. */
export interface PeriodLines {
  readonly account: string;
  /** `YYYY-MM`. Empty if the lines have no readable date. */
  readonly period: string;
  /** The first and the last day on which charges begin. Null if none has a readable date. */
  readonly first_day: string | null;
  readonly last_day: string | null;
  readonly sums: readonly CurrencySums[];
}

/** Billing account and billing period, as in `PeriodLines`. */
export type PeriodKey = readonly [account: string, period: string];

export interface FileLines {
  readonly sums: readonly CurrencySums[];
  readonly periods: readonly PeriodKey[];
}

export const NO_LINES: FileLines = { sums: [], periods: [] };

export interface LoadedLines {
  readonly lines: number;
  readonly sums: readonly CurrencySums[];
  readonly month_sums: readonly MonthSums[];
  /** By the number of the file. Files without lines are missing. */
  readonly files: ReadonlyMap<number, FileLines>;
  readonly periods: readonly PeriodLines[];
  readonly findings: readonly Finding[];
  /**
   * The first and the last day on which charges begin, and the last day of a charge. Undefined without a readable date.
   */
  readonly first_day: string | undefined;
  readonly last_start_day: string | undefined;
  readonly last_day: string | undefined;
}

export async function summariseDelivery(
  client: ClickHouseClient,
  delivery: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<LoadedLines> {
  const params = { delivery };
  const from = "FROM focus_lines WHERE delivery = {delivery:UInt64}";
  const month_sums = await readRows<MonthSums>(
    client,
    {
      query: `SELECT BillingCurrency AS currency, if(charge_day = toDate(0), NULL, toString(toStartOfMonth(charge_day))) AS month, count() AS lines,
          ${costs.map(([name, column]) => `toString(sum(ifNull(toDecimal256(${column}, 12), 0))) AS ${name}`).join(", ")}
        ${from} GROUP BY currency, month ORDER BY currency, month`,
      params,
    },
    signal,
  );
  const sums = sumsByCurrency(month_sums);
  const [days] = await readRows<{ first: string; last_start: string; last: string; dated: number }>(
    client,
    {
      query: `SELECT toString(min(charge_day)) AS first, countIf(charge_day > toDate(0)) AS dated,
          toString(max(charge_day)) AS last_start, toString(max(${lastDay("daily")})) AS last
        FROM focus_lines WHERE delivery = {delivery:UInt64} AND charge_day > toDate(0)`,
      params,
    },
    signal,
  );
  const dated = Number(days?.dated ?? 0) > 0 ? days : undefined;
  return {
    lines: summarisedLines(sums),
    sums,
    month_sums,
    files: await linesOfFiles(client, delivery, signal),
    periods: (await periodsOf(client, [delivery], signal)).get(delivery) ?? [],
    findings: await findingsOf(client, delivery, files, signal),
    first_day: dated?.first,
    last_start_day: dated?.last_start,
    last_day: dated?.last,
  };
}

/** Adds up sums by currency, exactly, in the order of the currencies. */
export function sumsByCurrency(sums: readonly CurrencySums[]): CurrencySums[] {
  return [...new Set(sums.map(({ currency }) => currency))].map((currency) => {
    const own = sums.filter((each) => each.currency === currency);
    const sum = (name: CostName) => sumText(own.map((each) => each[name]));
    return {
      currency,
      lines: own.reduce((lines, each) => lines + Number(each.lines), 0),
      billed_cost: sum("billed_cost"),
      effective_cost: sum("effective_cost"),
      contracted_cost: sum("contracted_cost"),
      list_cost: sum("list_cost"),
    };
  });
}

/** Returns the number of lines in all currencies. */
export function summarisedLines(sums: readonly CurrencySums[]): number {
  return sums.reduce((total, { lines }) => total + Number(lines), 0);
}

const sumsOfLines = `BillingCurrency AS currency, count() AS lines, ${costs.map(([name, column]) => `toString(sum(ifNull(toDecimal256(${column}, 12), 0))) AS ${name}`).join(", ")}`;

async function linesOfFiles(
  client: ClickHouseClient,
  delivery: string,
  signal: AbortSignal,
): Promise<Map<number, FileLines>> {
  const rows = await readRows<CurrencySums & { file: number; periods: [string, number][] }>(
    client,
    {
      query: `SELECT file, arraySort(groupUniqArray((BillingAccountId, ${PERIOD}))) AS periods, ${sumsOfLines}
        FROM focus_lines WHERE delivery = {delivery:UInt64} GROUP BY file, currency ORDER BY file, currency`,
      params: { delivery },
    },
    signal,
  );
  const files = new Map<number, FileLines>();
  for (const { file, periods, ...sums } of rows) {
    const before = files.get(Number(file));
    const keys = periods.map(([account, period]): PeriodKey => [account, periodText(Number(period))]);
    const all = new Map([...(before?.periods ?? []), ...keys].map((key) => [JSON.stringify(key), key]));
    files.set(Number(file), { sums: [...(before?.sums ?? []), sums], periods: [...all.values()] });
  }
  return files;
}

/** Returns accounts and billing periods by delivery id. `condition`: SQL that selects some of the lines. */
export async function periodsOf(
  client: ClickHouseClient,
  deliveries: readonly string[],
  signal: AbortSignal,
  condition = "true",
): Promise<Map<string, PeriodLines[]>> {
  const rows = await readRows<
    CurrencySums & { delivery: string; account: string; period: number; first: string; last: string }
  >(
    client,
    {
      query: `SELECT toString(delivery) AS delivery, BillingAccountId AS account, ${PERIOD} AS period, ${sumsOfLines},
          toString(minIf(charge_day, charge_day > toDate(0))) AS first, toString(max(charge_day)) AS last
        FROM focus_lines WHERE delivery IN {deliveries:Array(UInt64)} AND ${condition} GROUP BY delivery, account, period, currency
        ORDER BY delivery, account, period, currency`,
      params: { deliveries: deliveries.map(Number) },
    },
    signal,
  );
  const found = new Map<string, PeriodLines[]>();
  for (const { delivery, account, period: month, first, last, ...sums } of rows) {
    const periods = found.get(delivery) ?? [];
    found.set(delivery, periods);
    const period = periodText(Number(month));
    const [first_day, last_day] = [dayOrNull(first), dayOrNull(last)];
    const before = periods.at(-1);
    if (before?.account !== account || before.period !== period)
      periods.push({ account, period, first_day, last_day, sums: [sums] });
    else
      periods[periods.length - 1] = {
        ...before,
        first_day: earlier(before.first_day, first_day),
        last_day: later(before.last_day, last_day),
        sums: [...before.sums, sums],
      };
  }
  return found;
}

const dayOrNull = (day: string) => (day === "1970-01-01" ? null : day);
const earlier = (a: string | null, b: string | null) => (a === null || (b !== null && b < a) ? b : a);
const later = (a: string | null, b: string | null) => (a === null || (b !== null && b > a) ? b : a);

interface FindingRow {
  readonly lines: string;
  readonly examples: readonly (readonly [file: string, line: string])[];
}

const counted =
  "count() AS lines, arrayMap(e -> [toString(e.1), toString(e.2)], groupArraySorted(5)((file, line))) AS examples";

async function findingsOf(
  client: ClickHouseClient,
  delivery: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Finding[]> {
  const params = { delivery };
  const findingOf = (
    { id, what }: Pick<Finding, "id" | "what">,
    { lines, examples }: FindingRow,
  ): Finding => {
    const places = examples.map(([file, line]) => `${files[Number(file)] ?? file}:${line}`);
    return { id, what, lines: Number(lines), examples: places };
  };
  const lineRows = await readRows<FindingRow & { bit: number }>(
    client,
    {
      query: `SELECT bit, ${counted} FROM focus_lines ARRAY JOIN bitPositionsToArray(findings) AS bit
        WHERE delivery = {delivery:UInt64} AND findings != 0 GROUP BY bit ORDER BY bit`,
      params,
    },
    signal,
  );
  const found = lineRows.flatMap((row) => {
    const finding = lineFindings[Number(row.bit)];
    return finding === undefined ? [] : [findingOf(finding, row)];
  });
  for (const finding of groupFindings) {
    const { of, column } = finding;
    const lines = `FROM focus_lines WHERE delivery = {delivery:UInt64} AND ${of} != '' AND ${column} != ''`;
    const query = `SELECT ${counted} ${lines} AND ${of} IN (SELECT ${of} ${lines} GROUP BY ${of} HAVING min(${column}) != max(${column}))`;
    const [row] = await readRows<FindingRow>(client, { query, params }, signal);
    if (row !== undefined && Number(row.lines) > 0) found.push(findingOf(finding, row));
  }
  return found;
}
