/**
 * The setting `columns`: columns of the bill, and values in its JSON columns, that lines and chargebacks keep. Their
 * values are stored with the tags of a line, under `column:NAME`.
 */
import { type Static, Type } from "@sinclair/typebox";
import { identifier, literal } from "../../../clickhouse/sql-text.js";
import { nearest } from "../../../common/nearest.js";
import { eitherKind, list, mapping, type Rule, text } from "../../../config/reader/setting.js";
import { factTableColumns } from "../../../domain/fact-tables.js";
import { COLUMN_PREFIX, type RuleColumns, ruleColumns } from "../../../domain/rule-columns.js";
import { standardLineColumns } from "./line-columns.js";
import { landingColumnOf, landingColumns, otherStandardNames } from "./load/landing-columns.js";

const NAME = {
  pattern: "^[A-Za-z][A-Za-z0-9_]{0,99}$",
  expected: "1 to 100 letters, digits and `_`, starting with a letter",
};

const path = Type.Unsafe<string | string[]>(
  eitherKind(
    [
      text({ description: "Names with dots between them.", maxLength: 1000 }),
      list(text({ description: "A name, which may have dots.", maxLength: 500 }), {
        description: "The same names as a list.",
        minItems: 1,
        maxItems: 10,
      }),
    ],
    {
      description:
        "A column, and the keys to a value in its JSON: `SkuPriceDetails.ModelId`. A list of names is for keys with " +
        "dots: `[AllocatedTags, app.kubernetes.io/name]`.",
      expected: "a text or a list of texts",
    },
  ),
);

const declaration = Type.Unsafe<string | { name: string; path: string | string[] }>(
  eitherKind(
    [
      text({ description: "A column of the bill.", ...NAME, expected: `a column: ${NAME.expected}` }),
      mapping(
        { name: text({ description: "The name that rules, filters and groups use.", ...NAME }), path },
        { description: "A column under a name of its own, or a value in a JSON column." },
      ),
    ],
    { description: "A column, or a name and a path.", expected: "a column, or a mapping of name and path" },
  ),
);

export const columnsSetting = list(declaration, {
  description:
    "Columns of the bill that lines and chargebacks keep, beyond those that they have anyway. They can be filtered and " +
    "grouped by as `column:NAME`, and rules can name them.",
  maxItems: 32,
  default: [],
});

export type Declarations = Static<typeof columnsSetting>;

interface DeclaredColumn {
  readonly name: string;
  /** The column's name in the standard if it has one; otherwise as it is written in the configuration. */
  readonly column: string;
  /** Keys of JSON objects that lead to the value. Empty for the column itself. */
  readonly keys: readonly string[];
}

function declaredColumn(declared: Declarations[number]): DeclaredColumn {
  const written = typeof declared === "string" ? declared : declared.path;
  const [first = "", ...keys] = typeof written === "string" ? written.split(".") : written;
  const column = standardName(first);
  return { name: typeof declared === "string" ? column : declared.name, column, keys };
}

function standardName(name: string): string {
  const other = otherStandardNames.find((each) => each.toLowerCase() === name.toLowerCase());
  return landingColumnOf(name)?.name ?? other ?? name;
}

/** Columns that rules can name by these declarations. */
export function declaredLineColumns(declarations: Declarations): RuleColumns {
  const names = declarations.map((each) => declaredColumn(each).name);
  return Object.fromEntries(
    names
      .filter((name) => !Object.hasOwn(standardLineColumns, name))
      .map((name) => [name, { sql: `line_tags[${literal(`${COLUMN_PREFIX}${name}`)}]`, type: "text" }]),
  );
}

/** SQL of the tags of a line, with the declared columns that have a value. Keys are in byte order. */
export function lineTagsSql(declarations: Declarations): string {
  if (declarations.length === 0) return "Tags";
  const columns = declarations.map(declaredColumn);
  const key = ({ name }: DeclaredColumn) => literal(`${COLUMN_PREFIX}${name}`);
  // A tag of the bill never passes for a column, so that nobody can set one by tagging a resource.
  const tags = `mapFilter((k, v) -> k NOT IN (${columns.map(key).join(", ")}), CAST(Tags AS Map(String, String)))`;
  const values = columns.map((column) => `${key(column)}, ${valueSql(column)}`);
  const kept = `mapFilter((k, v) -> v != '', map(${values.join(", ")}))`;
  return `CAST(mapSort(mapConcat(${tags}, ${kept})) AS Map(String, String))`;
}

