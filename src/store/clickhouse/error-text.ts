import { withoutSecrets } from "../../secrets/known-secrets.js";
import { errorMessage } from "../error-message.js";
import { isLostConnection, isLostPostgres } from "../lost-connection.js";
import { StoreNotOpenedError } from "../store-not-opened.js";
import { isDiskFull, storeInTrouble } from "../store-trouble.js";

/** What to do where a disk is full. */
const ADVICE = " (make room on its disk: nothing else is needed)";

/** The longest text of an error that a record or a log line keeps. */
const longest = 500;

/**
 * What an error says, fit for a record: the engine repeats whole statements in its messages ("In scope SELECT …"), which
 * belong into nobody's run history. Secrets go before it is cut, so that no half of one stays.
 */
export function errorText(error: unknown): string {
  const said = withoutSecrets(errorMessage(error))
    .replace(/:? ?(In scope|While processing|while executing) [\s\S]*$/i, "")
    .trim();
  const store = storeInTrouble(error);
  const told = store !== undefined ? `${store} cannot work now: ${said}` : wentAway(error, said);
  const shortened = told.length <= longest ? told : `${told.slice(0, longest)}…`;
  return shortened.includes(ADVICE) ? shortened : shortened + adviceOn(error);
}

/** What to do about an error, where that is known: to be put behind its text. */
export function adviceOn(error: unknown): string {
  return isDiskFull(error) ? ADVICE : "";
}

function wentAway(error: unknown, said: string): string {
  return isLostPostgres(error) ? `Postgres went away: ${said}` : said;
}

/**
 * The text of an error that can only come from a store. A lost connection to ClickHouse carries no name of its own, only "socket hang up" or
 * the like.
 */
export function storeErrorText(error: unknown): string {
  const text = errorText(error);
  // A store that was never reached says so itself, with its setting.
  if (!isLostConnection(error) || isLostPostgres(error) || error instanceof StoreNotOpenedError) return text;
  return `ClickHouse went away (${text}): the next run does what is left`;
}
