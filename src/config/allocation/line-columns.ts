/**
 * The columns of a billing line that rules by configuration can name, each with its SQL on the staged bill. The five of all
 * ecosystems are here; an ecosystem adds those that its bill has (`EcosystemSettings.lineColumns`).
 */

export interface LineColumnSource {
  /** An expression on the columns of `billing`: fixed SQL, never made of what a person wrote. */
  readonly sql: string;
  /** `text`: empty when the bill does not say. `decimal`: can be compared by `above` and `below` alone. */
  readonly type: "text" | "decimal";
}

export type LineColumns = Readonly<Record<string, LineColumnSource>>;

/** Columns that the lines of every ecosystem have. */
const ofEveryLine: LineColumns = {
  resource_id: { sql: "resource_id", type: "text" },
  product_type: { sql: "product_type", type: "text" },
  product_category: { sql: "product_category", type: "text" },
  env_id: { sql: "env_id", type: "text" },
  currency: { sql: "currency", type: "text" },
};

/** All columns of an ecosystem's lines. */
export function columnsOfLines(own: LineColumns = {}): LineColumns {
  return { ...ofEveryLine, ...own };
}

/** The key of a name such as `tag.team`; undefined for a column. */
export function tagKeyOf(name: string): string | undefined {
  return name.startsWith("tag.") ? name.slice("tag.".length) : undefined;
}

/** What names a column or a tag in the configuration. */
export const LINE_COLUMN = {
  name: "COLUMN",
  pattern: "^(tag\\.[^\\u0000-\\u001f\\u007f]{1,500}|[A-Za-z][A-Za-z0-9_]{0,99})$",
  expected: "a column of the lines, such as product_type, or a tag, such as tag.team",
};
