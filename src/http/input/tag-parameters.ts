/**
 * Reads the tag filters of a request: parameters whose names begin with `tag:`, `line_tag:` or `column:`, also after
 * `not:`. Their values are display names.
 */
import type { TSchema } from "@sinclair/typebox";
import { COLUMN_PREFIX } from "../../domain/rule-columns.js";
import {
  isLineTagColumn,
  isTagColumn,
  LINE_TAG_PREFIX,
  TAG_PREFIX,
  type TagFilter,
  tagKey,
  tagNamesOf,
} from "../../query/tags/filter.js";
import { NOT } from "../../query/value-filters.js";
import type { InputProblem } from "../errors.js";

/** Maximum per request. Each filter makes the store read the tenant's tags. */
const MOST_TAG_FILTERS = 20;

const EXPECTED =
  "the key of a tag (1 to 100 characters, no control characters), with display names of 1 to 500 characters, separated by commas";

/** Returns the name of the property that stands for all tag parameters; undefined if the schema has none. */
export function prefixedProperty(properties: Readonly<Record<string, TSchema>>): string | undefined {
  return Object.keys(properties).find((name) => properties[name]?.["x-prefix"] === TAG_PREFIX);
}

export function isTagParameter(name: string): boolean {
  return prefixOf(columnOf(name)) !== undefined;
}

const prefixes = [TAG_PREFIX, LINE_TAG_PREFIX, COLUMN_PREFIX];

function prefixOf(column: string): string | undefined {
  return prefixes.find((prefix) => column.startsWith(prefix));
}

function columnOf(name: string): string {
  return name.startsWith(NOT) ? name.slice(NOT.length) : name;
}

/** Whether a body has tag filters. */
export function hasTagParameters(body: unknown): boolean {
  return typeof body === "object" && body !== null && Object.keys(body).some(isTagParameter);
}

/** Undefined if there are no tag filters. Adds to `problems` what is wrong with them. */
export function readTagParameters(
  parameters: Readonly<Record<string, unknown>>,
  where: "query" | "body",
  problems: InputProblem[],
): readonly TagFilter[] | undefined {
  const texts = Object.entries(parameters)
    .filter(([name]) => isTagParameter(name))
    .flatMap(([name, value]) => {
      const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
      // An empty list is an invalid value, not a missing filter: it yields a problem below.
      return (texts.length === 0 ? [undefined] : texts).map((text): [string, unknown] => [name, text]);
    });
  if (texts.length === 0) return undefined;
  if (texts.length > MOST_TAG_FILTERS) {
    const detail = `\`${TAG_PREFIX}KEY\` must be given at most ${MOST_TAG_FILTERS} times.`;
    problems.push({ in: where, name: TAG_PREFIX, detail, code: "invalid" });
    return undefined;
  }
  return texts.flatMap(([name, text]) => {
    const displayNames = typeof text === "string" && !text.includes("\0") ? tagNamesOf(text) : undefined;
    const isExcluding = name.startsWith(NOT);
    const column = columnOf(name);
    if (displayNames !== undefined && isTagColumn(column))
      return [{ key: tagKey(column), displayNames, isExcluding }];
    if (displayNames !== undefined && isLineTagColumn(column))
      return [{ key: tagKey(column), displayNames, isExcluding, isOfLine: true }];
    problems.push({
      in: where,
      name: name.slice(0, 64),
      detail: `\`${prefixOf(column)}KEY\` must be ${EXPECTED}.`,
      code: "invalid",
    });
    return [];
  });
}
