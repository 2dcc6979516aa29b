/** Quotes a cell that a reader of CSV would otherwise cut, trim or take for several. The text has no line breaks. */
export function csvCell(text: string): string {
  return /[",;|]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
