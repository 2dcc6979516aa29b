/**
 * Pagination by cursor (keyset): a cursor contains the key of the last row of a page, and the next page begins after
 * that key. Unlike a page number, it costs the same at any depth, and rows that are added or removed in the meantime
 * cause no repeated or skipped rows.
 *
 * A cursor is opaque to clients. It belongs to one query: the same list, filters and order, which it carries as a
 * fingerprint.
 */
import { createHash } from "node:crypto";
import { InvalidParameterError, isDate } from "../time/date-window.js";

/** The cursor is malformed, or it belongs to another query. */
export class InvalidCursorError extends InvalidParameterError {
  constructor() {
    super(
      "cursor",
      "`cursor` must be the `next_cursor` of a response to the same query: the same path, filters and order.",
    );
  }
}

export type CursorKey = readonly (string | number)[];

/** Expected formats of a key's columns. An invented cursor gets a 400 and never causes an error in the store. */
export type KeyColumn = "text" | "integer" | "decimal" | "day" | "instant" | "uuid";

const VERSION = 1;
/** Four ids of 1,000 characters of two bytes each fit. A request's head has at most 16 KiB. */
const LONGEST_CURSOR = 14_000;

/**
 * Returns a short text that is equal for equal queries, whatever the order of the fields. Undefined fields do not
 * count.
 */
export function cursorFingerprint(query: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}

export function encodeCursor(kind: string, fingerprint: string, key: CursorKey): string {
  return Buffer.from(JSON.stringify([VERSION, kind, fingerprint, ...key])).toString("base64url");
}

/** Returns the key of the cursor. With `columns`, also checks its values. Throws InvalidCursorError. */
export function decodeCursor(
  text: string,
  kind: string,
  fingerprint: string,
  columns?: readonly KeyColumn[],
): CursorKey {
  const [version, cursorKind, cursorFingerprintText, ...key] = readParts(text);
  const matchesQuery = version === VERSION && cursorKind === kind && cursorFingerprintText === fingerprint;
  if (!matchesQuery || !key.every(isScalar)) throw new InvalidCursorError();
  if (columns !== undefined && !fits(key, columns)) throw new InvalidCursorError();
  return key;
}

/** Returns the key after which the requested page begins; undefined without a cursor. Throws InvalidParameterError. */
export function cursorOf(
  { cursor, page }: { readonly cursor?: string | undefined; readonly page: number },
  kind: string,
  fingerprint: string,
  columns: readonly KeyColumn[],
): CursorKey | undefined {
  if (cursor === undefined) return undefined;
  if (page > 1) {
    throw new InvalidParameterError(
      "cursor",
      "`cursor` and `page` exclude each other: a cursor is a position already.",
    );
  }
  return decodeCursor(cursor, kind, fingerprint, columns);
}

/**
 * Cuts one extra row off. If there is one, more rows follow, and `next_cursor` points behind the page's last row; else
 * it is null.
 */
export function cutPage<Item>(
  found: readonly Item[],
  pageSize: number,
  cursorBehind: (last: Item) => string,
): { items: Item[]; next_cursor: string | null } {
  const last = found.length > pageSize ? found[pageSize - 1] : undefined;
  return { items: found.slice(0, pageSize), next_cursor: last === undefined ? null : cursorBehind(last) };
}

function readParts(text: string): unknown[] {
  if (text.length > LONGEST_CURSOR || !/^[A-Za-z0-9_-]+$/.test(text)) throw new InvalidCursorError();
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (Array.isArray(parts)) return parts;
  } catch {
    // Not JSON: rejected below, like any other text that is not a cursor.
  }
  throw new InvalidCursorError();
}

const isScalar = (part: unknown): part is string | number =>
  (typeof part === "string" && !part.includes("\0")) || Number.isSafeInteger(part);

const looksLike: Readonly<Record<Exclude<KeyColumn, "integer">, (text: string) => boolean>> = {
  text: () => true,
  decimal: (text) => /^-?\d{1,26}(\.\d{1,12})?$/.test(text),
  day: isDate,
  instant: (text) =>
    isDate(text.slice(0, 10)) && /^[T ]([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,6})?Z?$/.test(text.slice(10)),
  uuid: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text),
};

function fits(key: CursorKey, columns: readonly KeyColumn[]): boolean {
  if (key.length !== columns.length) return false;
  return columns.every((column, index) => {
    const part = key[index];
    if (column === "integer") return typeof part === "number";
    return typeof part === "string" && looksLike[column](part);
  });
}
