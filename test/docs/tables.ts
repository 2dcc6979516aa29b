/** Tables of documentation pages. */

/** Returns the rows of the table whose first column has this title. */
export function markdownTable(page: string, title: string): string[][] {
  const lines = page.split("\n");
  const head = lines.findIndex((line) => line.startsWith(`| ${title} |`));
  if (head < 0) throw new Error(`the page has no table with ${title}`);
  const end = lines.findIndex((line, at) => at > head && !line.startsWith("|"));
  return lines.slice(head + 2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
