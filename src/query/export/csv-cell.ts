/** Cells of the CSV export, as expressions: the engine writes the whole line, and none of it passes through JavaScript. */
import { spillingGroups } from "../../store/clickhouse/engine-bytes.js";

/**
 * RFC 4180: quotes only where they are needed, doubled inside. A cell that a spreadsheet would run as a formula gets a leading
 * apostrophe, unless `raw`.
 *
 * The engine's own CSV format quotes every text: a fifth more bytes, which is what an export is bound by. Columns with few
 * distinct values are matched once per value, and only cells that need it are rewritten.
 */
export function textCell(expression: string, raw: boolean): string {
  const guarded = raw
    ? `toString(${expression})`
    : `replaceRegexpOne(toString(${expression}), '^[=+@\\\\t\\\\r-]', '\\'\\\\0')`;
  const special = raw ? `'[",\\\\n\\\\r]'` : `'[",\\\\n\\\\r]|^[=+@\\\\t-]'`;
  const quoted = `if(match(${expression}, '[",\\\\n\\\\r]'), concat('"', replaceAll(${guarded}, '"', '""'), '"'), ${guarded})`;
  return `if(match(${expression}, ${special}), ${quoted}, ${expression})`;
}

/** JSON text: never a formula, since it starts with a brace. */
export function jsonCell(expression: string): string {
  return `concat('"', replaceAll(${expression}, '"', '""'), '"')`;
}

/** How the engine writes the cells: as they are, with commas between them and a line feed behind a line. */
export const csvSettings = {
  format_custom_escaping_rule: "Raw",
  format_custom_field_delimiter: ",",
  format_custom_row_after_delimiter: "\n",
  format_custom_row_between_delimiter: "",
  format_custom_row_before_delimiter: "",
  format_custom_result_before_delimiter: "",
  format_custom_result_after_delimiter: "",
} as const;

/** For statements that end with FORMAT CustomSeparated and may group more than fits memory: pages and files without a row limit. */
export const bareLines = { ...csvSettings, ...spillingGroups } as const;
