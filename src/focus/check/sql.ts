/** SQL snippets for the checks. Values of a file are text until a check parses them. */
import { identifier, literal } from "../../clickhouse/sql-text.js";
import { isoInstant } from "../iso-date.js";

/** View of the rows: each column as text or null, and also unchanged as `raw NAME`. */
export const ROWS = "file_rows";

export function listSql(values: readonly string[]): string {
  return `(${values.map(literal).join(", ")})`;
}

export function raw(column: string): string {
  return identifier(`raw ${column}`);
}

/** A number with 38 decimal places, for exact sums; null if the text is not a number. */
export function decimalSql(column: string): string {
  return `toDecimal256OrNull(${identifier(column)}, 38)`;
}

/**
 * A number with 18 decimal places, for products and shares that are compared with a tolerance. A product has 36 places.
 */
export function factor(column: string): string {
  return `toDecimal256OrNull(${identifier(column)}, 18)`;
}

export function instantSql(column: string): string {
  return isoInstant(identifier(column));
}

export function isoText(moment: string): string {
  return `formatDateTime(${moment}, '%Y-%m-%dT%H:%i:%SZ', 'UTC')`;
}

export function matches(text: string, pattern: string): string {
  return `match(${text}, ${literal(pattern)})`;
}

/** Whether the column has the value. False for null. */
export function is(column: string, value: string): string {
  return `ifNull(${identifier(column)} = ${literal(value)}, false)`;
}

export function isNull(column: string): string {
  return `isNull(${identifier(column)})`;
}

export function isSet(column: string): string {
  return `isNotNull(${identifier(column)})`;
}

/** The JSON object of a column. `{}` replaces everything else, so that array functions get no null. */
export function object(column: string): string {
  const text = identifier(column);
  return `if(ifNull(isValidJSON(${text}) AND JSONType(${text}) = 'Object', false), assumeNotNull(${text}), '{}')`;
}
