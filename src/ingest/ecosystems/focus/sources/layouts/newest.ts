/** Finds the newest run of an exporter. */
import { compareNames } from "../file-names.js";
import type { StoredFile } from "../files/file-source.js";

export interface Run {
  /** When the exporter says it ran, as texts of equal length that sort by time. Undefined if it does not say. */
  readonly ran: string | undefined;
  readonly manifest: StoredFile;
}

/**
 * Sorts the newest first: by the exporter's own times if every run states one, because copied files have other dates.
 */
export function newestFirst<R extends Run>(runs: readonly R[]): R[] {
  const allState = runs.every(({ ran }) => ran !== undefined);
  const byTime = (a: R, b: R) =>
    allState ? compareNames(b.ran ?? "", a.ran ?? "") : b.manifest.modified - a.manifest.modified;
  return [...runs].sort((a, b) => byTime(a, b) || compareNames(b.manifest.name, a.manifest.name));
}

/**
 * Returns 14 digits for `2026-06-05T04:00:00.5Z` and `20260605T040000Z`. Undefined if the text does not begin with a
 * day.
 */
export function stampOf(text: string | undefined): string | undefined {
  const [, date, time = ""] =
    /^(\d{4}-?\d\d-?\d\d)(?:[T _-]?(\d\d:?-?\d\d(?::?-?\d\d)?))?/.exec(text ?? "") ?? [];
  if (date === undefined) return undefined;
  return `${date}${time}`.replace(/\D/g, "").padEnd(14, "0");
}
