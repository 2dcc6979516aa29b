/**
 * The first look at a statement, in the engine's own rewriting of it (`formatQuerySingleLine`: no comments, no odd spacing, one
 * statement). It finds what must be refused before the engine is asked for its syntax tree, since that request would execute it.
 */
import { exception, type ServerException } from "../exception.js";
import { type Token, tokensOf } from "../lexer.js";
import { CATALOG } from "./catalog.js";

const VERBS = new Set(["SELECT", "WITH", "SHOW", "DESCRIBE", "EXPLAIN", "EXISTS", "("]);
const SHOWN = new Set(["TABLES", "DATABASES", "COLUMNS", "CREATE"]);
/** Words of SHOW that bring expressions, which the syntax tree does not show. */
const HIDDEN_IN_SHOW = new Set(["WHERE", "LIMIT", "("]);
/** Escapes in a quoted name, other than of quotes and the backslash. */
const ODD_ESCAPE = /\\[^\\`"']/;

export interface CheckedWords {
  /** The statement to go on with: tables of `system` are those of the port's catalog. */
  readonly sql: string;
}

/**
 * @param canonical the rewritten statement, as latin1
 * @param parameters of the query: those that stand for names are checked
 */
export function checkWords(canonical: string, parameters: ReadonlyMap<string, string>): CheckedWords {
  const tokens = [...tokensOf(canonical)];
  const [verb, second] = [tokens[0]?.text ?? "", tokens[1]?.text ?? ""];
  if (!VERBS.has(verb)) throw refused(`${verb} statements are not admitted`);
  if (verb === "SHOW") checkShow(tokens, second);
  if (verb === "EXISTS" && second === "DATABASE") throw refused("EXISTS DATABASE is not admitted");
  for (const [index, token] of tokens.entries()) {
    const [next, afterNext] = [tokens[index + 1], tokens[index + 2]];
    if (token.kind === "quoted" && isOddName(token.text))
      throw refused("Names with control characters are not admitted");
    if (token.kind !== "word") continue;
    if (token.text === "OUTFILE" || token.text === "INFILE") throw refused("Files are not admitted");
    if (token.text === "SETTINGS" && next !== undefined && isName(next) && afterNext?.text === "=")
      throw refused("SETTINGS in a statement are not admitted, send them in the URL");
  }
  for (const [name, value] of parameters) {
    if (isOddName(value) && isIdentifierParameter(tokens, name))
      throw refused("Names with control characters are not admitted");
  }
  return { sql: withCatalog(canonical, tokens) };
}

function checkShow(tokens: readonly Token[], what: string): void {
  if (!SHOWN.has(what)) throw refused(`SHOW ${what} is not admitted`);
  if (what === "CREATE" && tokens[2]?.text === "DATABASE")
    throw refused("SHOW CREATE DATABASE is not admitted");
  for (const token of tokens) {
    if (token.kind !== "string" && token.kind !== "quoted" && HIDDEN_IN_SHOW.has(token.text))
      throw refused(`SHOW with ${token.text} is not admitted`);
  }
}

/** `{name:Identifier}` */
function isIdentifierParameter(tokens: readonly Token[], name: string): boolean {
  return tokens.some(
    (token, index) =>
      token.text === "{" &&
      tokens[index + 1]?.text === name.toUpperCase() &&
      tokens[index + 3]?.text === "IDENTIFIER",
  );
}

/** `system.tables`, wherever it stands, with the catalog's name in place of `system`. */
function withCatalog(canonical: string, tokens: readonly Token[]): string {
  let text = "";
  let at = 0;
  for (const [index, token] of tokens.entries()) {
    const [before, dot, table] = [tokens[index - 1], tokens[index + 1], tokens[index + 2]];
    if (!isName(token) || canonical.slice(token.start, token.end).replaceAll(/[`"]/g, "") !== "system")
      continue;
    if (before?.text === "." || dot?.text !== "." || table === undefined || !isName(table)) continue;
    text += `${canonical.slice(at, token.start)}\`${CATALOG}\``;
    at = token.end;
  }
  return text + canonical.slice(at);
}

/** Whether a name can hold line ends, which would print as nodes of the tree. */
function isOddName(text: string): boolean {
  return ODD_ESCAPE.test(text) || Buffer.from(text).some((byte) => byte < 0x20 || byte === 0x7f);
}

function isName(token: Token): boolean {
  return token.kind === "word" || token.kind === "quoted";
}

function refused(what: string): ServerException {
  return exception("READONLY", `${what} on this read-only port`);
}
