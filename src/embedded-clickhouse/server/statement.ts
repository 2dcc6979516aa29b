/**
 * Classifies the statement of a request, and finds where our own clauses go in it. Kinds differ in how they run:
 * - `rows`: has output, which goes through a named pipe (`INTO OUTFILE`), hence `clauseAt`.
 * - `insert-data`: INSERT … FORMAT x or VALUES with data after it. The data is spooled, and read `FROM INFILE`.
 * - `insert-input`: INSERT … SELECT … FROM input('…') FORMAT x, whose data is sent separately, as a body. It is spooled
 *   as well, and read by `file`.
 * - `write`: any other INSERT … SELECT. `kill`: KILL QUERY, whose `query_id` we translate. `command`: everything else.
 */
import { exception } from "./exception.js";
import { type SqlToken, tokensOf } from "./lexer.js";

export type ReceivedStatement =
  | {
      readonly kind: "rows";
      /** First word of the statement, in upper case. */
      readonly verb: string;
      /** Position for INTO OUTFILE: before the FORMAT clause, or at the end. */
      readonly clauseAt: number;
      readonly end: number;
      /** The format that the statement names. */
      readonly format: string | undefined;
    }
  | {
      readonly kind: "insert-data";
      readonly verb: "INSERT";
      /** Position for FROM INFILE: before SETTINGS and FORMAT. */
      readonly infileAt: number;
      /** End of the clauses between `infileAt` and FORMAT or VALUES. */
      readonly formatAt: number;
      readonly format: string;
      /** SETTINGS after the format, allowed if the data is sent separately from the statement. */
      readonly trailingSettings: string;
      readonly dataAt: number;
    }
  | {
      readonly kind: "insert-input";
      readonly verb: "INSERT";
      /** The call of `input`, from its name to its closing bracket. */
      readonly inputAt: { readonly start: number; readonly end: number };
      /** Its argument, a string literal. */
      readonly structureAt: { readonly start: number; readonly end: number };
      /** Position of the FORMAT clause. */
      readonly formatAt: number;
      readonly format: string;
      readonly dataAt: number;
    }
  | {
      readonly kind: "kill";
      readonly verb: "KILL";
      readonly idAt: readonly SqlToken[];
      readonly syncAt: readonly SqlToken[];
      readonly end: number;
    }
  | { readonly kind: "write" | "command"; readonly verb: string; readonly end: number };

const WITH_OUTPUT = new Set([
  "SELECT",
  "WITH",
  "FROM",
  "(",
  "SHOW",
  "DESCRIBE",
  "DESC",
  "EXPLAIN",
  "EXISTS",
  "CHECK",
]);
/** Words that precede an expression. FORMAT after one of them is a column's name. */
const BEFORE_EXPRESSION = new Set(
  "SELECT DISTINCT BY AS WHERE PREWHERE AND OR NOT IN LIKE ILIKE FROM JOIN ON USING HAVING QUALIFY THEN ELSE WHEN CASE BETWEEN INTERVAL".split(
    " ",
  ),
);
const AFTER_ORDER_KEY = new Set(["ASC", "DESC", "ASCENDING", "DESCENDING", "NULLS", "COLLATE"]);

