/** Maps the columns of a file to the columns of a FOCUS version. */
import { columnsOfVersion, type FocusColumn, focusColumns } from "./columns.js";
import { renames } from "./renames.js";
import { type FocusVersion, isAtLeast } from "./version.js";

/** Custom columns of split charges. FOCUS has no columns for the original charge. */
export const SPLIT_ORIGIN_ID = "x_SplitOriginId";
export const SPLIT_ORIGIN_COST = "x_SplitOriginCost";

/** A column of the file. */
export interface WrittenColumn {
  readonly name: string;
  /** The engine's type of a Parquet column; null for CSV. */
  readonly type: string | null;
}

export interface FileColumn {
  readonly column: FocusColumn;
  readonly written: WrittenColumn;
  /** Position in the file, from 0. */
  readonly at: number;
}

/** Why a column of the file differs from the columns of the version. */
export type Oddity = "case" | "renamed" | "removed" | "newer" | "duplicate" | "unknown" | "custom";

export interface OddColumn {
  readonly name: string;
  readonly oddity: Oddity;
  /** The column of the version that it stands for. */
  readonly standsFor?: string;
}

export interface FocusFile {
  readonly version: FocusVersion;
  readonly written: readonly WrittenColumn[];
  /** The version's columns in the file, and the two custom columns of split charges. */
  readonly columns: readonly FileColumn[];
  readonly odd: readonly OddColumn[];
  has(name: string): boolean;
}

const originColumns: readonly FocusColumn[] = [
  { name: SPLIT_ORIGIN_ID, type: "String", level: "Conditional", nullable: true, since: "1.3" },
  { name: SPLIT_ORIGIN_COST, type: "Decimal", level: "Conditional", nullable: true, since: "1.3" },
];

export function readColumns(written: readonly WrittenColumn[], version: FocusVersion): FocusFile {
  const expected = new Map(
    [...columnsOfVersion(version), ...originColumns].map((column) => [column.name.toLowerCase(), column]),
  );
  const columns = new Map<string, FileColumn>();
  const odd: OddColumn[] = [];
  const names = new Set<string>();
  const renamed: (() => void)[] = [];
  for (const [at, each] of written.entries()) {
    const { name } = each;
    const key = name.trim().toLowerCase();
    const column = expected.get(key);
    const successor = successorOf(key, expected);
    if (names.has(key)) odd.push({ name, oddity: "duplicate" });
    else if (column !== undefined) {
      columns.set(column.name, { column, written: each, at });
      if (column.name !== name) odd.push({ name, oddity: "case", standsFor: column.name });
    } else if (successor !== undefined) {
      odd.push({ name, oddity: "renamed", standsFor: successor.name });
      // A file may have both names. The name of the version counts, whatever its position.
      renamed.push(() => {
        if (!columns.has(successor.name))
          columns.set(successor.name, { column: successor, written: each, at });
      });
    } else odd.push({ name, oddity: oddityOf(name, version) });
    names.add(key);
  }
  for (const take of renamed) take();
  return { version, written, columns: [...columns.values()], odd, has: (name) => columns.has(name) };
}

function successorOf(key: string, expected: ReadonlyMap<string, FocusColumn>): FocusColumn | undefined {
  const rename = renames.find(({ from }) => from.toLowerCase() === key);
  if (rename === undefined) return undefined;
  const to = rename.to.toLowerCase();
  return expected.get(to) ?? successorOf(to, expected);
}

function oddityOf(name: string, version: FocusVersion): Oddity {
  if (name.startsWith("x_")) return "custom";
  const known = focusColumns.find((column) => column.name.toLowerCase() === name.toLowerCase());
  if (known === undefined) return "unknown";
  return isAtLeast(version, known.since) ? "removed" : "newer";
}
