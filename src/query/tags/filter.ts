/**
 * Tags as a filter and as a column, both written `tag:KEY`. A filter's value lists display names, any of which will do; `\,`
 * and `\\` stand for a comma and a backslash in one, any other backslash for itself.
 */
import { tagTextLimits } from "../../store/text-limits.js";

export const TAG_PREFIX = "tag:";

/** What rows are said to have whose dimension has no such tag, as a bucket and in a filter. */
export const UNTAGGED = "UNTAGGED";

/** `tag:` and a key. Also the pattern of the API's description. */
export const TAG_COLUMN = `^${TAG_PREFIX}[^\\u0000-\\u001f\\u007f-\\u009f]{1,${tagTextLimits.tag_key}}$`;

/** Rows whose dimension has, under `key`, one of `names`. */
export interface TagFilter {
  readonly key: string;
  readonly names: readonly string[];
}

/** `tag:team` as a column that amounts are grouped by. */
export type TagColumn = `tag:${string}`;

const column = new RegExp(TAG_COLUMN, "u");

export function isTagColumn(text: string): text is TagColumn {
  return column.test(text);
}

export function tagKey(column: TagColumn): string {
  return column.slice(TAG_PREFIX.length);
}

/** The display names of `a,b\,c`; undefined when one is empty or too long to be any tag's. */
export function tagNamesOf(text: string): string[] | undefined {
  const names = [""];
  for (const [piece] of text.matchAll(/\\[\\,]|./gsu)) {
    if (piece === ",") names.push("");
    else names[names.length - 1] += piece.length > 1 && piece.startsWith("\\") ? piece.slice(1) : piece;
  }
  const isName = (name: string) => name !== "" && [...name].length <= tagTextLimits.display_name;
  return names.every(isName) ? names : undefined;
}
