/** The engine session of one query of a SQL client: the client's settings under our limits, after which nothing else can be set. */

import { identifier } from "../../../sql-text.js";
import type { Engine, EngineSession } from "../engine.js";
import { exception } from "../exception.js";
import type { PortUser } from "../port.js";
import { SESSION_DEFAULTS, setStatement } from "../settings.js";
import { ADMITTED_SETTINGS, type LOWERABLE_SETTINGS } from "./admitted-settings.js";
import { CATALOG, catalogFilters } from "./catalog.js";
import type { SqlRules } from "./rules.js";

export interface SqlSession {
  /** The database of names without one. */
  readonly home: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
  /** Those that the system tables tell of. */
  readonly databases: readonly string[];
}

export async function openSqlSession(engine: Engine, wanted: SqlSession): Promise<EngineSession> {
  const session = engine.open(SESSION_DEFAULTS);
  try {
    await session.run(`USE ${identifier(wanted.home)}`);
    const set = setStatement(wanted.settings, wanted.parameters);
    if (set !== undefined) await session.run(set);
    await session.run(catalogFilters(wanted.databases));
    // After the parameters, which are settings too; nothing can be set from here on, this one included.
    await session.run("SET readonly = 1");
    return session;
  } catch (error) {
    session.close();
    throw error;
  }
}

/**
 * Tools name `default` when they were given no database: that is the user's own where there is one, and the catalog for a user of
 * several. The engine's `default` is never used: it takes names for files.
 */
export function homeDatabase(asked: string | undefined, user: PortUser): string {
  if (asked !== undefined && user.databases.includes(asked)) return asked;
  if (asked === undefined || asked === "default")
    return user.databases.length === 1 ? (user.databases[0] ?? CATALOG) : CATALOG;
  if (asked === "system") return CATALOG;
  throw exception("UNKNOWN_DATABASE", `Database ${asked} does not exist`);
}

/** The admitted settings of the client under our limits, which it may lower. */
export function admitSettings(
  asked: ReadonlyMap<string, string>,
  rules: Pick<SqlRules, "limits" | "maxMemoryBytes" | "maxThreads">,
): ReadonlyMap<string, string> {
  const ceilings: Readonly<Record<(typeof LOWERABLE_SETTINGS)[number], number>> = {
    max_execution_time: rules.limits.maxSeconds,
    max_memory_usage: rules.maxMemoryBytes(),
    max_result_rows: rules.limits.maxResultRows,
    max_result_bytes: rules.limits.maxResultBytes,
    max_threads: rules.maxThreads,
  };
  const settings = new Map(Object.entries(ceilings).map(([name, value]) => [name, String(value)]));
  for (const [name, value] of asked) {
    if (name in ceilings) {
      const ceiling = ceilings[name as keyof typeof ceilings];
      const wanted = Number(value);
      settings.set(name, String(wanted > 0 && wanted < ceiling ? wanted : ceiling));
    } else if (ADMITTED_SETTINGS.has(name)) settings.set(name, value);
    else if (name !== "readonly")
      throw exception("READONLY", `Cannot modify '${name}' setting in readonly mode`);
  }
  return settings;
}
