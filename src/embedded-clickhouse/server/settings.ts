/**
 * Settings and parameters of a query as statements in its session, written as `SET name = '…'` before the query. A
 * session does not know parameters that were given when it was opened (measured: UNKNOWN_QUERY_PARAMETER), and the
 * binding's own parameters make all queries of the process wait for each other.
 */
import { literal } from "../../clickhouse/sql-text.js";
import { exception } from "./exception.js";

/**
 * Settings of every new session, in addition to the server's defaults.
 * - 64-bit integers and decimals are quoted in JSON, because JSON.parse would lose their last digits.
 * - chDB's differences from a server are reverted (`1 + 1` as a statement, introspection functions, inserts that wait
 *   for more).
 * - Caches for the files of inserts are off. The data of an insert is a file with a unique name, whose rows the engine
 *   would cache, 2.3 KB each, up to 4,096 of them.
 */
export const SESSION_DEFAULTS: Readonly<Record<string, string>> = {
  output_format_json_quote_64bit_integers: "1",
  output_format_json_quote_decimals: "1",
  async_insert: "0",
  implicit_select: "0",
  allow_introspection_functions: "0",
  use_cache_for_count_from_files: "0",
  schema_inference_use_cache_for_file: "0",
};

/** The format if neither the statement nor the request names one. */
export const DEFAULT_FORMAT = "TabSeparated";

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns one SET statement for all, or undefined if there are none. */
export function setStatement(
  settings: ReadonlyMap<string, string>,
  parameters: ReadonlyMap<string, string> = new Map(),
): string | undefined {
  const assignments = [
    ...[...settings].map(([name, value]) => assignment(name, value)),
    ...[...parameters].map(([name, value]) => assignment(`param_${name}`, value)),
  ];
  return assignments.length === 0 ? undefined : `SET ${assignments.join(", ")}`;
}

function assignment(name: string, value: string): string {
  if (!NAME.test(name))
    throw exception(
      "UNKNOWN_SETTING",
      `Setting ${JSON.stringify(name)} is neither a builtin setting nor started with the prefix 'param_'`,
    );
  return `${name} = ${literal(value)}`;
}
