/** What an aggregation reads: the rows and columns that its statements have in common. */
import type { Params } from "../../store/clickhouse/statement.js";
import { knownNames, type NameColumn, nameSql, teamLookup } from "../inventory/names.js";
import { isLineTagColumn, isTagColumn, type LineTagColumn, type TagColumn, tagKey } from "../tags/filter.js";
import { tagLookup } from "../tags/lookup.js";
import type { TimeBucket } from "../time/bucket.js";
import type { DateWindow } from "../time/date-window.js";
import type { ChargebackFilters } from "./scan.js";
import { cloudColumns, filtered, lineTagSql, rowsInWindow, type SummedRows, summedRows } from "./scan.js";

/** What can be grouped by besides tags, and the column it is. */
export const groupColumns = {
  identity_id: "identity_id",
  resource_id: "resource_id",
  product_type: "product_type",
  product_category: "product_category",
  cost_type: "cost_type",
  allocation_method: "allocation_method",
  allocation_detail: "allocation_detail",
  environment_id: "env_id",
  currency: "currency",
  ...cloudColumns,
} as const;
export const TEAM = "team";
export type GroupColumn = keyof typeof groupColumns | typeof TEAM | TagColumn | LineTagColumn;

export interface AggregateInput {
  readonly window: DateWindow;
  readonly filters: ChargebackFilters;
  /** In the order in which buckets are sorted. Repetitions are taken once. */
  readonly groupBy: readonly GroupColumn[];
  readonly timeBucket: TimeBucket;
}

export interface SourceColumn {
  /** What rows are grouped by: a column of the table, or a number that orders like the text it stands for. */
  readonly key: string;
  /** Column of the table that the key is, or is looked up by, and that a table of sums may have; a tag has none. */
  readonly column?: string;
  /** Its text, from the expression of the key. */
  text(key: string): string;
  /** For a key that is a number: how many there are of it. They begin with 1. */
  readonly places?: string;
  /** Its display name, from the expression of the key. */
  name?(key: string): string;
}

/** Columns of ids, and what is known by them. Environments are resources. */
const namesOf: Readonly<Partial<Record<GroupColumn, NameColumn>>> = {
  identity_id: "identity_name",
  resource_id: "resource_name",
  environment_id: "resource_name",
};

/** Whether buckets say what this column's values are called. */
export function hasNames(column: GroupColumn): boolean {
  return namesOf[column] !== undefined;
}

export interface AggregateSource {
  /** Those asked for, and behind them the currency unless it is one of them: no sum is of two. */
  readonly columns: readonly SourceColumn[];
  /** Which of the columns is the currency. */
  readonly currencyAt: number;
  /** Stand behind the WITH of the whole statement. */
  readonly names: readonly string[];
  /** What names of buckets need besides. */
  readonly bucketNames: readonly string[];
  readonly params: Params;
  /** What is read: sums where a table of sums has all the columns. */
  readonly rows: SummedRows;
  /** What stands behind WHERE. */
  readonly condition: string;
  /** The condition leaves out rows of the window. */
  readonly isFiltered: boolean;
}

export function aggregateSource({ window, filters, groupBy }: AggregateInput): AggregateSource {
  const lookups: ReturnType<typeof tagLookup>[] = [];
  const lineTags: Record<string, string> = {};
  const grouped = distinctColumns([...groupBy, "currency"]);
  const columns = grouped.map((name, index): SourceColumn => {
    if (name === TEAM)
      return {
        key: teamLookup.position,
        column: "identity_id",
        text: (key) => `${teamLookup.teams}[${key}]`,
        places: `length(${teamLookup.teams})`,
      };
    if (isLineTagColumn(name)) {
      const param = `line_tag_c${index}`;
      lineTags[param] = tagKey(name);
      return { key: lineTagSql(`{${param}:String}`), text: (key) => key };
    }
    if (!isTagColumn(name)) return storedColumn(name);
    const lookup = tagLookup(tagKey(name), `c${index}`);
    lookups.push(lookup);
    const { displayNames, position } = lookup;
    return {
      key: position,
      text: (key) => `${displayNames}[${key}]`,
      places: `length(${displayNames})`,
    };
  });
  const keys = ["timestamp", "cost_type", ...columns.map(({ key, column = key }) => column)];
  const inWindow = rowsInWindow(window);
  const wanted = filtered(filters);
  return {
    columns,
    currencyAt: grouped.indexOf("currency"),
    rows: summedRows(keys, filters),
    names: [
      ...wanted.names,
      ...(groupBy.includes(TEAM) ? teamLookup.names : []),
      ...lookups.flatMap((lookup) => lookup.names),
    ],
    bucketNames: knownNames(
      groupBy.flatMap((name) => namesOf[name] ?? []),
      givenIds(filters, groupBy),
    ),
    condition: inWindow.condition + wanted.condition,
    isFiltered: wanted.condition !== "",
    params: Object.assign(
      {},
      inWindow.params,
      wanted.params,
      lineTags,
      ...lookups.map(({ params }) => params),
    ),
  };
}

/** Ids that are filtered by: rows have no others. What environments are called stands among the resources as well. */
function givenIds({ identity_id, resource_id }: ChargebackFilters, groupBy: readonly GroupColumn[]) {
  const hasOthers = groupBy.includes("environment_id");
  return [
    ...(identity_id === undefined ? [] : (["identity_id"] as const)),
    ...(resource_id !== undefined && !hasOthers ? (["resource_id"] as const) : []),
  ];
}

function storedColumn(name: keyof typeof groupColumns): SourceColumn {
  const column = groupColumns[name];
  const known = namesOf[name];
  return {
    key: column,
    column,
    text: (key: string) => key,
    ...(known && { name: (key: string) => nameSql(known, key) }),
  };
}

export function distinctColumns(groupBy: readonly GroupColumn[]): GroupColumn[] {
  return [...new Set(groupBy)];
}
