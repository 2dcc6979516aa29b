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

/** Without its extension: two files that differ in nothing else may be the same rows twice. */
export function stemOf(name: string): string {
  return name.replace(DATA, "");
}

/** A name that begins with a dot anywhere on its way: of a program, not of a bill. */
export function isHidden(name: string): boolean {
  return name.split("/").some((part) => /^\.(?!\.?$)/.test(part));
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
