/** Settings of the engine to read CSV without loss. */
import { literal } from "../clickhouse/sql-text.js";
import type { Separator } from "../common/csv-dialect.js";

/**
 * Keeps blanks, reads `\N` as text, and parses no numbers. A row with more or fewer values than the header is an error.
 */
export const csvSettings = {
  input_format_csv_detect_header: 0,
  input_format_csv_trim_whitespaces: 0,
  input_format_csv_allow_variable_number_of_columns: 0,
  format_csv_null_representation: "\u0001",
} as const;

/** `csvSettings` with another separator. Without the second setting, the engine rejects a tab. */
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

/** Removes the byte order mark and quotes from a name. The engine includes both in the first name of the header. */
export function withoutMark(name: string): string {
  return name.startsWith("\uFEFF") ? name.slice(1).replace(/^"(.*)"$/, "$1") : name;
}

export function settingsText(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === "number" ? value : literal(value)}`)
    .join(", ");
}
