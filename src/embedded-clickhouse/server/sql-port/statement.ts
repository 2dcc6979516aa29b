/**
 * Turns a SQL client's statement into one that may run. The engine's role and `readonly = 1` are the last line of
 * defence, and not sufficient. Measured on 26.7 with both: `SELECT … INTO OUTFILE` writes files, output settings that
 * were set before name files to write, the function `file()` reads any file, even as a bare name (`arrayMap(file, …)`),
 * `KILL QUERY` kills, and `SET ROLE` takes another role.
 *
 * Therefore the engine's own parser rewrites the statement, and its words and then its tables are checked. The
 * rewritten text is what runs.
 */
import { literal } from "../../../clickhouse/sql-text.js";
import type { EngineSession } from "../engine.js";
import { exception } from "../exception.js";
import { tokensOf } from "../lexer.js";
import type { Port, PortUser } from "../port.js";
import type { QueryText } from "../query-text.js";
import { setStatement } from "../settings.js";
import { classify } from "../statement.js";
import { isAdmittedFormat } from "./admitted-formats.js";
import { checkTables } from "./check-tables.js";
import { assignments, type CheckedWords, checkWords, refused, unquoted } from "./check-words.js";

/** Limits on nesting, beyond what people write. The printed syntax tree grows with the depth of each node. */
export const PARSER = {
  max_parser_depth: "250",
  max_query_size: "4194304",
  max_memory_usage: String(256 * 1024 * 1024),
};
const SHOW_GRANTS = /^SHOW GRANTS( FORMAT \w+)?$/;
/** Each filter is parsed separately. */
const MAX_FILTERS = 100;

export interface AdmittedStatement {
  readonly text: QueryText;
  /** Settings from SET or the SETTINGS clause. Undefined means DEFAULT. */
  readonly settings: ReadonlyMap<string, string | undefined>;
  /** Effect on the following statements of the client's session: USE names a database. Undefined without any. */
  readonly lasting: { readonly database?: string } | undefined;
}

/**
 * Checks statements of one user in a session that has the user's role but none of the client's settings, which could
 * hide parts of the results.
 */
export interface StatementGuard {
  /** Throws unless the statement only reads tables of the user's databases, in an allowed format. */
  statement(text: QueryText, defaultFormat: string): Promise<AdmittedStatement>;
  /** Returns `additional_table_filters` whose expressions passed the checks for statements. Throws otherwise. */
  filters(value: string): Promise<readonly (readonly [table: string, expression: string])[]>;
}

export function guardOf(
  session: EngineSession,
  { user, databases }: PortUser,
  { facts }: Pick<Port, "facts">,
): StatementGuard {
  const reach = { engine: facts, databases };
  const readBytes = async (sql: string) => {
    const { output } = await session.run(sql, "TSVRaw");
    return Buffer.from(output).subarray(0, -1);
  };
  const rewritten = async (sql: string) =>
    (await readBytes(`SELECT formatQuerySingleLine(${literal(sql)})`)).toString("latin1");

  async function admit(canonical: string, parameters: ReadonlyMap<string, string>): Promise<CheckedWords> {
    const checked = checkWords(canonical, parameters, reach);
    if (checked.hasCompoundNames && !/^(SHOW|EXISTS) /.test(canonical)) {
      const { clauseAt } = rowsOf(checked.sql);
      const tree = await readBytes(`EXPLAIN AST ${utf8(checked.sql.slice(0, clauseAt))}`);
      checkTables(tree.toString("utf8"), databases);
    }
    return checked;
  }

  return {
    async statement(text, defaultFormat) {
      const set = setStatement(new Map(), text.parameters);
      if (set !== undefined) await session.run(set);
      const canonical = await rewritten(text.sql.toString("utf8"));
      const command = commandOf(canonical);
      if (command !== undefined) return { ...command, text: emptyStatement(text) };
      const grants = SHOW_GRANTS.exec(canonical);
      const { sql, settings } =
        grants === null ? await admit(canonical, text.parameters) : shownGrants(user, databases, grants[1]);
      const statement = rowsOf(sql);
      const format = statement.format ?? defaultFormat;
      if (!isAdmittedFormat(format))
        throw exception("UNKNOWN_FORMAT", `Format ${format} is not allowed on this port`);
      return { text: { ...text, sql: Buffer.from(sql, "latin1"), statement }, settings, lasting: undefined };
    },
    async filters(value) {
      const requested = [...filtersOf(value)];
      if (requested.length > MAX_FILTERS) throw badFilters(`has more than ${MAX_FILTERS} filters`);
      const admitted: (readonly [string, string])[] = [];
      for (const [table, expression] of requested) {
        const { sql, settings } = await admit(await rewritten(`SELECT ${expression}`), new Map());
        if (!sql.startsWith("SELECT ") || settings.size > 0)
          throw badFilters("has a filter that is no expression");
        admitted.push([table, utf8(sql.slice("SELECT ".length))]);
      }
      return admitted;
    },
  };
}

