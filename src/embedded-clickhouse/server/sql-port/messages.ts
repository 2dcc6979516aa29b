/**
 * Removes paths from the engine's messages for SQL clients. The engine's role limits its hints to what the user may
 * read.
 */
import type { ServerException } from "../exception.js";
import { CATALOG } from "./catalog.js";

/** An absolute path of two parts or more. Similar text that a client itself sent is removed as well. */
const PATH = /(?<![\w/:.])\/[\w.@+-]{1,255}(?:\/[\w.@+-]{1,255}){1,64}\/?/g;

export function withoutPaths(error: ServerException, dataDir: string): ServerException {
  const message = error.message
    .replaceAll(dataDir, "…")
    .replaceAll(PATH, "…")
    .replaceAll(`\`${CATALOG}\``, "system")
    .replaceAll(CATALOG, "system");
  return error.reworded(message);
}
