/** The engine's messages as SQL clients may read them: no hints at what they may not read, and no paths. */
import type { ServerException } from "../exception.js";
import { CATALOG } from "./catalog.js";

const HINT = "Maybe you meant";
const UNKNOWN_TABLE = 60;
const UNKNOWN_DATABASE = 81;
/** An absolute path of two parts or more. Text that a client sent itself may look like one too, and is lost then. */
const PATH = /(?<![\w/:.])\/[\w.@+-]{1,255}(?:\/[\w.@+-]{1,255}){1,64}\/?/g;

export function withoutSecrets(error: ServerException, dataDir: string): ServerException {
  let message = error.message;
  const hint = message.indexOf(HINT);
  if (hint >= 0 && (error.code === UNKNOWN_TABLE || error.code === UNKNOWN_DATABASE))
    message = message.slice(0, hint).trimEnd();
  message = message
    .replaceAll(dataDir, "…")
    .replaceAll(PATH, "…")
    .replaceAll(`\`${CATALOG}\``, "system")
    .replaceAll(CATALOG, "system");
  return error.reworded(message);
}
