/** The engine's messages as SQL clients may read them, without paths. The engine's role keeps its hints to what the user may read. */
import type { ServerException } from "../exception.js";
import { CATALOG } from "./catalog.js";

/** An absolute path of two parts or more. Text that a client sent itself may look like one too, and is lost then. */
const PATH = /(?<![\w/:.])\/[\w.@+-]{1,255}(?:\/[\w.@+-]{1,255}){1,64}\/?/g;

export function withoutSecrets(error: ServerException, dataDir: string): ServerException {
  const message = error.message
    .replaceAll(dataDir, "…")
    .replaceAll(PATH, "…")
    .replaceAll(`\`${CATALOG}\``, "system")
    .replaceAll(CATALOG, "system");
  return error.reworded(message);
}
