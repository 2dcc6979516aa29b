/**
 * Sessions that clients keep by `session_id`: temporary tables and SET persist, one query runs at a time, and the session ends
 * after its timeout.
 */

import { literal } from "../../sql-text.js";
import type { Engine, EngineSession } from "./engine.js";
import { exception } from "./exception.js";
import { SESSION_DEFAULTS, setStatement } from "./settings.js";

export interface ClientSessions {
  /** Locks the session for one query, and opens it when it is new. */
  enter(id: string, mustExist: boolean): EngineSession;
  /** Unlocks; the session is closed when nobody enters it for so long. */
  leave(id: string, timeoutSeconds: number): void;
  closeAll(): void;
}

interface Kept {
  readonly session: EngineSession;
  busy: boolean;
  expiry: NodeJS.Timeout | undefined;
}

export function clientSessions(engine: Engine): ClientSessions {
  const sessions = new Map<string, Kept>();

  function drop(id: string): void {
    const kept = sessions.get(id);
    if (kept === undefined || kept.busy) return;
    sessions.delete(id);
    clearTimeout(kept.expiry);
    kept.session.close();
  }

  return {
    enter(id, mustExist) {
      const known = sessions.get(id);
      if (known?.busy) throw exception("SESSION_IS_LOCKED", `Session ${id} is locked by a concurrent client`);
      if (known === undefined && mustExist) throw exception("SESSION_NOT_FOUND", `Session ${id} not found`);
      const kept: Kept = known ?? { session: engine.open(SESSION_DEFAULTS), busy: false, expiry: undefined };
      clearTimeout(kept.expiry);
      kept.busy = true;
      sessions.set(id, kept);
      return kept.session;
    },
    leave(id, timeoutSeconds) {
      const kept = sessions.get(id);
      if (kept === undefined) return;
      kept.busy = false;
      kept.expiry = setTimeout(() => drop(id), timeoutSeconds * 1000);
      kept.expiry.unref();
    },
    closeAll() {
      for (const id of [...sessions.keys()]) drop(id);
    },
  };
}

/** The values that `names` have now, to be set again after a query that came with its own: those hold for that query alone. */
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

/** Puts a session in order after a query: settings back, and whatever a failed statement left in it read away. */
export async function restore(session: EngineSession, before: ReadonlyMap<string, string>): Promise<void> {
  const statement = setStatement(before);
  if (statement !== undefined) await session.run(statement);
  await session.run("SELECT 1", "TSV");
}
