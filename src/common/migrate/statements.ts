/**
 * The statements of an SQL file, one by one: ClickHouse's HTTP interface takes one at a time.
 */

/** What may hold a semicolon that ends nothing: strings, quoted names, comments. Then the semicolon itself. */
const TOKEN =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S])*"|`(?:[^`\\]|\\[\s\S])*`|--[^\n]*|\/\*[\s\S]*?\*\/|;/g;
const COMMENTS_AND_BLANKS = /--[^\n]*|\/\*[\s\S]*?\*\/|\s/g;

/** Statements without their semicolons; comments stay with the statement they precede, and are none by themselves. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let start = 0;
  const add = (end: number) => {
    const text = sql.slice(start, end);
    if (text.replace(COMMENTS_AND_BLANKS, "") !== "") statements.push(text.trim());
  };
  for (const match of sql.matchAll(TOKEN)) {
    if (match[0] !== ";") continue;
    add(match.index);
    start = match.index + 1;
  }
  add(sql.length);
  return statements;
}
