/**
 * Checks the words of a statement in the engine's own rewriting of it (`formatQuerySingleLine`: no comments, no odd
 * spacing, one statement). The rewritten text is what runs, so no part of the statement is hidden from this check. It
 * does not consider what a name means in its context: the name of a function that is not allowed is refused everywhere,
 * as a call, an alias or a column.
 */
import { exception, type ServerException } from "../exception.js";
import { type SqlToken, tokensOf } from "../lexer.js";
import { isAdmittedTableFunction, isRefusedFunction } from "./admitted-functions.js";
import { CATALOG } from "./catalog.js";
import { checkDatabase, checkTable } from "./check-tables.js";

const VERBS = new Set(["SELECT", "WITH", "SHOW", "DESCRIBE", "EXPLAIN", "EXISTS", "("]);
const SHOWN = new Set(["TABLES", "DATABASES", "COLUMNS", "CREATE"]);
/** Words of SHOW that introduce expressions, which the syntax tree does not contain. */
const HIDDEN_IN_SHOW = new Set(["WHERE", "LIMIT", "("]);
const EXPLAINED = /^(AST|SYNTAX|PLAN|PIPELINE|ESTIMATE)$/;
/** Allowed names in parameters. */
const PARAMETER_NAME = /^\w+(\.\w+)?$/;

/** Lower-case names of all functions and all table functions of the engine. */
export interface EngineNames {
  readonly functions: ReadonlySet<string>;
  readonly tableFunctions: ReadonlySet<string>;
}

/** The names that a user may use. */
export interface Reach {
  readonly engine: EngineNames;
  readonly databases: readonly string[];
}

export interface CheckedWords {
  /**
   * The statement to continue with, as latin1: `system` is replaced by the port's catalog, and SETTINGS are removed.
   */
  readonly sql: string;
  /** The values of SETTINGS. Undefined means DEFAULT. */
  readonly settings: ReadonlyMap<string, string | undefined>;
  /** Whether a name has several parts, or comes from a parameter, so that it can be a table of another database. */
  readonly hasCompoundNames: boolean;
}

/**
 * @param canonical the rewritten statement, as latin1
 * @param parameters parameters of the query; those used as names are checked
 */
export function checkWords(
  canonical: string,
  parameters: ReadonlyMap<string, string>,
  { engine, databases }: Reach,
): CheckedWords {
  const tokens = [...tokensOf(canonical)];
  const [verb, second] = [tokens[0]?.text ?? "", tokens[1]?.text ?? ""];
  if (!VERBS.has(verb)) throw refused(`${verb} statements are not admitted`);
  if (verb === "SHOW") checkShow(tokens, second);
  if (verb === "SHOW" || verb === "EXISTS") checkShownNames(canonical, tokens, databases);
  if (verb === "EXISTS" && !isTable(tokens[1])) throw refused(`EXISTS ${second} is not admitted`);
  if (verb === "EXPLAIN") checkExplain(tokens);
  for (const [index, token] of tokens.entries()) {
    if (!isName(token)) continue;
    const written = canonical.slice(token.start, token.end);
    if (token.text === "OUTFILE" || token.text === "INFILE") throw refused("Files are not admitted");
    if (written === "APPLY") throw refused("APPLY is not admitted");
    checkName(unquoted(written), tokens[index + 1]?.text === "(", engine);
  }
  const named = namesFromParameters(tokens);
  for (const [name, value] of parameters) {
    if (!named.has(name.toUpperCase())) continue;
    if (!PARAMETER_NAME.test(value)) throw refused("A name in a parameter has letters, digits and _");
    checkName(value, false, engine);
  }
  const { clauses, settings } = settingsClauses(canonical, tokens);
  return {
    sql: edited(canonical, [...clauses, ...catalogNames(canonical, tokens)]),
    settings,
    hasCompoundNames:
      named.size > 0 ||
      tokens.some((token) => token.text === "." || (isName(token) && token.text.includes("."))),
  };
}

function checkName(name: string, isCall: boolean, engine: EngineNames): void {
  if (isRefusedFunction(name, engine.functions)) throw refused(`The function ${name} is not admitted`);
  const isOther =
    isCall && engine.tableFunctions.has(name.toLowerCase()) && !engine.functions.has(name.toLowerCase());
  if (isOther && !isAdmittedTableFunction(name)) throw refused(`The table function ${name} is not admitted`);
}

function checkShow(tokens: readonly SqlToken[], what: string): void {
  if (!SHOWN.has(what)) throw refused(`SHOW ${what} is not admitted`);
  if (what === "CREATE" && !isTable(tokens[2]))
    throw refused(`SHOW CREATE ${tokens[2]?.text} is not admitted`);
  for (const token of tokens) {
    if (token.kind !== "string" && token.kind !== "quoted" && HIDDEN_IN_SHOW.has(token.text))
      throw refused(`SHOW with ${token.text} is not admitted`);
  }
}

/** SHOW and EXISTS name only tables and databases. */
function checkShownNames(canonical: string, tokens: readonly SqlToken[], databases: readonly string[]): void {
  const written = (token: SqlToken | undefined) => unquoted(canonical.slice(token?.start, token?.end));
  for (const [index, token] of tokens.entries()) {
    const [before, next, table] = [tokens[index - 1], tokens[index + 1], tokens[index + 2]];
    if (!isName(token)) continue;
    if (written(token).includes(".")) checkTable(written(token), databases);
    if (next?.text === "." && written(token) !== "system")
      checkTable(`${written(token)}.${written(table)}`, databases);
    if (tokens[1]?.text === "TABLES" && before?.text === "FROM") checkDatabase(written(token), databases);
  }
}

