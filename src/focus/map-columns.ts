/** Maps the columns of a file to the columns of a FOCUS version. */
import { columnsOfVersion, type FocusColumn, focusColumns } from "./columns.js";
import { renames } from "./renames.js";
import { type FocusVersion, isAtLeast } from "./version.js";

/** Custom columns of split charges. FOCUS has no columns for the original charge. */
export const SPLIT_ORIGIN_ID = "x_SplitOriginId";
export const SPLIT_ORIGIN_COST = "x_SplitOriginCost";

/** A column as it is in the file. */
export interface SourceColumn {
  readonly name: string;
  /** The engine's type of a Parquet column; null for CSV. */
  readonly type: string | null;
}

export interface MappedColumn {
  readonly column: FocusColumn;
  readonly source: SourceColumn;
  /** Position in the file, from 0. */
  readonly index: number;
}

/** How a column of the file differs from the columns of the version. */
export type DifferenceKind = "case" | "renamed" | "removed" | "newer" | "duplicate" | "unknown" | "custom";

export interface ColumnDifference {
  readonly name: string;
  readonly kind: DifferenceKind;
  /** The column of the version that it stands for. */
  readonly standsFor?: string;
}

export interface FocusFile {
  readonly version: FocusVersion;
  readonly sourceColumns: readonly SourceColumn[];
  /** The version's columns in the file, and the two custom columns of split charges. */
  readonly columns: readonly MappedColumn[];
  readonly differences: readonly ColumnDifference[];
  has(name: string): boolean;
}

const originColumns: readonly FocusColumn[] = [
  { name: SPLIT_ORIGIN_ID, type: "String", level: "Conditional", nullable: true, since: "1.3" },
  { name: SPLIT_ORIGIN_COST, type: "Decimal", level: "Conditional", nullable: true, since: "1.3" },
];

export function mapColumns(sourceColumns: readonly SourceColumn[], version: FocusVersion): FocusFile {
  const expected = new Map(
    [...columnsOfVersion(version), ...originColumns].map((column) => [column.name.toLowerCase(), column]),
  );
  const columns = new Map<string, MappedColumn>();
  const differences: ColumnDifference[] = [];
  const names = new Set<string>();
  /** Applied last, so that a column with the current name wins, whatever its position. */
  const applyRenamed: (() => void)[] = [];
  for (const [index, source] of sourceColumns.entries()) {
    const { name } = source;
    const key = name.trim().toLowerCase();
    const column = expected.get(key);
    const successor = successorOf(key, expected);
    if (names.has(key)) differences.push({ name, kind: "duplicate" });
    else if (column !== undefined) {
      columns.set(column.name, { column, source, index });
      if (column.name !== name) differences.push({ name, kind: "case", standsFor: column.name });
    } else if (successor !== undefined) {
      differences.push({ name, kind: "renamed", standsFor: successor.name });
      applyRenamed.push(() => {
        if (!columns.has(successor.name)) columns.set(successor.name, { column: successor, source, index });
      });
    } else differences.push({ name, kind: differenceOf(name, version) });
    names.add(key);
  }
  for (const apply of applyRenamed) apply();
  return {
    version,
    sourceColumns,
    columns: [...columns.values()],
    differences,
    has: (name) => columns.has(name),
  };
}

function successorOf(key: string, expected: ReadonlyMap<string, FocusColumn>): FocusColumn | undefined {
  const rename = renames.find(({ from }) => from.toLowerCase() === key);
  if (rename === undefined) return undefined;
  const to = rename.to.toLowerCase();
  return expected.get(to) ?? successorOf(to, expected);
}

function differenceOf(name: string, version: FocusVersion): DifferenceKind {
  if (name.startsWith("x_")) return "custom";
  const known = focusColumns.find((column) => column.name.toLowerCase() === name.toLowerCase());
  if (known === undefined) return "unknown";
  return isAtLeast(version, known.since) ? "removed" : "newer";
}
