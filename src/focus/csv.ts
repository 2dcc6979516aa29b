/** How CSV is read so that nothing of it is lost. */

import type { Separator } from "../config/csv-dialect.js";
import { literal } from "../store/clickhouse/sql-text.js";

/**
 * Nothing is lost while reading: blanks stay, `\N` is text, no value is taken for a number, and a row that has more or fewer values than
 * the header is an error.
 */
export const csvSettings = {
  input_format_csv_detect_header: 0,
  input_format_csv_trim_whitespaces: 0,
  input_format_csv_allow_variable_number_of_columns: 0,
  format_csv_null_representation: "\u0001",
} as const;

/** `csvSettings` for values that are divided in this way. Without the second setting, the engine refuses a tab. */
export function settingsFor(separator: Separator) {
  return {
    ...csvSettings,
    format_csv_delimiter: separator,
    input_format_csv_allow_whitespace_or_tab_as_delimiter: separator === "\t" ? 1 : 0,
  } as const;
}

export function csvStructure(columns: number): string {
  return Array.from({ length: columns }, (_, at) => `c${at + 1} Nullable(String)`).join(", ");
}

/** A name of the header. The engine takes the byte order mark for a part of the first one, and then its quotes too. */
export function withoutMark(name: string): string {
  return name.startsWith("\uFEFF") ? name.slice(1).replace(/^"(.*)"$/, "$1") : name;
}

export function settingsText(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === "number" ? value : literal(value)}`)
    .join(", ");
}
