/**
 * Types of checks. Checks are data: `all-checks.ts` lists them, the reference page documents them, and a test has a file
 * for each.
 */
import type { FocusFile, MappedColumn } from "../map-columns.js";

export type Check = ColumnsCheck | RowsCheck | GroupsCheck;

export interface CheckText {
  readonly id: string;
  /** An error violates a rule of the standard; a warning violates a recommendation, or a tolerance of ours. */
  readonly level: "error" | "warning";
  /** Description of the problem that the check finds. */
  readonly what: string;
}

/** A check of column names and types. */
export interface ColumnsCheck extends CheckText {
  readonly kind: "columns";
  find(file: FocusFile): readonly ColumnFinding[];
}

export interface ColumnFinding {
  readonly column: string;
  /** Details in addition to the column's name. */
  readonly value?: string;
}

/** A check of single rows. */
export interface RowsCheck extends CheckText {
  readonly kind: "rows";
  conditions(file: FocusFile): readonly CheckCondition[];
}

export interface CheckCondition {
  readonly column: string;
  /** SQL condition over the columns of a row that is true if the row violates the check. Null is no violation. */
  readonly violated: string;
  /** SQL of the text to show. Default: the column as it is in the file. */
  readonly value?: string;
}

/** A check of groups of rows. */
export interface GroupsCheck extends CheckText {
  readonly kind: "groups";
  groups(file: FocusFile): readonly CheckGroup[];
}

export interface CheckGroup {
  readonly column: string;
  /** SQL of the violations: `row` is the first row of each group, `value` the text to show. */
  readonly query: string;
}

/** A rule between columns. It is checked if the file has all columns that the rule uses. */
export interface CheckRule extends CheckCondition {
  readonly uses: readonly string[];
}

export function rulesOf(rules: readonly CheckRule[]): RowsCheck["conditions"] {
  return (file) => rules.filter(({ uses }) => uses.every((name) => file.has(name)));
}

/** Applies a condition to each matching column. */
export function forColumns(
  applies: (column: MappedColumn["column"], file: FocusFile) => boolean,
  violated: (name: string) => string,
): RowsCheck["conditions"] {
  return (file) =>
    file.columns
      .filter(({ column }) => applies(column, file))
      .map(({ column: { name } }) => ({ column: name, violated: violated(name) }));
}
