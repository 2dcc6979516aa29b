/** The columns of a FOCUS file that chargehouse writes: the version's columns in order, then our own and the bill's. */
import type { ExportVersion } from "../../domain/export-versions.js";
import { columnsOf, SPLIT_ORIGIN_COST, SPLIT_ORIGIN_ID } from "../../focus/index.js";

export interface FocusOutColumn {
  readonly name: string;
  readonly type: "String" | "Decimal" | "Date/Time" | "JSON";
  /** Name of the value in the statement. Empty for a custom column of the bill. */
  readonly value: string;
  /** Name of the column in the bill. */
  readonly custom?: string;
}

/** Split columns of FOCUS 1.4. Versions without them get the same values as custom columns. */
const allocated = columnsOf("1.4").filter(({ name }) => name.startsWith("Allocated"));

/** @param billed names in the metadata of FOCUS lines, which none of our columns have */
export function focusOutColumns(version: ExportVersion, billed: readonly string[]): FocusOutColumn[] {
  const standard = columnsOf(version).map(({ name, type }) => ({ name, type, value: name }));
  const standardColumns = new Set(standard.map(({ name }) => name));
  const ownColumns: FocusOutColumn[] = [
    ...allocated.flatMap(({ name, type }) =>
      standardColumns.has(name) ? [] : [{ name: `x_${name}`, type, value: name }],
    ),
    { name: SPLIT_ORIGIN_COST, type: "Decimal", value: SPLIT_ORIGIN_COST },
    { name: SPLIT_ORIGIN_ID, type: "String", value: SPLIT_ORIGIN_ID },
  ];
  const taken = new Set(ownColumns.map(({ name }) => name.toLowerCase()));
  const customs = [...billed]
    .filter(isCustom)
    .sort()
    .map((custom): FocusOutColumn => {
      const name = unique(customName(custom), taken);
      taken.add(name.toLowerCase());
      return { name, type: "String", value: "", custom };
    });
  return [...standard, ...[...ownColumns, ...customs].sort((a, b) => (a.name < b.name ? -1 : 1))];
}

const standardNames = new Set(columnsOf("1.4").map(({ name }) => name));

/**
 * False for columns of the standard. True for the bill's own split columns, since ours replace them under the
 * standard's name.
 */
function isCustom(name: string): boolean {
  return !standardNames.has(name) || name.startsWith("Allocated");
}

const LONGEST = 50;

/**
 * Makes a name as the standard requires for custom columns: `x_` and PascalCase. Columns of the bill that clash with
 * ours get `Origin`.
 */
function customName(name: string): string {
  const plain = name.replace(/^x_/i, "");
  const isOurs = plain.startsWith("Allocated") || plain.startsWith("SplitOrigin");
  const words = plain.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const pascal = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("");
  const base = `${isOurs ? "Origin" : ""}${/^[A-Z]/.test(pascal) ? "" : "Column"}${pascal}`;
  return `x_${base}`.slice(0, LONGEST);
}

function unique(name: string, taken: ReadonlySet<string>): string {
  for (let nth = 1; ; nth += 1) {
    const candidate = nth === 1 ? name : `${name.slice(0, LONGEST - String(nth).length)}${nth}`;
    if (!taken.has(candidate.toLowerCase())) return candidate;
  }
}
