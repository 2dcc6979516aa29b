/**
 * The engine session of one query of a SQL client. It takes the user's role first; then the statement is checked; then come the client's
 * settings, under our limits, after which nothing else can be set.
 */

import { identifier, literal } from "../../../sql-text.js";
import type { EngineSession } from "../engine.js";
import { exception } from "../exception.js";
import type { Port, PortUser } from "../port.js";
import type { PreparedSession, SessionRequest } from "../prepared-session.js";
import { DEFAULT_FORMAT, SESSION_DEFAULTS, setStatement } from "../settings.js";
import { ADMITTED_SETTINGS, type LOWERABLE_SETTINGS } from "./admitted-settings.js";
import { CATALOG, catalogFilters } from "./catalog.js";
import { roleOf } from "./roles.js";
import type { SqlRules } from "./rules.js";
import { guardOf, PARSER } from "./statement.js";

const FILTERS = "additional_table_filters";
/** With `break`, the engine puts out what it has when the time is over; it gets a moment for that. */
const BREAK_SECONDS = 1;

export async function openSqlSession(
  { asked, text, user, mark }: SessionRequest,
  port: Port & { readonly sql: SqlRules },
): Promise<PreparedSession> {
  const { sql } = port;
  // The cheapest check first.
  admitSettings(asked.settings, sql);
  const kept = asked.session && sql.memory.of(user.user, asked.session.id);
  const session = port.engine.open({ ...SESSION_DEFAULTS, ...PARSER });
  try {
    await session.run(`SET ROLE ${identifier(roleOf(user.user))}`);
    const guard = guardOf(session, user, port);
    const admitted = await guard.statement(text, asked.defaultFormat ?? DEFAULT_FORMAT);
    const home = homeDatabase(admitted.lasting?.database ?? asked.database ?? kept?.database, user);
    const given = merged(kept?.settings ?? new Map(), asked.settings, admitted.settings);
    const filters = await guard.filters(given.get(FILTERS) ?? "{}");
    const settings = new Map(admitSettings(given, sql));
    // By its mark the statement is found in the engine, to be stopped.
    settings.set("log_comment", mark + (settings.get("log_comment") ?? ""));
    await session.run(`USE ${identifier(home)}`);
    await finish(session, settings, [...catalogFilters(user.databases), ...filters]);
    if (admitted.lasting !== undefined && asked.session !== undefined) {
      const lasting = {
        database: admitted.lasting.database ?? kept?.database,
        settings: merged(kept?.settings ?? new Map(), admitted.settings),
      };
      sql.memory.remember(user.user, asked.session.id, lasting, asked.session.timeoutSeconds);
    }
    const grace = settings.get("timeout_overflow_mode") === "break" ? BREAK_SECONDS : 0;
    const maxSeconds = Number(settings.get("max_execution_time")) + grace;
    return { session, text: admitted.text, maxSeconds, release: async () => session.close() };
  } catch (error) {
    session.close();
    throw error;
  }
}

/** Nothing can be set from here on. The first filter of a table counts, so ours come before the client's. */
async function finish(
  session: EngineSession,
  settings: ReadonlyMap<string, string>,
  filters: readonly (readonly [string, string])[],
): Promise<void> {
  const set = setStatement(settings);
  const map = filters.map(([table, expression]) => `${literal(table)}: ${literal(expression)}`);
  await session.run(`${set}, ${FILTERS} = {${map.join(", ")}}, readonly = 1`);
}

function merged(...layers: readonly ReadonlyMap<string, string | undefined>[]): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  for (const [name, value] of layers.flatMap((layer) => [...layer])) {
    if (value === undefined) all.delete(name);
    else all.set(name, value);
  }
  return all;
}

/**
 * Tools name `default` when they were given no database: that is the user's own where there is one, and the catalog for a user of
 * several. The engine's `default` is never used: it takes names for files.
 */
function homeDatabase(asked: string | undefined, user: PortUser): string {
  if (asked !== undefined && user.databases.includes(asked)) return asked;
  if (asked === undefined || asked === "default")
    return user.databases.length === 1 ? (user.databases[0] ?? CATALOG) : CATALOG;
  if (asked === "system") return CATALOG;
  throw exception("UNKNOWN_DATABASE", `Database ${asked} does not exist`);
}

/** The admitted settings of the client under our limits, which it may lower. Filters are checked elsewhere. */
function admitSettings(
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
    if (Object.hasOwn(ceilings, name)) {
      const ceiling = ceilings[name as keyof typeof ceilings];
      const wanted = Number(value);
      settings.set(name, String(wanted > 0 && wanted < ceiling ? wanted : ceiling));
    } else if (ADMITTED_SETTINGS.has(name)) settings.set(name, value);
    else if (name !== FILTERS && !(name === "readonly" && /^[12]$/.test(value)))
      throw exception("READONLY", `Cannot modify '${name}' setting in readonly mode`);
  }
  return settings;
}
