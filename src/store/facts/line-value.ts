/** A column or tag of a line as an expression in SQL: names come from the configuration, so they are looked up or quoted. */
import { type LineColumns, tagKeyOf } from "../../config/allocation/line-columns.js";
import { literal } from "../clickhouse/sql-text.js";

/** Text, empty where the line has none. Throws on a column that was not checked. */
export function textOf(name: string, columns: LineColumns): string {
  const key = tagKeyOf(name);
  return key === undefined ? `toString(${columnOf(name, columns)})` : `line_tags[${literal(key)}]`;
}

/** The column's own expression, for numbers. */
export function columnOf(name: string, columns: LineColumns): string {
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
  if (column === undefined) throw new Error(`a column that was not checked: ${name}`);
  return column.sql;
}

/** Whether the line has the tag, also an empty one, or the column says something. */
export function existsOf(name: string, columns: LineColumns): string {
  const key = tagKeyOf(name);
  return key === undefined ? `notEmpty(${textOf(name, columns)})` : `mapContains(line_tags, ${literal(key)})`;
}
