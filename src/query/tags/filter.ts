/**
 * Tags as a filter and as a column, both written `tag:KEY`; tags of the line of the bill are written `line_tag:KEY`. A filter's value lists display names, any of which may match. In a
 * display name, `\,` and `\\` stand for a comma and a backslash, and any other backslash stands for itself.
 */
import { tagTextLimits } from "../../store/text-limits.js";
import { NOT } from "../value-filters.js";

export const TAG_PREFIX = "tag:";
export const LINE_TAG_PREFIX = "line_tag:";

/** What rows are said to have whose dimension has no such tag, as a bucket and in a filter. */
export const UNTAGGED = "UNTAGGED";

/** `tag:` and a key. Also the pattern of the API's description. */
export const TAG_COLUMN = `^${TAG_PREFIX}[^\\u0000-\\u001f\\u007f-\\u009f]{1,${tagTextLimits.tag_key}}$`;

/** Of the clouds, Azure has the longest keys. */
const LONGEST_LINE_TAG_KEY = 512;

/** The same of `line_tag:`. */
export const LINE_TAG_COLUMN = `^${LINE_TAG_PREFIX}[^\\u0000-\\u001f\\u007f-\\u009f]{1,${LONGEST_LINE_TAG_KEY}}$`;

/** `tag:` or `line_tag:` and a key, or that behind `not:`: what a filter by tags is called. */
export const TAG_FILTER = `^(${NOT})?(${[TAG_COLUMN, LINE_TAG_COLUMN].map((each) => each.slice(1, -1)).join("|")})$`;

/** Rows whose dimension has, under `key`, one of `names`; if it excludes, none of them. */
export interface TagFilter {
  readonly key: string;
  readonly names: readonly string[];
  readonly isExcluding?: boolean;
  /** Tags of the line of the bill, whose names are their values. */
  readonly isOfLine?: boolean;
}

/** `tag:team` as a column that amounts are grouped by. */
export type TagColumn = `tag:${string}`;
/** `line_tag:team`, a tag of the line of the bill. */
export type LineTagColumn = `line_tag:${string}`;

const column = new RegExp(TAG_COLUMN, "u");
const lineColumn = new RegExp(LINE_TAG_COLUMN, "u");

export function isTagColumn(text: string): text is TagColumn {
  return column.test(text);
}

export function isLineTagColumn(text: string): text is LineTagColumn {
  return lineColumn.test(text);
}

export function tagKey(column: TagColumn | LineTagColumn): string {
  return column.slice(column.indexOf(":") + 1);
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
