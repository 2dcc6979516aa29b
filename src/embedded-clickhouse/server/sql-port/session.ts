/**
 * The engine session of one query of a SQL client. It first takes the user's role, then the statement is checked, and
 * then the client's settings are applied within our limits. After that, nothing else can be set.
 */
import { identifier, literal } from "../../../clickhouse/sql-text.js";
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
/** With `break`, the engine returns what it has when the time is over. It gets this much time for that. */
const BREAK_SECONDS = 1;

export async function openSqlSession(
  { queryRequest, text, user, mark }: SessionRequest,
  port: Port & { readonly sql: SqlRules },
): Promise<PreparedSession> {
  const { sql } = port;
  // The cheapest check first.
  admitSettings(queryRequest.settings, sql);
  const remembered = queryRequest.session && sql.memory.of(user.user, queryRequest.session.id);
  const session = port.engine.open({ ...SESSION_DEFAULTS, ...PARSER });
  try {
    await session.run(`SET ROLE ${identifier(roleOf(user.user))}`);
    const guard = guardOf(session, user, port);
    const admitted = await guard.statement(text, queryRequest.defaultFormat ?? DEFAULT_FORMAT);
    const home = homeDatabase(
      admitted.lasting?.database ?? queryRequest.database ?? remembered?.database,
      user,
    );
    const requested = merged(remembered?.settings ?? new Map(), queryRequest.settings, admitted.settings);
    const filters = await guard.filters(requested.get(FILTERS) ?? "{}");
    const settings = new Map(admitSettings(requested, sql));
    // The mark identifies the statement in the engine, so that it can be stopped.
    settings.set("log_comment", mark + (settings.get("log_comment") ?? ""));
    await session.run(`USE ${identifier(home)}`);
    await finish(session, settings, [...catalogFilters(user.databases), ...filters]);
    if (admitted.lasting !== undefined && queryRequest.session !== undefined) {
      const lasting = {
        database: admitted.lasting.database ?? remembered?.database,
        settings: merged(remembered?.settings ?? new Map(), admitted.settings),
      };
      sql.memory.remember(user.user, queryRequest.session.id, lasting, queryRequest.session.timeoutSeconds);
    }
    const grace = settings.get("timeout_overflow_mode") === "break" ? BREAK_SECONDS : 0;
    const maxSeconds = Number(settings.get("max_execution_time")) + grace;
    return { session, text: admitted.text, maxSeconds, release: async () => session.close() };
  } catch (error) {
    session.close();
    throw error;
  }
}

/**
 * Applies the settings. Nothing can be set afterwards. The first filter of a table counts, so ours precede the
 * client's.
 */
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
 * Returns the database of the session. Tools send `default` if they were given no database. That becomes the user's
 * database if there is only one, otherwise the catalog. The engine's `default` is never used, because it treats names
 * as files.
 */
function homeDatabase(requested: string | undefined, user: PortUser): string {
  if (requested !== undefined && user.databases.includes(requested)) return requested;
  if (requested === undefined || requested === "default")
    return user.databases.length === 1 ? (user.databases[0] ?? CATALOG) : CATALOG;
  if (requested === "system") return CATALOG;
  throw exception("UNKNOWN_DATABASE", `Database ${requested} does not exist`);
}

/**
 * Returns the client's allowed settings, within our limits, which the client may lower. Filters are checked elsewhere.
 */
function admitSettings(
  requested: ReadonlyMap<string, string>,
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
  for (const [name, value] of requested) {
    if (Object.hasOwn(ceilings, name)) {
      const ceiling = ceilings[name as keyof typeof ceilings];
      const limit = Number(value);
      settings.set(name, String(limit > 0 && limit < ceiling ? limit : ceiling));
    } else if (ADMITTED_SETTINGS.has(name)) settings.set(name, value);
    else if (name !== FILTERS && !(name === "readonly" && /^[12]$/.test(value)))
      throw exception("READONLY", `Cannot modify '${name}' setting in readonly mode`);
  }
  return settings;
}