/** @param sql the statement (and what follows it in the request), as latin1 */
export function classify(sql: string): ReceivedStatement {
  const tokens = [...statementTokens(sql)];
  const first = tokens[0];
  if (first === undefined) throw exception("SYNTAX_ERROR", "Empty query");
  const last = tokens.findLast((token) => token.text !== ";") ?? first;
  const verb = first.text;
  if (verb === "KILL") {
    const words = tokens.filter((token) => token.kind === "word" || token.kind === "quoted");
    return {
      kind: "kill",
      verb,
      idAt: words.filter((word) => /^[`"]?query_id[`"]?$/i.test(word.text)),
      syncAt: words.filter((word) => word.text === "SYNC"),
      end: last.end,
    };
  }
  const insertAt = topLevel(tokens).find((token) => token.text === "INSERT");
  if (verb === "INSERT") return insertStatement(sql, tokens, last);
  if (verb === "WITH" && insertAt !== undefined) return { kind: "write", verb, end: last.end };
  // CHECK GRANT has output as well, but its grammar does not allow INTO OUTFILE.
  const grant = verb === "CHECK" && tokens[1]?.text === "GRANT";
  if (!WITH_OUTPUT.has(verb) || grant) return { kind: "command", verb, end: last.end };
  refuseOutfile(tokens);
  const format = formatClause(tokens);
  return {
    kind: "rows",
    verb,
    clauseAt: format?.keyword.start ?? last.end,
    end: last.end,
    format: format && sql.slice(format.name.start, format.name.end).replaceAll("`", ""),
  };
}

/**
 * Yields the tokens of the first statement. Throws at a second statement, like a server. Stops where an insert's data
 * begins.
 */
function* statementTokens(sql: string): Generator<SqlToken, void, undefined> {
  let insert = false;
  let depth = 0;
  let before: SqlToken | undefined;
  let ended = false;
  for (const token of tokensOf(sql)) {
    if (ended && token.text !== ";")
      throw exception("SYNTAX_ERROR", "Syntax error (Multi-statements are not allowed)");
    if (before === undefined) insert = token.text === "INSERT";
    yield token;
    if (token.text === "(") depth += 1;
    if (token.text === ")") depth -= 1;
    ended = token.text === ";";
    if (selects(token)) insert = false;
    if (insert && depth === 0 && startsData(before, token)) return;
    before = token;
  }
}

function selects(token: SqlToken): boolean {
  return token.kind === "word" && (token.text === "SELECT" || token.text === "WITH");
}

/** Whether an INSERT's data follows `token`: VALUES, or the name after FORMAT. */
function startsData(before: SqlToken | undefined, token: SqlToken): boolean {
  if (token.kind !== "word") return false;
  return (
    (token.text === "VALUES" && before?.text !== "FORMAT") ||
    (before?.kind === "word" && before.text === "FORMAT")
  );
}

function insertStatement(sql: string, tokens: readonly SqlToken[], last: SqlToken): ReceivedStatement {
  refuseOutfile(tokens);
  const outer = topLevel(tokens);
  const end = outer.at(-1);
  const keyword = outer.at(-2);
  if (tokens.some(selects))
    return insertInput(sql, tokens) ?? { kind: "write", verb: "INSERT", end: last.end };
  if (end?.kind !== "word") return { kind: "write", verb: "INSERT", end: last.end };
  const values = end.text === "VALUES" && keyword?.text !== "FORMAT";
  if (!values && keyword?.text !== "FORMAT") return { kind: "write", verb: "INSERT", end: last.end };
  const formatAt = values ? end.start : (keyword?.start ?? end.start);
  const settings = outer.find((token) => token.kind === "word" && token.text === "SETTINGS");
  const trailing = /^[ \t]*SETTINGS\s[^\n]*/i.exec(sql.slice(end.end))?.[0] ?? "";
  return {
    kind: "insert-data",
    verb: "INSERT",
    infileAt: settings?.start ?? formatAt,
    formatAt,
    format: values ? "Values" : sql.slice(end.start, end.end),
    trailingSettings: values ? "" : trailing,
    dataAt: end.end + (values ? 0 : trailing.length),
  };
}

/**
 * Returns undefined if the data does not come from `input`, or is not separate from the statement. The engine then
 * decides.
 */
function insertInput(sql: string, tokens: readonly SqlToken[]): ReceivedStatement | undefined {
  const at = tokens.findIndex((token) => token.kind === "word" && token.text === "INPUT");
  const [name, opening, structure, closing] = tokens.slice(Math.max(0, at), at + 4);
  const format = formatClause(tokens);
  if (at < 0 || format === undefined || tokens.at(-1) !== format.name || name === undefined) return undefined;
  if (opening?.text !== "(" || structure?.kind !== "string" || closing?.text !== ")") return undefined;
  return {
    kind: "insert-input",
    verb: "INSERT",
    inputAt: { start: name.start, end: closing.end },
    structureAt: { start: structure.start, end: structure.end },
    formatAt: format.keyword.start,
    format: sql.slice(format.name.start, format.name.end).replaceAll("`", ""),
    dataAt: format.name.end,
  };
}

/** Files belong to the engine: as on a server, no statement may name one. */
function refuseOutfile(tokens: readonly SqlToken[]): void {
  const words = tokens.filter((token) => token.kind === "word");
  for (const [index, word] of words.entries()) {
    const next = words[index + 1];
    if (word.text === "INTO" && next?.text === "OUTFILE")
      throw exception("INTO_OUTFILE_NOT_ALLOWED", "INTO OUTFILE is not allowed");
    if (word.text === "FROM" && next?.text === "INFILE")
      throw exception("NOT_IMPLEMENTED", "FROM INFILE is not allowed, send the data in the request's body");
  }
}

function formatClause(
  tokens: readonly SqlToken[],
): { readonly keyword: SqlToken; readonly name: SqlToken } | undefined {
  const outer = topLevel(tokens);
  for (let index = outer.length - 2; index > 0; index -= 1) {
    const [before, keyword, name, after] = [
      outer[index - 1],
      outer[index],
      outer[index + 1],
      outer[index + 2],
    ];
    if (keyword?.kind !== "word" || keyword.text !== "FORMAT" || !canBeFormat(name)) continue;
    if (after !== undefined && after.text !== ";" && after.text !== "SETTINGS") continue;
    if (before?.kind === "word" && BEFORE_EXPRESSION.has(before.text)) continue;
    if (before?.kind === "symbol" && !/[)\]}*]/.test(before.text)) continue;
    if (AFTER_ORDER_KEY.has(name.text)) continue;
    return { keyword, name };
  }
  return undefined;
}

/** The engine's rewriting also quotes names that are words of its grammar: Null, Values. */
function canBeFormat(token: SqlToken | undefined): token is SqlToken {
  return token?.kind === "word" || (token?.kind === "quoted" && token.text.startsWith("`"));
}

/** Returns the tokens outside of all brackets (opening brackets count as outside). */
function topLevel(tokens: readonly SqlToken[]): readonly SqlToken[] {
  let depth = 0;
  return tokens.filter((token) => {
    if (token.kind === "symbol" && ")]}".includes(token.text)) depth -= 1;
    const outside = depth === 0;
    if (token.kind === "symbol" && "([{".includes(token.text)) depth += 1;
    return outside;
  });
}
