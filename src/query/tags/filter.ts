/**
 * Tags as a filter and as a column, as the API has them; `tag-sql.ts` makes SQL of them. Both are written `tag:KEY`;
 * tags of the billing line are written `line_tag:KEY`, and the columns of the bill that are stored with them
 * `column:NAME`. A filter lists display names, any of which may match.
 */
import { splitNames } from "../../common/name-list.js";
import { COLUMN_PREFIX } from "../../domain/rule-columns.js";
import { tagTextLimits } from "../../domain/text-limits.js";
import { NOT } from "../value-filters.js";

export const TAG_PREFIX = "tag:";
export const LINE_TAG_PREFIX = "line_tag:";

/** The name of rows whose dimension has no such tag, as a bucket and in a filter. */
export const UNTAGGED = "UNTAGGED";

/** Pattern of `tag:` and a key. The API's description uses it, too. */
export const TAG_COLUMN = `^${TAG_PREFIX}[^\\u0000-\\u001f\\u007f-\\u009f]{1,${tagTextLimits.tag_key}}$`;

/** Azure has the longest keys of all clouds. */
const LONGEST_LINE_TAG_KEY = 512;

/** Pattern of `column:` and the name of a declared column. */
export const DECLARED_COLUMN = `^${COLUMN_PREFIX}[A-Za-z][A-Za-z0-9_]{0,99}$`;

/** Pattern of `line_tag:` and a key. */
export const LINE_TAG_COLUMN = `^${LINE_TAG_PREFIX}[^\\u0000-\\u001f\\u007f-\\u009f]{1,${LONGEST_LINE_TAG_KEY}}$`;

/** Pattern of a tag filter's name: `tag:`, `line_tag:` or `column:` and a key, optionally after `not:`. */
export const TAG_FILTER = `^(${NOT})?(${[TAG_COLUMN, LINE_TAG_COLUMN, DECLARED_COLUMN].map((each) => each.slice(1, -1)).join("|")})$`;

/** Selects rows whose dimension has one of `displayNames` under `key`; if it excludes, rows that have none of them. */
export interface TagFilter {
  readonly key: string;
  readonly displayNames: readonly string[];
  readonly isExcluding?: boolean;
  /** Filters by tags of the billing line; `displayNames` are their values. */
  readonly isOfLine?: boolean;
}

/** `tag:team` as a column to group amounts by. */
export type TagColumn = `tag:${string}`;
/** `line_tag:team`, a tag of the billing line, or `column:model`, a declared column of the bill. */
export type LineTagColumn = `line_tag:${string}` | `column:${string}`;

const column = new RegExp(TAG_COLUMN, "u");
const lineColumn = new RegExp(`${LINE_TAG_COLUMN}|${DECLARED_COLUMN}`, "u");

export function isTagColumn(text: string): text is TagColumn {
  return column.test(text);
}

export function isLineTagColumn(text: string): text is LineTagColumn {
  return lineColumn.test(text);
}

/** The key under which the tag or the column is stored. */
export function tagKey(column: TagColumn | LineTagColumn): string {
  if (column.startsWith(COLUMN_PREFIX)) return column;
  return column.slice(column.indexOf(":") + 1);
}

/** Parses `a,b\,c` into display names; undefined if one is empty or longer than any tag's. */
export function tagNamesOf(text: string): string[] | undefined {
  const names = splitNames(text);
  const isName = (name: string) => name !== "" && [...name].length <= tagTextLimits.display_name;
  return names.every(isName) ? names : undefined;
}
