/** What a check is. All of them are data: `checks.ts` lists them, the reference page names each, and a test has a file for each. */
import type { FileColumn, FocusFile } from "../file.js";

export type Check = ColumnsCheck | RowsCheck | GroupsCheck;

export interface CheckText {
  readonly id: string;
  /** An error breaks a rule of the standard; a warning, a recommendation of it or a tolerance of ours. */
  readonly level: "error" | "warning";
  /** What is wrong where the check finds something, in plain words. */
  readonly what: string;
}

/** Decided by the names and types of the columns alone. */
export interface ColumnsCheck extends CheckText {
  readonly kind: "columns";
  find(file: FocusFile): readonly ColumnFound[];
}

export interface ColumnFound {
  readonly column: string;
  /** What tells more than the column's name. */
  readonly value?: string;
}

/** Decided by each row for itself. */
export interface RowsCheck extends CheckText {
  readonly kind: "rows";
  conditions(file: FocusFile): readonly Condition[];
}

export interface Condition {
  readonly column: string;
  /** SQL over the columns of a row, true where the check is violated. Null is not violated. */
  readonly violated: string;
  /** SQL of the text that shows it; by default the column as the file has it. */
  readonly value?: string;
}

/** Decided by several rows together. */
export interface GroupsCheck extends CheckText {
  readonly kind: "groups";
  groups(file: FocusFile): readonly Group[];
}

export interface Group {
  readonly column: string;
  /** SQL of what violates the check: `row`, the first one of each group, and `value`, what shows it. */
  readonly query: string;
}

/** A rule between columns: it is checked where the file has all that it uses. */
export interface Rule extends Condition {
  readonly uses: readonly string[];
}

export function rulesOf(rules: readonly Rule[]): RowsCheck["conditions"] {
  return (file) => rules.filter(({ uses }) => uses.every((name) => file.has(name)));
}

/** The same condition for each column of a kind. */
export function forColumns(
  applies: (column: FileColumn["column"], file: FocusFile) => boolean,
  violated: (name: string) => string,
): RowsCheck["conditions"] {
  return (file) =>
    file.columns
      .filter(({ column }) => applies(column, file))
      .map(({ column: { name } }) => ({ column: name, violated: violated(name) }));
}
