/**
 * Rows summed by several columns, of which one has many values, where no projection has their sums. The columns are grouped as numbers: 66,000
 * groups of 20 M rows by identity, product, cost type and currency took 2.1 to 2.8 s of processor time, and by their texts 9.3 s.
 */
import { costTypes } from "../../config/allocation-rule.js";
import type { Statement } from "../../store/clickhouse/statement.js";
import type { DateWindow } from "../time/date-window.js";
import type { AggregateSource, SourceColumn } from "./aggregate-source.js";
import { rowsByKeys } from "./rows-to-sum.js";
import { instantsInWindow } from "./scan.js";
import { valueNumbers } from "./value-numbers.js";

export interface RowsByNumbers {
  /** Stand behind the WITH of the whole statement. */
  readonly names: readonly string[];
  readonly params: Statement["params"];
  /** What stands behind FROM: as `rowsToSum` says. */
  readonly sql: string;
}

/** Columns of ids. The others have a few dozen values, and few groups are found as fast by their texts. */
const ofMany: ReadonlySet<string | undefined> = new Set([
  "identity_id",
  "resource_id",
  "env_id",
  "account_id",
  "sku_id",
]);

/**
 * Whether `rowsByNumbers` is faster than `rowsToSum`. To list the values of a line's tag takes as long as it saves, and all values of the window
 * longer than to sum the few rows that a filter leaves.
 */
export function sumsFasterByNumbers({ projected, isFiltered, columns }: AggregateSource): boolean {
  const isMany = ({ column, places }: SourceColumn) => places !== undefined || ofMany.has(column);
  const isListed = ({ column, places }: SourceColumn) => places !== undefined || column !== undefined;
  return !projected && !isFiltered && columns.every(isListed) && columns.some(isMany);
}

const COST_TYPES = `[${costTypes.map((type) => `'${type}'`).join(", ")}]`;
const COST_TYPE_NUMBERS = `[${costTypes.map((_, index) => index + 1).join(", ")}]`;
const NEW_VALUES = "values came up while they were counted";

/**
 * The columns are `c0`, `c1` and so on, and the cost type is `cost_type`. `flags`: other keys, of one byte. The statement fails if a value came up
 * after the values were listed: `hasNewValues` tells such an error, and the statement is to be run again.
 */
export function rowsByNumbers(
  source: AggregateSource,
  window: Pick<DateWindow, "from" | "to">,
  flags: Readonly<Record<string, string>>,
): RowsByNumbers {
  const columns = source.columns.map(({ key, places }, index) => {
    const [name, number] = [`c${index}`, `number_${index}`];
    if (places !== undefined)
      return { names: [], number, of: `CAST(${key} AS UInt32)`, text: `${number} AS ${name}`, isNew: [] };
    const numbers = valueNumbers(`values_${index}`, key, window);
    return {
      names: [numbers.list],
      number,
      of: `CAST(${numbers.place} AS UInt32)`,
      text: `${numbers.at(number)} AS ${name}`,
      isNew: [`${number} = 0`],
    };
  });
  const keys = {
    ...Object.fromEntries(columns.map(({ number, of }) => [number, of])),
    number_of_cost_type: `CAST(transform(chargebacks.cost_type, ${COST_TYPES}, ${COST_TYPE_NUMBERS}, 0) AS UInt8)`,
    ...flags,
  };
  const isNew = [...columns.flatMap((column) => column.isNew), "number_of_cost_type = 0"].join(" OR ");
  return {
    names: columns.flatMap(({ names }) => names),
    params: instantsInWindow(window).params,
    sql: `(
    SELECT ${columns.map(({ text }) => text).join(", ")}, ${COST_TYPES}[number_of_cost_type + throwIf(${isNew}, '${NEW_VALUES}')] AS cost_type,
      ${Object.keys(flags).join(", ")}, hi, lo, n
    FROM ${rowsByKeys(source, keys, "sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n")}
  )`,
  };
}

export function hasNewValues(error: unknown): boolean {
  return error instanceof Error && error.message.includes(NEW_VALUES);
}
