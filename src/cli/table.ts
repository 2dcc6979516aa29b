/** Formats tables: as wide as their cells, or with one line per cell on a terminal that is too narrow. */
import type { Terminal } from "./command.js";

export interface TextTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Number of leading columns that identify a row. The others are numbers, which are right-aligned. */
  readonly keys: number;
}

export interface AmountRow {
  readonly currency: string;
  readonly cells: readonly string[];
}

/**
 * Adds the currency to a table of amounts: to the heads of the amounts if all rows have the same one, so that the table
 * stays narrow, otherwise as a column.
 */
function inCurrencies(
  { head, keys }: Omit<TextTable, "rows">,
  rows: readonly AmountRow[],
  amounts: readonly string[],
): TextTable {
  const [currency = "", ...others] = new Set(rows.map((row) => row.currency));
  if (others.length === 0) {
    const named = head.map((name) => (amounts.includes(name) ? `${name} ${currency}`.trimEnd() : name));
    return { head: named, rows: rows.map(({ cells }) => cells), keys };
  }
  const withCell = (cells: readonly string[], cell: string) => [
    ...cells.slice(0, keys),
    cell,
    ...cells.slice(keys),
  ];
  return {
    head: withCell(head, "CURRENCY"),
    rows: rows.map((row) => withCell(row.cells, row.currency)),
    keys: keys + 1,
  };
}

/** Writes amounts in several currencies as one table, or as one table per currency if the terminal is too narrow. */
export function writeAmounts(
  stdout: Terminal,
  table: Omit<TextTable, "rows">,
  rows: readonly AmountRow[],
  amounts: readonly string[],
): void {
  const combined = inCurrencies(table, rows, amounts);
  const currencies = [...new Set(rows.map(({ currency }) => currency))].sort();
  const parts = fits(stdout, widthsOf(combined))
    ? [combined]
    : currencies.map((each) =>
        inCurrencies(
          table,
          rows.filter(({ currency }) => currency === each),
          amounts,
        ),
      );
  for (const [at, part] of parts.entries()) {
    if (at > 0) stdout.write("\n");
    writeTable(stdout, part);
  }
}

/** Outside of a terminal, the table has its full width. */
export function writeTable(stdout: Terminal, table: TextTable): void {
  const widths = widthsOf(table);
  const lines = [table.head, ...table.rows].map((line) => inColumns(line, widths, table.keys));
  stdout.write(fits(stdout, widths) ? lines.join("") : inRecords(table));
}

function widthsOf({ head, rows }: TextTable): number[] {
  return head.map((_, column) => Math.max(...[head, ...rows].map((line) => line[column]?.length ?? 0)));
}

function fits({ isTTY, columns }: Terminal, widths: readonly number[]): boolean {
  return !isTTY || columns === undefined || widths.reduce((sum, each) => sum + each + 2, -2) <= columns;
}

function inColumns(line: readonly string[], widths: readonly number[], keys: number): string {
  const cells = line.map((cell, column) =>
    column < keys ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
  );
  return `${cells.join("  ").trimEnd()}\n`;
}

/** Writes the key columns of a row in one line and its numbers below, each with its column name. */
function inRecords({ head, rows, keys }: TextTable): string {
  const names = head.slice(keys);
  const name = Math.max(0, ...names.map((each) => each.length));
  return rows
    .map((row) => {
      const cells = row.slice(keys);
      const cell = Math.max(0, ...cells.map((each) => each.length));
      const lines = cells.map((each, at) => `  ${(names[at] ?? "").padEnd(name)}  ${each.padStart(cell)}\n`);
      return `${row.slice(0, keys).join("  ").trimEnd()}\n${lines.join("")}`;
    })
    .join("");
}