/** SQL of a value as text; empty if the line has none, or if its JSON is malformed. */
function valueSql({ column, keys }: DeclaredColumn): string {
  if (keys.length === 0) return columnSql(column);
  const place = [columnSql(column), ...keys.map(literal)].join(", ");
  const raw = `JSONExtractRaw(${place})`;
  return `if(${raw} = 'null', '', if(startsWith(${raw}, '"'), JSONExtractString(${place}), ${raw}))`;
}

function columnSql(name: string): string {
  const landing = landingColumnOf(name);
  if (landing?.kind === "instant")
    return `ifNull(formatDateTime(${identifier(landing.name)}, '%Y-%m-%dT%H:%i:%SZ', 'UTC'), '')`;
  if (landing !== undefined) return `toString(${identifier(landing.name)})`;
  // If several columns have the name in different cases, the one in the case of the declaration counts.
  const exact = `custom_columns[${literal(name)}]`;
  const sameName = `(v, k) -> lowerUTF8(k) = ${literal(name.toLowerCase())}`;
  return `if(${exact} != '', ${exact}, arrayFirst(${sameName}, mapValues(custom_columns), mapKeys(custom_columns)))`;
}

/** Names that mean something else in rules or in lists of lines and chargebacks. */
const reserved: ReadonlySet<string> = new Set(
  [
    "any",
    ...Object.keys(ruleColumns(standardLineColumns)),
    ...Object.keys(factTableColumns.billing),
    ...Object.keys(factTableColumns.chargebacks),
  ].map((name) => name.toLowerCase()),
);

const standardNames = [...landingColumns.map(({ name }) => name), ...otherStandardNames];

/** Mistyped names of the standard differ in no more letters. Columns of other names are the bill's own. */
const MOST_TYPOS = 2;

export const columnsRule: Rule<{ columns: Declarations }> = {
  rule:
    "A name in `columns` is unique in any case, and no other column of lines or chargebacks has it. Columns are texts. " +
    "Only JSON has keys.",
  check({ columns = [] }, report) {
    const names = new Set<string>();
    for (const [index, declared] of columns.entries()) {
      const isText = typeof declared === "string";
      // A declaration with a problem of its own is missing, or lacks a key.
      if (declared === undefined || (!isText && !isWhole(declared))) continue;
      const { name, column, keys } = declaredColumn(declared);
      const problem = columnProblem(column, keys);
      if (problem !== undefined) report(["columns", index, ...(isText ? [] : ["path"])], problem);
      const isItself = keys.length === 0 && name === column && standardNames.includes(column);
      const here = ["columns", index, ...(isText ? [] : ["name"])];
      if (names.has(name.toLowerCase())) report(here, "is declared before");
      else if (reserved.has(name.toLowerCase()) && !isItself)
        report(here, "is the name of another column of the lines or of their chargebacks");
      names.add(name.toLowerCase());
    }
  },
};

/** False for a mapping that could be read only in part. */
function isWhole({ name, path }: Partial<Exclude<Declarations[number], string>>): boolean {
  return name !== undefined && [path].flat().every((each) => each !== undefined);
}

function columnProblem(column: string, keys: readonly string[]): string | undefined {
  const landing = landingColumnOf(column);
  if (column === "" || keys.includes("")) return "has an empty name";
  if (landing?.kind === "tags") return "is kept anyway: group and filter by `line_tag:KEY`";
  if (landing?.kind === "number" || landing?.kind === "cost")
    return "is a number, and lines are grouped by texts";
  if (keys.length > 0 && landing !== undefined && landing.kind !== "json")
    return `reads keys of ${column}, which is not JSON`;
  if (standardNames.includes(column) || column.includes("_")) return undefined;
  const guess = nearest(column, standardNames, MOST_TYPOS);
  return guess === undefined ? undefined : `is no column of FOCUS; did you mean \`${guess}\`?`;
}
