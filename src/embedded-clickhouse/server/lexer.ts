/**
 * Splits ClickHouse SQL into tokens by the rules of the engine's own lexer, so that a statement's clauses can be found
 * without parsing it. Blanks and comments (`--`, `//`, `# `, `#!`, nested block comments) are omitted.
 *
 * Works on text decoded as latin1, one character per byte: all syntax is ASCII, and offsets are byte offsets of the
 * request. Takes time linear in the text, for any text.
 */
import { type Heredocs, heredocsOf } from "./heredocs.js";

export type TokenKind = "word" | "quoted" | "string" | "number" | "symbol" | "error";

export interface SqlToken {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** Words in upper case, symbols as one character, everything else as written. */
  readonly text: string;
}

const BLANK = /[ \t\n\r\f\v\0]/y;
const LINE_COMMENT = /(?:--|\/\/|#[ !])[^\n]*/y;
const WORD = /[A-Za-z_$][A-Za-z0-9_$]*/y;
/** Deliberately permissive: the content of a number does not matter, only that a word right after it belongs to it. */
const NUMBER = /(?:\d|\.\d)(?:[eEpP][+-]\d|[A-Za-z0-9_$.])*/y;
const COMMENT_MARK = /\/\*|\*\//g;
/** Typographic quotes as UTF-8 bytes. The engine treats them as `'` and `"`, without escapes. */
const OPENING_QUOTES: ReadonlyMap<string, readonly [closing: string, kind: TokenKind]> = new Map([
  ["\xe2\x80\x98", ["\xe2\x80\x99", "string"]],
  ["\xe2\x80\x9c", ["\xe2\x80\x9d", "quoted"]],
]);

export function* tokensOf(sql: string): Generator<SqlToken, void, undefined> {
  const heredocs = heredocsOf(sql);
  let at = 0;
  while (at < sql.length) {
    const blankEnd = skipBlank(sql, at);
    if (blankEnd > at) {
      at = blankEnd;
      continue;
    }
    const token = tokenAt(sql, at, heredocs);
    if (token !== undefined) yield token;
    at = token?.end ?? at + 1;
  }
}

/** Returns the end of the blank or comment at `at`, or `at` itself. */
function skipBlank(sql: string, at: number): number {
  const blank = match(BLANK, sql, at) ?? match(LINE_COMMENT, sql, at);
  if (blank !== undefined) return blank;
  if (!sql.startsWith("/*", at)) return at;
  let depth = 1;
  let next = at + 2;
  while (depth > 0) {
    COMMENT_MARK.lastIndex = next;
    const mark = COMMENT_MARK.exec(sql);
    if (mark === null) return sql.length;
    depth += mark[0] === "/*" ? 1 : -1;
    next = COMMENT_MARK.lastIndex;
  }
  return next;
}

/** Returns the token at `at`. Undefined for a byte that is not syntax, such as part of a typographic blank. */
function tokenAt(sql: string, at: number, heredocs: Heredocs): SqlToken | undefined {
  const first = sql.charAt(at);
  if (first === "'") return quotedAt(sql, at, at, "'", "string");
  if (first === "`" || first === '"') return quotedAt(sql, at, at, first, "quoted");
  const typographic = OPENING_QUOTES.get(sql.slice(at, at + 3));
  if (typographic !== undefined) return until(sql, at, at + 3, ...typographic);
  if (/[xXbB]/.test(first) && sql.charAt(at + 1) === "'") return quotedAt(sql, at, at + 1, "'", "string");
  if (first === "$") {
    const end = heredocs.endOf(at);
    if (end !== undefined) return { kind: "string", start: at, end, text: sql.slice(at, end) };
  }
  const number = match(NUMBER, sql, at);
  if (number !== undefined) return { kind: "number", start: at, end: number, text: sql.slice(at, number) };
  const word = match(WORD, sql, at);
  if (word !== undefined)
    return { kind: "word", start: at, end: word, text: sql.slice(at, word).toUpperCase() };
  return first > "\x7f" ? undefined : { kind: "symbol", start: at, end: at + 1, text: first };
}

function quotedAt(sql: string, start: number, opening: number, quote: string, kind: TokenKind): SqlToken {
  let at = opening + 1;
  while (at < sql.length) {
    if (sql.charAt(at) === "\\") at += 2;
    else if (sql.charAt(at) !== quote) at += 1;
    else if (sql.charAt(at + 1) === quote) at += 2;
    else return { kind, start, end: at + 1, text: sql.slice(start, at + 1) };
  }
  return { kind: "error", start, end: sql.length, text: sql.slice(start) };
}

function until(sql: string, start: number, from: number, closing: string, kind: TokenKind): SqlToken {
  const found = sql.indexOf(closing, from);
  const end = found < 0 ? sql.length : found + closing.length;
  return { kind: found < 0 ? "error" : kind, start, end, text: sql.slice(start, end) };
}

function match(pattern: RegExp, sql: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(sql) ? pattern.lastIndex : undefined;
}
