/**
 * Sessions that clients keep by `session_id`. Temporary tables and SET persist, one query runs at a time, and a session
 * ends after its timeout.
 */
import { literal } from "../../clickhouse/sql-text.js";
import type { Engine, EngineSession } from "./engine.js";
import { exception } from "./exception.js";
import { SESSION_DEFAULTS, setStatement } from "./settings.js";

export interface ClientSessions {
  /** Locks the session for one query, and opens it if it is new. */
  enter(id: string, mustExist: boolean): EngineSession;
  /** Unlocks the session. It is closed if it is not entered again within the timeout. */
  leave(id: string, timeoutSeconds: number): void;
  closeAll(): void;
}

interface ClientSession {
  readonly session: EngineSession;
  busy: boolean;
  expiry: NodeJS.Timeout | undefined;
}

export function clientSessions(engine: Engine): ClientSessions {
  const sessions = new Map<string, ClientSession>();

  function drop(id: string): void {
    const entry = sessions.get(id);
    if (entry === undefined || entry.busy) return;
    sessions.delete(id);
    clearTimeout(entry.expiry);
    entry.session.close();
  }

  return {
    enter(id, mustExist) {
      const existing = sessions.get(id);
      if (existing?.busy)
        throw exception("SESSION_IS_LOCKED", `Session ${id} is locked by a concurrent client`);
      if (existing === undefined && mustExist)
        throw exception("SESSION_NOT_FOUND", `Session ${id} not found`);
      const entry: ClientSession = existing ?? {
        session: engine.open(SESSION_DEFAULTS),
        busy: false,
        expiry: undefined,
      };
      clearTimeout(entry.expiry);
      entry.busy = true;
      sessions.set(id, entry);
      return entry.session;
    },
    leave(id, timeoutSeconds) {
      const entry = sessions.get(id);
      if (entry === undefined) return;
      entry.busy = false;
      entry.expiry = setTimeout(() => drop(id), timeoutSeconds * 1000);
      entry.expiry.unref();
    },
    closeAll() {
      for (const id of [...sessions.keys()]) drop(id);
    },
  };
}

/**
 * Returns the current values of settings, to be restored after a query that sets its own: those are for that query
 * only.
 */
export async function currentSettings(
  session: EngineSession,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const list = names.map(literal).join(", ");
  const { output } = await session.run(
    `SELECT name, value FROM system.settings WHERE name IN (${list})`,
    "JSONCompactEachRow",
  );
  const rows = Buffer.from(output).toString("utf8").trimEnd().split("\n").filter(Boolean);
  return new Map(rows.map((row): [string, string] => JSON.parse(row)));
}

/** Resets a session after a query: restores settings, and reads away what a failed statement left behind. */
export async function restoreSettings(
  session: EngineSession,
  before: ReadonlyMap<string, string>,
): Promise<void> {
  const statement = setStatement(before);
  if (statement !== undefined) await session.run(statement);
  await session.run("SELECT 1", "TSV");
}
