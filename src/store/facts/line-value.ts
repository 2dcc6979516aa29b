/** A column or tag of a line as an expression in SQL: names come from the configuration, so they are looked up or quoted. */
import { type LineColumns, tagKeyOf } from "../../config/allocation/line-columns.js";
import { literal } from "../clickhouse/sql-text.js";

/**
 * Text, empty where the line has none. Throws on a column that was not checked.
 *
 * @param ignoreCase whether a tag is also read by its key in another case, where the key itself has no value
 */
export function textOf(name: string, columns: LineColumns, ignoreCase = false): string {
  const key = tagKeyOf(name);
  if (key === undefined) return `toString(${columnOf(name, columns)})`;
  const exact = `line_tags[${literal(key)}]`;
  if (!ignoreCase) return exact;
  const others = `mapValues(mapFilter((k, v) -> ${isInOtherCase("k", key)}, line_tags))`;
  return `arrayFirst(v -> notEmpty(v), arrayConcat([${exact}], ${others}))`;
}

/** SQL of whether a key differs from `key` in nothing but its case. */
function isInOtherCase(sql: string, key: string): string {
  return `(${sql} != ${literal(key)} AND lowerUTF8(${sql}) = lowerUTF8(${literal(key)}))`;
}

/** The column's own expression, for numbers. */
export function columnOf(name: string, columns: LineColumns): string {
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
  if (column === undefined) throw new Error(`a column that was not checked: ${name}`);
  return column.sql;
}

/** Whether the line has the tag, also an empty one, or the column says something. */
export function existsOf(name: string, columns: LineColumns, ignoreCase = false): string {
  const key = tagKeyOf(name);
  if (key === undefined) return `notEmpty(${textOf(name, columns)})`;
  const exact = `mapContains(line_tags, ${literal(key)})`;
  return ignoreCase ? `(${exact} OR notEmpty(${otherCaseOf(key)}))` : exact;
}

/** The first key of the line's tags that differs from `key` in nothing but its case; empty without any. */
export function otherCaseOf(key: string): string {
  return `toString(arrayFirst(k -> ${isInOtherCase("k", key)}, mapKeys(line_tags)))`;
}
