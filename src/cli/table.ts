/** Tables of a command's result: as wide as their cells, or, on a terminal that is narrower than that, one line for each cell. */
import type { Terminal } from "./command.js";

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** So many columns from the left say what a row is about; the others hold numbers, which stand at the right. */
  readonly keys: number;
}

export interface AmountRow {
  readonly currency: string;
  readonly cells: readonly string[];
}

/**
 * A table of amounts that names their currency: behind the heads of the amounts where all rows have the same one, so that the table stays
 * narrow; else in a column of its own.
 */
function inCurrencies(
  { head, keys }: Omit<Table, "rows">,
  rows: readonly AmountRow[],
  amounts: readonly string[],
): Table {
  const [currency = "", ...others] = new Set(rows.map((row) => row.currency));
  if (others.length === 0) {
    const named = head.map((name) => (amounts.includes(name) ? `${name} ${currency}`.trimEnd() : name));
    return { head: named, rows: rows.map(({ cells }) => cells), keys };
  }
  const placed = (cells: readonly string[], cell: string) => [
    ...cells.slice(0, keys),
    cell,
    ...cells.slice(keys),
  ];
  return {
    head: placed(head, "CURRENCY"),
    rows: rows.map((row) => placed(row.cells, row.currency)),
    keys: keys + 1,
  };
}

/** Amounts in several currencies are one table, or one for each currency where the terminal is too narrow for that. */
export function writeAmounts(
  stdout: Terminal,
  table: Omit<Table, "rows">,
  rows: readonly AmountRow[],
  amounts: readonly string[],
): void {
  const whole = inCurrencies(table, rows, amounts);
  const currencies = [...new Set(rows.map(({ currency }) => currency))].sort();
  const parts = fits(stdout, widthsOf(whole))
    ? [whole]
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

/** Where the output is no terminal a table is as wide as it has to be. */
export function writeTable(stdout: Terminal, table: Table): void {
  const widths = widthsOf(table);
  const lines = [table.head, ...table.rows].map((line) => inColumns(line, widths, table.keys));
  stdout.write(fits(stdout, widths) ? lines.join("") : inRecords(table));
}

function widthsOf({ head, rows }: Table): number[] {
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

/** What a row is about in one line, its numbers below, each with the head of its column. */
function inRecords({ head, rows, keys }: Table): string {
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
