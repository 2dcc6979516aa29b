/** A cache of responses by ETag, so that repeated requests for the same published days do not reach ClickHouse. */
import { LRUCache } from "lru-cache";

/** JSON by ETag. */
export type ResponseCache = LRUCache<string, string>;

/** 32 MiB if characters take two bytes, 16 MiB if they take one. */
const CAPACITY_CHARACTERS = 16 * 1024 * 1024;
/**
 * Longer responses are not cached: the client takes long to read them anyway, and they would displace many shorter
 * ones.
 */
const MAX_CHARACTERS = 256 * 1024;

export function createResponseCache(): ResponseCache {
  return new LRUCache({
    maxSize: CAPACITY_CHARACTERS,
    maxEntrySize: MAX_CHARACTERS,
    sizeCalculation: ({ length }) => length,
  });
}
