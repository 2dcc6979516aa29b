/** Text of SQL that the checks share. Values of a file are text until a check reads them as something else. */
import { identifier, literal } from "../../store/clickhouse/sql-text.js";
import { isoInstant } from "../iso-date.js";

/** Rows of the file: each column as text or null, and, as `raw NAME`, as the file has it. */
export const ROWS = "file_rows";

export function list(values: readonly string[]): string {
  return `(${values.map(literal).join(", ")})`;
}

export function raw(column: string): string {
  return identifier(`raw ${column}`);
}

/** Exact to 38 decimal places; null where the text is no number. */
export function decimal(column: string): string {
  return `toDecimal256OrNull(${identifier(column)}, 38)`;
}

/** For products and shares, which are compared within a tolerance: the product of two such numbers has 36 decimal places. */
export function factor(column: string): string {
  return `toDecimal256OrNull(${identifier(column)}, 18)`;
}

export function instant(column: string): string {
  return isoInstant(identifier(column));
}

export function isoText(moment: string): string {
  return `formatDateTime(${moment}, '%Y-%m-%dT%H:%i:%SZ', 'UTC')`;
}

export function matches(text: string, pattern: string): string {
  return `match(${text}, ${literal(pattern)})`;
}

/** True or false also for null. */
export function is(column: string, value: string): string {
  return `ifNull(${identifier(column)} = ${literal(value)}, false)`;
}

export function isNull(column: string): string {
  return `isNull(${identifier(column)})`;
}

export function isSet(column: string): string {
  return `isNotNull(${identifier(column)})`;
}

/** A JSON column that holds an object; `{}` stands for everything else, so that functions of arrays see no null. */
export function object(column: string): string {
  const text = identifier(column);
  return `if(ifNull(isValidJSON(${text}) AND JSONType(${text}) = 'Object', false), assumeNotNull(${text}), '{}')`;
}
