/** Effects of SET and USE on the next statements of a client's session, which the client names by `session_id`. */
import { LRUCache } from "lru-cache";
import { exception } from "../exception.js";

export interface Remembered {
  readonly database: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
}

export interface SessionMemory {
  of(user: string, sessionId: string): Remembered;
  remember(user: string, sessionId: string, remembered: Remembered, seconds: number): void;
}

const EMPTY: Remembered = { database: undefined, settings: new Map() };
/** Maximum number of sessions per user. Those that were not used for longest are evicted first. */
const MAX_SESSIONS = 100;
const MAX_CHARACTERS = 16 * 1024;

export function createSessionMemory(
  now: () => number = performance.now.bind(performance),
  maxSessions = MAX_SESSIONS,
): SessionMemory {
  const users = new Map<string, LRUCache<string, Remembered & { readonly until: number }>>();
  return {
    of(user, sessionId) {
      const entry = users.get(user)?.get(sessionId);
      return entry !== undefined && now() < entry.until ? entry : EMPTY;
    },
    remember(user, sessionId, remembered, seconds) {
      const texts = [sessionId, remembered.database ?? "", ...[...remembered.settings].flat()];
      if (texts.join("").length > MAX_CHARACTERS)
        throw exception(
          "BAD_ARGUMENTS",
          `The settings of a session are longer than ${MAX_CHARACTERS} characters`,
        );
      const sessions = users.get(user) ?? new LRUCache({ max: maxSessions });
      users.set(user, sessions);
      sessions.set(sessionId, { ...remembered, until: now() + seconds * 1000 });
    },
  };
}
