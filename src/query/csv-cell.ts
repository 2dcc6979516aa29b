/** Cells of the CSV export, as SQL expressions. The engine writes whole lines, so no row passes through JavaScript. */
import { spillingGroups } from "../clickhouse/engine-bytes.js";

/**
 * RFC 4180: quotes only where needed, doubled inside. A cell that a spreadsheet would run as a formula gets a leading
 * apostrophe, unless `raw`.
 *
 * The engine's own CSV format quotes every text, which makes a file a fifth larger, and size is what limits an export.
 * Columns with few distinct values are matched once per value, and only cells that need it are rewritten.
 */
export function textCell(expression: string, raw: boolean): string {
  const guarded = raw
    ? `toString(${expression})`
    : `replaceRegexpOne(toString(${expression}), '^[=+@\\\\t\\\\r-]', '\\'\\\\0')`;
  const special = raw ? `'[",\\\\n\\\\r]'` : `'[",\\\\n\\\\r]|^[=+@\\\\t-]'`;
  const quoted = `if(match(${expression}, '[",\\\\n\\\\r]'), concat('"', replaceAll(${guarded}, '"', '""'), '"'), ${guarded})`;
  return `if(match(${expression}, ${special}), ${quoted}, ${expression})`;
}

/** JSON text is never a formula, because it starts with a brace. */
export function jsonCell(expression: string): string {
  return `concat('"', replaceAll(${expression}, '"', '""'), '"')`;
}

/** Makes the engine write cells unchanged, with commas between them and a line feed after each line. */
export const csvOutputSettings = {
  format_custom_escaping_rule: "Raw",
  format_custom_field_delimiter: ",",
  format_custom_row_after_delimiter: "\n",
  format_custom_row_between_delimiter: "",
  format_custom_row_before_delimiter: "",
  format_custom_result_before_delimiter: "",
  format_custom_result_after_delimiter: "",
} as const;

/**
 * For statements that end with FORMAT CustomSeparated and may group more than fits memory: unlimited pages and files.
 */
export const bareLines = { ...csvOutputSettings, ...spillingGroups } as const;
