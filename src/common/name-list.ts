/**
 * Names in one text, separated by commas. In a name, `\,` and `\\` mean a comma and a backslash; any other backslash
 * means itself.
 */

export function joinNames(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\,]/g, "\\$&")).join(",");
}

/** Splits at commas that are not escaped: `a\,b,c` becomes `a,b` and `c`. */
export function splitNames(text: string): string[] {
  const names = [""];
  for (const [piece] of text.matchAll(/\\[\\,]|./gsu)) {
    if (piece === ",") names.push("");
    else names[names.length - 1] += piece.length > 1 && piece.startsWith("\\") ? piece.slice(1) : piece;
  }
  return names;
}
