/**
 * The columns of a billing line that configured rules can name, each with its SQL on the staged bill. The five that
 * every ecosystem has are here. An ecosystem adds its own with `EcosystemSettings.lineColumns`.
 */

export interface RuleColumnSource {
  /** An expression on the columns of `billing`. It is fixed SQL and never contains user input. */
  readonly sql: string;
  /** `text` is empty if the bill has no value. `decimal` supports `above` and `below` only. */
  readonly type: "text" | "decimal";
}

export type RuleColumns = Readonly<Record<string, RuleColumnSource>>;

/** Columns that the lines of every ecosystem have. */
const ofEveryLine: RuleColumns = {
  resource_id: { sql: "resource_id", type: "text" },
  product_type: { sql: "product_type", type: "text" },
  product_category: { sql: "product_category", type: "text" },
  env_id: { sql: "env_id", type: "text" },
  currency: { sql: "currency", type: "text" },
};

export function ruleColumns(own: RuleColumns = {}): RuleColumns {
  return { ...ofEveryLine, ...own };
}

/**
 * Prefix of columns that the configuration declares, `column:model`. Lines keep their values with the tags, under keys
 * with this prefix.
 */
export const COLUMN_PREFIX = "column:";

/** Returns the key of a name such as `tag.team`, or undefined for a column. */
export function tagKeyOf(name: string): string | undefined {
  return name.startsWith("tag.") ? name.slice("tag.".length) : undefined;
}

/** The syntax of column and tag names in the configuration. */
export const RULE_COLUMN = {
  name: "COLUMN",
  pattern: "^(tag\\.[^\\u0000-\\u001f\\u007f]{1,500}|[A-Za-z][A-Za-z0-9_]{0,99})$",
  expected: "a column of the lines, such as product_type, or a tag, such as tag.team",
};
