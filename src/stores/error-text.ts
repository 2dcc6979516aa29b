import { errorMessage } from "../common/error-message.js";
import { withoutSecrets } from "../common/known-secrets.js";
import { isLostConnection, isLostPostgres } from "../common/lost-connection.js";
import { StoreNotOpenedError } from "../common/store-not-opened.js";
import { isDiskFull, storeInTrouble } from "./store-trouble.js";

/** What to do if a disk is full. */
const ADVICE = " (free space on its disk; the service then continues by itself)";

/** Longest error text in a record or log line. */
const MAX_LENGTH = 500;

/**
 * Returns an error's message for run records. ClickHouse repeats whole statements in its messages ("In scope SELECT
 * …"), which do not belong there, so they are removed. Secrets are removed before the text is shortened, so that no
 * part of one remains.
 */
export function errorText(error: unknown): string {
  const message = withoutSecrets(errorMessage(error))
    .replace(/:? ?(In scope|While processing|while executing) [\s\S]*$/i, "")
    .trim();
  const failingStore = storeInTrouble(error);
  const text =
    failingStore !== undefined
      ? `${failingStore} cannot work now: ${message}`
      : lostConnectionText(error, message);
  const shortened = text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
  return shortened.includes(ADVICE) ? shortened : shortened + adviceOn(error);
}

/** Returns advice on an error, to append to its text. Empty if there is none. */
export function adviceOn(error: unknown): string {
  return isDiskFull(error) ? ADVICE : "";
}

function lostConnectionText(error: unknown, message: string): string {
  return isLostPostgres(error) ? `Postgres went away: ${message}` : message;
}

/**
 * Returns the text of an error that can only come from a store. A lost connection to ClickHouse does not name it: the
 * message is "socket hang up" or similar.
 */
export function storeErrorText(error: unknown): string {
  const text = errorText(error);
  // The error of a store that was never reached names its setting.
  if (!isLostConnection(error) || isLostPostgres(error) || error instanceof StoreNotOpenedError) return text;
  return `ClickHouse went away (${text}): the next run continues`;
}
