/**
 * The engine session of a query. It is a new one, so that no setting, parameter or remains of one query reach the next.
 * The service's own reads reuse sessions (`reading-sessions.ts`), and clients have their own by `session_id`.
 */
import { currentSettings, restoreSettings } from "./client-sessions.js";
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
  { queryRequest: given, text, user, mark }: SessionRequest,
  port: Port,
): Promise<PreparedSession> {
  if (port.sql !== undefined)
    return await openSqlSession({ queryRequest: given, text, user, mark }, { ...port, sql: port.sql });
  const queryRequest = marked(given, mark);
  if (queryRequest.session !== undefined)
    return await clientSession(queryRequest, text, port, queryRequest.session);
  if (isPlainRead(queryRequest, text)) return await readingSession(queryRequest, text, port, mark);
  const session = port.engine.open(SESSION_DEFAULTS);
  return await prepared(
    session,
    text,
    () => session.close(),
    async () => {
      await applySessionSettings(session, sessionSettingsOf(queryRequest, text));
      if (queryRequest.readOnly) await session.run("SET readonly = 2");
    },
  );
}

/** Reuses a kept session if there is one. */
async function readingSession(
  queryRequest: QueryRequest,
  text: QueryText,
  { engine, readers }: Port,
  mark: string,
): Promise<PreparedSession> {
  const settings = sessionSettingsOf(queryRequest, text);
  const renew = renewal(settings);
  const key = renew === undefined ? undefined : sessionKey(settings);
  const reused = key === undefined ? undefined : readers.take(key);
  const session = reused ?? engine.open(SESSION_DEFAULTS);
  const release = (succeeded: boolean) => {
    if (succeeded && key !== undefined) readers.give(key, session);
    else session.close();
  };
  return await prepared(session, text, release, async () => {
    // Until it is renewed, the session has the mark of the previous read. The statement's own mark ensures that
    // stopping that read does not stop this one.
    if (reused === undefined) await applySessionSettings(session, settings);
    else await session.run(`${mark}${renew}`);
  });
}

/** Adds the mark in front of the client's own comment. */
function marked(queryRequest: QueryRequest, mark: string): QueryRequest {
  const comment = mark + (queryRequest.settings.get("log_comment") ?? "");
  return { ...queryRequest, settings: new Map([...queryRequest.settings, ["log_comment", comment]]) };
}

async function clientSession(
  queryRequest: QueryRequest,
  text: QueryText,
  port: Port,
  sessionOptions: NonNullable<QueryRequest["session"]>,
): Promise<PreparedSession> {
  const session = port.sessions.enter(sessionOptions.id, sessionOptions.mustExist);
  let before: ReadonlyMap<string, string> = new Map();
  const release = async () => {
    await restoreSettings(session, before);
    port.sessions.leave(sessionOptions.id, sessionOptions.timeoutSeconds);
  };
  return await prepared(session, text, release, async () => {
    before = await currentSettings(session, [...queryRequest.settings.keys()]);
    await applySessionSettings(session, sessionSettingsOf(queryRequest, text));
  });
}

/** Runs `prepare`, and releases the session if that fails. */
async function prepared(
  session: EngineSession,
  text: QueryText,
  release: (succeeded: boolean) => void | Promise<void>,
  prepare: () => Promise<void>,
): Promise<PreparedSession> {
  try {
    await prepare();
  } catch (error) {
    await release(false);
    throw error;
  }
  return { session, text, release: async (succeeded) => await release(succeeded) };
}

export function sessionSettingsOf(queryRequest: QueryRequest, text: QueryText): SessionSettings {
  return { database: queryRequest.database, settings: queryRequest.settings, parameters: text.parameters };
}
