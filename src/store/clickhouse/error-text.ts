import { withoutSecrets } from "../../secrets/known-secrets.js";
import { storeInTrouble } from "../store-trouble.js";

/** The longest text of an error that a record or a log line keeps. */
const longest = 500;

/**
 * What an error says, fit for a record: the engine repeats whole statements in its messages ("In scope SELECT …"), which
 * belong into nobody's run history. Secrets go before it is cut, so that no half of one stays.
 */
export function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const said = withoutSecrets(message)
    .replace(/:? ?(In scope|While processing|while executing) [\s\S]*$/i, "")
    .trim();
  const store = storeInTrouble(error);
  const told = store === undefined ? said : `${store} cannot work now: ${said}`;
  return told.length <= longest ? told : `${told.slice(0, longest)}…`;
}
