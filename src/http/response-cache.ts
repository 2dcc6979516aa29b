/**
 * The last answers of reads whose ETag names them: who asks the same of the same published days, another reader of the same page or a script that
 * asks every minute, has the answer without asking the store.
 */
import { createSizedCache } from "../store/sized-memory.js";

export interface ResponseCache {
  /** JSON; undefined where it is not kept. */
  get(etag: string): string | undefined;
  set(etag: string, json: string): void;
}

/** 32 MiB where characters take two bytes, and half of it where they take one. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** A longer one takes its reader a while in any case, and the place of many. */
const LONGEST = 256 * 1024;

export function createResponseCache(): ResponseCache {
  const answers = createSizedCache<string>({ most: MOST_CHARACTERS, sizeOf: ({ length }) => length });
  return {
    get: answers.get,
    set(etag, json) {
      if (json.length <= LONGEST) answers.keep(etag, json);
    },
  };
}