function rowsOf(sql: string) {
  const statement = classify(sql);
  if (statement.kind === "rows") return statement;
  throw exception("READONLY", `${statement.verb} is not allowed on this read-only port`);
}

/**
 * Parses `SET name = value, …` and `USE database`. The caller remembers what they set. SET ROLE and the like are not
 * settings.
 */
function commandOf(canonical: string): Pick<AdmittedStatement, "settings" | "lasting"> | undefined {
  if (!/^(SET|USE) /.test(canonical)) return undefined;
  const tokens = [...tokensOf(canonical)];
  const [verb, name] = tokens;
  if (verb?.text === "USE")
    return {
      settings: new Map(),
      lasting: { database: utf8(unquoted(canonical.slice(name?.start, name?.end))) },
    };
  const { values, end } = assignments(canonical, tokens, 1);
  if (end !== tokens.length || values.size === 0)
    throw refused("SET of anything but settings is not admitted");
  return { settings: values, lasting: {} };
}

/** Returns the statement that runs in place of one without rows. */
function emptyStatement(text: QueryText): QueryText {
  const sql = "SELECT 1 FORMAT Null";
  return { ...text, sql: Buffer.from(sql), statement: classify(sql) };
}

/** Replaces the engine's list of grants, which would contain the internal names of its roles. */
function shownGrants(user: string, databases: readonly string[], format = "") {
  const grants = databases.map((name) => literal(`GRANT SELECT ON ${name}.* TO ${user}`));
  return {
    sql: `SELECT arrayJoin([${grants.join(", ")}]::Array(String)) AS GRANTS${format}`,
    settings: new Map<string, string>(),
  };
}

/** Parses `{'table': 'expression', …}`. */
function* filtersOf(value: string): Generator<readonly [table: string, expression: string]> {
  const text = Buffer.from(value).toString("latin1");
  const tokens = [...tokensOf(text)];
  const [first, last] = [tokens[0]?.text, tokens.at(-1)?.text];
  if (first !== "{" || last !== "}") throw badFilters("is not a map");
  const inside = tokens.slice(1, -1);
  for (let at = 0; at < inside.length; at += 4) {
    const [table, colon, expression, comma] = inside.slice(at, at + 4);
    const isPair = table?.kind === "string" && colon?.text === ":" && expression?.kind === "string";
    if (!isPair || (comma !== undefined && comma.text !== ",")) throw badFilters("is not a map of texts");
    yield [utf8(unquoted(table.text)), utf8(unquoted(expression.text))];
  }
}

function badFilters(problem: string) {
  return exception(
    "BAD_ARGUMENTS",
    `The setting additional_table_filters ${problem}: write {'database.table': 'expression', …}`,
  );
}

/** Statements are processed as latin1, one character per byte. */
function utf8(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}
