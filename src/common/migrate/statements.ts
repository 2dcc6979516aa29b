/** Splits an SQL file into statements, because ClickHouse's HTTP interface takes one at a time. */

/** Strings, quoted names and comments, whose semicolons do not end a statement. Then the semicolon that does. */
const TOKEN =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S])*"|`(?:[^`\\]|\\[\s\S])*`|--[^\n]*|\/\*[\s\S]*?\*\/|;/g;
const COMMENTS_AND_BLANKS = /--[^\n]*|\/\*[\s\S]*?\*\/|\s/g;

/** Returns statements without their semicolons. A comment belongs to the statement that follows it. */
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
