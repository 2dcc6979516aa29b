/** What a file's name says about its content. */

const DATA = /\.(?:csv|csv\.gz|csv\.zst|parquet)$/i;
/** Files that people may take for bills, but that are not read. */
const LOOKS_LIKE_DATA = /\.(?:zip|tsv|xlsx?|ndjson|jsonl|avro|orc|gz|zst|bz2|xz|7z)$/i;

export const DATA_EXTENSIONS = [".csv", ".csv.gz", ".csv.zst", ".parquet"] as const;

export function hasDataExtension(name: string): boolean {
  return DATA.test(name);
}

export function looksLikeData(name: string): boolean {
  return !hasDataExtension(name) && LOOKS_LIKE_DATA.test(name);
}

/**
 * Returns true if one part of a path names what a program left behind, such as `_temporary`, `_delta_log` or
 * `.part.csv.crc`. Readers of data lakes skip such names, too. `_month=2026-05` is a partition, and `.` and `..` are
 * refused elsewhere.
 */
export function isLeftover(part: string): boolean {
  return /^(?:\.(?!\.?$)|_[^=]*$)/.test(part);
}

/**
 * Returns the path that a listing reports as skipped: the path up to the leftover's name, with a slash at its end if it
 * is a folder. Undefined if the path is not skipped.
 */
export function leftoverOf(path: string): string | undefined {
  const parts = path.split("/");
  const at = parts.findIndex(isLeftover);
  if (at < 0) return undefined;
  return parts.slice(0, at + 1).join("/") + (at < parts.length - 1 ? "/" : "");
}

/**
 * Returns true if a skipped leftover should be reported: folders of jobs, and files that look like bills. Hidden
 * folders hold no bills.
 */
export function isWorthNaming(leftover: string): boolean {
  return leftover.endsWith("/") ? /(?:^|\/)_[^/]*\/$/.test(leftover) : hasDataExtension(leftover);
}

/** Returns why a name is not taken, or undefined. */
export function nameProblem(name: string): string | undefined {
  if (/[\p{Cc}\u2028\u2029\uFFFD]/u.test(name))
    return "its name has control characters, or is not UTF-8: rename it";
  if (name.split("/").some((part) => part === ".." || part === "."))
    return "its name has the part `.` or `..`: rename it";
  return undefined;
}

/** Compares by code units, so the order is the same on every machine. */
export function compareNames(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Quotes a text for a message: on one line, and not too long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
}

/** Remarks about files that the manifest does not name. */
export function unnamedRemarks(names: readonly string[]): string[] {
  return [...names]
    .sort(compareNames)
    .map((name) => `${name} is not named by the manifest, and is not read.`);
}
