/**
 * SQL expressions for a column or tag of a line. Names come from the configuration, so they are looked up or quoted.
 */
import { literal } from "../../clickhouse/sql-text.js";
import { type RuleColumns, tagKeyOf } from "../../domain/rule-columns.js";

/**
 * Returns SQL for the text of a column or tag, empty if the line has none. Throws if the column was not validated.
 *
 * @param ignoreCase also reads a tag whose key differs only in case, if the key itself has no value
 */
export function lineValueSql(name: string, columns: RuleColumns, ignoreCase = false): string {
  const key = tagKeyOf(name);
  if (key === undefined) return `toString(${columnOf(name, columns)})`;
  const exact = `line_tags[${literal(key)}]`;
  if (!ignoreCase) return exact;
  const others = `mapValues(mapFilter((k, v) -> ${isInOtherCase("k", key)}, line_tags))`;
  return `arrayFirst(v -> notEmpty(v), arrayConcat([${exact}], ${others}))`;
}

/** Returns SQL for whether a key differs from `key` only in case. */
function isInOtherCase(sql: string, key: string): string {
  return `(${sql} != ${literal(key)} AND lowerUTF8(${sql}) = lowerUTF8(${literal(key)}))`;
}

/** Returns the column's own SQL expression, for numbers. */
export function columnOf(name: string, columns: RuleColumns): string {
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
  if (column === undefined) throw new Error(`a column that was not checked: ${name}`);
  return column.sql;
}

/** Returns SQL for whether the line has the tag, even if empty, or the column is not empty. */
export function existsOf(name: string, columns: RuleColumns, ignoreCase = false): string {
  const key = tagKeyOf(name);
  if (key === undefined) return `notEmpty(${lineValueSql(name, columns)})`;
  const exact = `mapContains(line_tags, ${literal(key)})`;
  return ignoreCase ? `(${exact} OR notEmpty(${otherCaseOf(key)}))` : exact;
}

/** Returns SQL for the first key of the line's tags that differs from `key` only in case; empty if there is none. */
export function otherCaseOf(key: string): string {
  return `toString(arrayFirst(k -> ${isInOtherCase("k", key)}, mapKeys(line_tags)))`;
}
