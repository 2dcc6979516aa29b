/**
 * The engine session of one query: a fresh one, so that no setting, parameter or leftover of one query reaches the next; for the service's own reads one that
 * was kept (`reading-sessions.ts`); or the client's own, by `session_id`.
 */
import { currentSettings, restore } from "./client-sessions.js";
import type { EngineSession } from "./engine.js";
import type { Port } from "./port.js";
import type { PreparedSession, SessionRequest } from "./prepared-session.js";
import type { QueryText } from "./query-text.js";
import { isPlainRead, renewal, sessionKey } from "./reading-sessions.js";
import type { QueryRequest } from "./request.js";
import { applySessionSettings, type SessionSettings } from "./session-settings.js";
import { SESSION_DEFAULTS } from "./settings.js";
import { openSqlSession } from "./sql-port/session.js";

export async function prepareSession(
  { asked: given, text, user, mark }: SessionRequest,
  port: Port,
): Promise<PreparedSession> {
  if (port.sql !== undefined)
    return await openSqlSession({ asked: given, text, user, mark }, { ...port, sql: port.sql });
  const asked = marked(given, mark);
  if (asked.session !== undefined) return await clientSession(asked, text, port, asked.session);
  if (isPlainRead(asked, text)) return await readingSession(asked, text, port, mark);
  const session = port.engine.open(SESSION_DEFAULTS);
  return await prepared(
    session,
    text,
    () => session.close(),
    async () => {
      await applySessionSettings(session, surroundingsOf(asked, text));
      if (asked.readOnly) await session.run("SET readonly = 2");
    },
  );
}

/** A kept session where there is one. */
async function readingSession(
  asked: QueryRequest,
  text: QueryText,
  { engine, readers }: Port,
  mark: string,
): Promise<PreparedSession> {
  const surroundings = surroundingsOf(asked, text);
  const renew = renewal(surroundings);
  const key = renew === undefined ? undefined : sessionKey(surroundings);
  const kept = key === undefined ? undefined : readers.take(key);
  const session = kept ?? engine.open(SESSION_DEFAULTS);
  const release = (isWhole: boolean) => {
    if (isWhole && key !== undefined) readers.give(key, session);
    else session.close();
  };
  return await prepared(session, text, release, async () => {
    // Until it is renewed, the session has the mark of the read before: by its own one, nobody who still stops that read stops this one.
    if (kept === undefined) await applySessionSettings(session, surroundings);
    else await session.run(`${mark}${renew}`);
  });
}

/** The client's own comment stays, behind the mark. */
function marked(asked: QueryRequest, mark: string): QueryRequest {
  const comment = mark + (asked.settings.get("log_comment") ?? "");
  return { ...asked, settings: new Map([...asked.settings, ["log_comment", comment]]) };
}

async function clientSession(
  asked: QueryRequest,
  text: QueryText,
  port: Port,
  wanted: NonNullable<QueryRequest["session"]>,
): Promise<PreparedSession> {
  const session = port.sessions.enter(wanted.id, wanted.mustExist);
  let before: ReadonlyMap<string, string> = new Map();
  const release = async () => {
    await restore(session, before);
    port.sessions.leave(wanted.id, wanted.timeoutSeconds);
  };
  return await prepared(session, text, release, async () => {
    before = await currentSettings(session, [...asked.settings.keys()]);
    await applySessionSettings(session, surroundingsOf(asked, text));
  });
}

/** Runs `prepare`, and gives the session back when that fails. */
async function prepared(
  session: EngineSession,
  text: QueryText,
  release: (isWhole: boolean) => void | Promise<void>,
  prepare: () => Promise<void>,
): Promise<PreparedSession> {
  try {
    await prepare();
  } catch (error) {
    await release(false);
    throw error;
  }
  return { session, text, release: async (isWhole) => await release(isWhole) };
}

export function surroundingsOf(asked: QueryRequest, text: QueryText): SessionSettings {
  return { database: asked.database, settings: asked.settings, parameters: text.parameters };
}
