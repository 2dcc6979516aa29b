/** The settings of a statement's session: the database, settings and parameters of its request. */
import { identifier, literal } from "../../clickhouse/sql-text.js";
import type { EngineSession } from "./engine.js";
import { setStatement } from "./settings.js";

/** Shorter than the engine's default max_query_size, however the characters are encoded. */
const SHORT_STATEMENT = 64 * 1024;
const MAX_BYTES_PER_CHARACTER = 4;
const DEFAULT_QUERY_SIZE = "262144";

export interface SessionSettings {
  readonly database: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
}

export async function applySessionSettings(
  session: EngineSession,
  { database, settings, parameters }: SessionSettings,
): Promise<void> {
  if (database !== undefined) await session.run(`USE ${identifier(database)}`);
  const set = setStatement(settings, parameters);
  if (set === undefined) return;
  const long = !isShort(set);
  // The client's max_query_size is for its own statement, not for this one.
  if (long) await session.run(`SET max_query_size = ${set.length * MAX_BYTES_PER_CHARACTER}`);
  await session.run(set);
  if (long)
    await session.run(
      `SET max_query_size = ${literal(settings.get("max_query_size") ?? DEFAULT_QUERY_SIZE)}`,
    );
}

/** Whether the statement is within the engine's own limit. */
export function isShort(statement: string): boolean {
  return statement.length <= SHORT_STATEMENT;
}
