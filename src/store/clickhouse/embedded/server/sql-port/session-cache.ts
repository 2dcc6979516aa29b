/** What SET and USE leave behind for the next statements of a client's session, which the client names by `session_id`. */
import { setNewest } from "../../../../set-newest.js";
import { exception } from "../exception.js";

export interface Remembered {
  readonly database: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
}

export interface SessionMemory {
  of(user: string, sessionId: string): Remembered;
  remember(user: string, sessionId: string, remembered: Remembered, seconds: number): void;
}

const NOTHING: Remembered = { database: undefined, settings: new Map() };
/** Sessions of one user that are remembered: the oldest are forgotten first. */
const MOST = 100;
const MOST_CHARACTERS = 16 * 1024;

export function createSessionMemory(
  now: () => number = performance.now.bind(performance),
  most = MOST,
): SessionMemory {
  const users = new Map<string, Map<string, Remembered & { readonly until: number }>>();
  return {
    of(user, sessionId) {
      const known = users.get(user)?.get(sessionId);
      return known !== undefined && now() < known.until ? known : NOTHING;
    },
    remember(user, sessionId, remembered, seconds) {
      const texts = [sessionId, remembered.database ?? "", ...[...remembered.settings].flat()];
      if (texts.join("").length > MOST_CHARACTERS)
        throw exception(
          "BAD_ARGUMENTS",
          `The settings of a session are longer than ${MOST_CHARACTERS} characters`,
        );
      const sessions = users.get(user) ?? new Map();
      users.set(user, sessions);
      setNewest(sessions, sessionId, { ...remembered, until: now() + seconds * 1000 }, most);
    },
  };
}
