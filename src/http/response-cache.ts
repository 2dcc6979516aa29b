/** A cache of responses by ETag, so that repeated requests for the same published days do not reach ClickHouse. */
import { createSizedCache } from "../store/sized-memory.js";

export interface ResponseCache {
  /** Returns JSON, or undefined if the response is not cached. */
  get(etag: string): string | undefined;
  set(etag: string, json: string): void;
}

/** 32 MiB if characters take two bytes, 16 MiB if they take one. */
const CAPACITY_CHARACTERS = 16 * 1024 * 1024;
/**
 * Longer responses are not cached: the client takes long to read them anyway, and they would displace many shorter
 * ones.
 */
const MAX_CHARACTERS = 256 * 1024;

export function createResponseCache(): ResponseCache {
  const responses = createSizedCache<string>({ most: CAPACITY_CHARACTERS, sizeOf: ({ length }) => length });
  return {
    get: responses.get,
    set(etag, json) {
      if (json.length <= MAX_CHARACTERS) responses.keep(etag, json);
    },
  };
}
