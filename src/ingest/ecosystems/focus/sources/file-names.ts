/** What the name of a file says. */

const DATA = /\.(?:csv|csv\.gz|csv\.zst|parquet)$/i;
/** Files that people may take for bills, and that are not read. */
const LOOKS_LIKE_DATA = /\.(?:zip|tsv|xlsx?|ndjson|jsonl|avro|orc|gz|zst|bz2|xz|7z)$/i;

export const DATA_EXTENSIONS = [".csv", ".csv.gz", ".csv.zst", ".parquet"] as const;

export function hasDataExtension(name: string): boolean {
  return DATA.test(name);
}

export function looksLikeData(name: string): boolean {
  return !hasDataExtension(name) && LOOKS_LIKE_DATA.test(name);
}

/**
 * Whether one part of a path names what a program left behind, such as `_temporary`, `_delta_log` or `.part.csv.crc`. Readers of data lakes skip such
 * names, too. `_month=2026-05` is a partition, and `.` and `..` are refused elsewhere.
 */
export function isLeftover(part: string): boolean {
  return /^(?:\.(?!\.?$)|_[^=]*$)/.test(part);
}

/**
 * What a listing reports when a path is skipped because of a leftover's name: the path up to that name, with a slash at its end where it is a folder.
 * Undefined for a path that is not skipped.
 */
export function leftoverOf(path: string): string | undefined {
  const parts = path.split("/");
  const at = parts.findIndex(isLeftover);
  if (at < 0) return undefined;
  return parts.slice(0, at + 1).join("/") + (at < parts.length - 1 ? "/" : "");
}

/** Whether a person should hear that a leftover was skipped: folders of jobs, and files that look like bills. Hidden folders hold no bills. */
export function isWorthNaming(leftover: string): boolean {
  return leftover.endsWith("/") ? /(?:^|\/)_[^/]*\/$/.test(leftover) : hasDataExtension(leftover);
}

/** Why a name is not taken, or undefined. */
export function nameProblem(name: string): string | undefined {
  if (/[\p{Cc}\u2028\u2029\uFFFD]/u.test(name))
    return "its name has control characters, or is not UTF-8: rename it";
  if (name.split("/").some((part) => part === ".." || part === "."))
    return "its name has the part `.` or `..`: rename it";
  return undefined;
}

/** Of texts, by code units: the same order on every machine. */
export function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** For messages: on one line, and not too long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
}

/** About files beside those that a manifest names. */
export function unnamedRemarks(names: readonly string[]): string[] {
  return [...names].sort(compare).map((name) => `${name} is not named by the manifest, and is not read.`);
}