/** `EXPLAIN [kind] [name = value, …] SELECT …`: only a SELECT may be explained. */
function checkExplain(tokens: readonly SqlToken[]): void {
  let at = 1;
  if (EXPLAINED.test(tokens[at]?.text ?? "")) at += 1;
  else if (tokens[at]?.text === "QUERY" && tokens[at + 1]?.text === "TREE") at += 2;
  while (tokens[at + 1]?.text === "=") at += tokens[at + 3]?.text === "," ? 4 : 3;
  const explained = tokens[at]?.text ?? "";
  if (!["SELECT", "WITH", "("].includes(explained)) throw refused(`EXPLAIN ${explained} is not admitted`);
}

/** Returns the names, in upper case, of parameters that are used as names: `{name:Identifier}`. */
function namesFromParameters(tokens: readonly SqlToken[]): ReadonlySet<string> {
  return new Set(
    tokens.flatMap((token, index) => {
      const name = tokens[index + 1];
      return token.text === "{" && tokens[index + 3]?.text === "IDENTIFIER" && name ? [name.text] : [];
    }),
  );
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Finds SETTINGS after the whole statement, before or after FORMAT. Elsewhere they are refused. */
function settingsClauses(canonical: string, tokens: readonly SqlToken[]) {
  const clauses: Edit[] = [];
  const settings = new Map<string, string | undefined>();
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.text !== "SETTINGS" || token.kind !== "word" || !startsAssignment(tokens, at + 1)) continue;
    const read = assignments(canonical, tokens, at + 1);
    const next = tokens[read.end];
    const isLast = next === undefined || next.text === "FORMAT" || next.text === "SETTINGS";
    if (!isLast) throw refused("SETTINGS amid a statement are not admitted, write them at its end");
    for (const [name, value] of read.values) settings.set(name, value);
    clauses.push({ start: token.start, end: next?.start ?? canonical.length, text: "" });
    at = read.end - 1;
  }
  return { clauses, settings };
}

function startsAssignment(tokens: readonly SqlToken[], at: number): boolean {
  const name = tokens[at];
  return name !== undefined && isName(name) && tokens[at + 1]?.text === "=";
}

/** Parses `name = value, …` from the token at `start`. `end` is the index of the next token. */
export function assignments(canonical: string, tokens: readonly SqlToken[], start: number) {
  const values = new Map<string, string | undefined>();
  let at = start;
  while (startsAssignment(tokens, at)) {
    const name = tokens[at];
    const from = at + 2;
    at = valueEnd(tokens, from);
    const text = canonical.slice(tokens[from]?.start, tokens[at - 1]?.end);
    values.set(
      Buffer.from(unquoted(canonical.slice(name?.start, name?.end)), "latin1").toString(),
      text === "DEFAULT" ? undefined : Buffer.from(unquoted(text), "latin1").toString(),
    );
    if (tokens[at]?.text !== "," || !startsAssignment(tokens, at + 1)) break;
    at += 1;
  }
  return { values, end: at };
}

/** A value is one token, a number after its sign, or a bracketed expression. */
function valueEnd(tokens: readonly SqlToken[], start: number): number {
  let at = tokens[start]?.text === "-" ? start + 1 : start;
  for (let depth = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind === "symbol" && "([{".includes(token.text)) depth += 1;
    if (token?.kind === "symbol" && ")]}".includes(token.text)) depth -= 1;
    if (depth <= 0) return at + 1;
  }
  return at;
}

/** Replaces `system` by the catalog's name in each `system.table`. */
function catalogNames(canonical: string, tokens: readonly SqlToken[]): readonly Edit[] {
  return tokens.flatMap((token, index) => {
    const [before, dot, table] = [tokens[index - 1], tokens[index + 1], tokens[index + 2]];
    if (!isName(token) || unquoted(canonical.slice(token.start, token.end)) !== "system") return [];
    if (before?.text === "." || dot?.text !== "." || table === undefined || !isName(table)) return [];
    return [{ start: token.start, end: token.end, text: `\`${CATALOG}\`` }];
  });
}

function edited(text: string, edits: readonly Edit[]): string {
  let at = 0;
  let result = "";
  for (const edit of [...edits].sort((one, other) => one.start - other.start)) {
    if (edit.start < at) continue;
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

const ESCAPED: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", 0: "\0" };

/** Returns a name or a string without its quotes. */
export function unquoted(text: string): string {
  if (!/^[`'"]/.test(text)) return text;
  return text
    .slice(1, -1)
    .replaceAll(/\\(.)|(['"`])\2/gs, (_, escaped?: string, quote?: string) =>
      escaped === undefined ? (quote ?? "") : (ESCAPED[escaped] ?? escaped),
    );
}

function isTable(token: SqlToken | undefined): boolean {
  return token?.text === "TABLE" || token?.text === "VIEW";
}

function isName(token: SqlToken): boolean {
  return token.kind === "word" || token.kind === "quoted";
}

export function refused(what: string): ServerException {
  return exception("READONLY", `${what} on this read-only port`);
}
