/** The columns of a FOCUS file that chargehouse writes: those of the version in their order, then our own and those of the bill. */

import type { ExportVersion } from "../../../config/export-versions.js";
import { columnsOf } from "../../../focus/columns.js";
import { SPLIT_ORIGIN_COST, SPLIT_ORIGIN_ID } from "../../../focus/file.js";

export interface FocusOutColumn {
  readonly name: string;
  readonly type: "String" | "Decimal" | "Date/Time" | "JSON";
  /** Name of the value in the statement, unless it is an own column of the bill. */
  readonly value: string;
  /** The name that the bill has for it. */
  readonly custom?: string;
}

/** What a version without columns for split charges has in columns of ours. */
const allocated = columnsOf("1.4").filter(({ name }) => name.startsWith("Allocated"));

/** @param billed names in the metadata of FOCUS lines, which no column of ours has */
export function focusOutColumns(version: ExportVersion, billed: readonly string[]): FocusOutColumn[] {
  const standard = columnsOf(version).map(({ name, type }) => ({ name, type, value: name }));
  const has = new Set(standard.map(({ name }) => name));
  const own: FocusOutColumn[] = [
    ...allocated.flatMap(({ name, type }) =>
      has.has(name) ? [] : [{ name: `x_${name}`, type, value: name }],
    ),
    { name: SPLIT_ORIGIN_COST, type: "Decimal", value: SPLIT_ORIGIN_COST },
    { name: SPLIT_ORIGIN_ID, type: "String", value: SPLIT_ORIGIN_ID },
  ];
  const taken = new Set(own.map(({ name }) => name.toLowerCase()));
  const customs = [...billed]
    .filter(isOfBill)
    .sort()
    .map((custom): FocusOutColumn => {
      const name = unique(customName(custom), taken);
      taken.add(name.toLowerCase());
      return { name, type: "String", value: "", custom };
    });
  return [...standard, ...[...own, ...customs].sort((a, b) => (a.name < b.name ? -1 : 1))];
}

const standardNames = new Set(columnsOf("1.4").map(({ name }) => name));

/** Not a column of the standard, or what the bill itself says of a split, which ours takes the place of. */
function isOfBill(name: string): boolean {
  return !standardNames.has(name) || name.startsWith("Allocated");
}

const LONGEST = 50;

/** As the standard wants the names of own columns: `x_` and PascalCase. Ours come first: the bill's of the same name are its origin's. */
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
    const tried = nth === 1 ? name : `${name.slice(0, LONGEST - String(nth).length)}${nth}`;
    if (!taken.has(tried.toLowerCase())) return tried;
  }
}
