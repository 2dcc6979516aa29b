/** Tables of a command's result: as wide as their cells, or, on a terminal that is narrower than that, one line for each cell. */
import type { Terminal } from "./command.js";

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** So many columns from the left say what a row is about; the others hold numbers, which stand at the right. */
  readonly keys: number;
}

/** Where the output is no terminal a table is as wide as it has to be. */
export function writeTable(stdout: Terminal, table: Table): void {
  const lines = [table.head, ...table.rows];
  const widths = table.head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const width = widths.reduce((sum, each) => sum + each + 2, -2);
  const fits = !stdout.isTTY || stdout.columns === undefined || width <= stdout.columns;
  stdout.write(fits ? lines.map((line) => inColumns(line, widths, table.keys)).join("") : inRecords(table));
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
