/**
 * What BI tools may do on the embedded store: read tables. The engine's `readonly = 1` is the first wall, and is not enough.
 * Measured on 26.7, all with readonly = 1: `SELECT … INTO OUTFILE` writes files, the scalar function `file()` reads any file,
 * also as a bare name (`arrayMap(file, …)`, `APPLY file`), `DESCRIBE file(…)` reads files, `KILL QUERY` kills, BACKUP, UNDROP
 * and COPY are stopped late or not at all, and `s3()` parses its address before it is refused.
 *
 * So a statement is first rewritten by the engine's own parser (no comments, no odd spacing, one statement), and what is
 * checked here is that text, and that text is what runs.
 */
import { exception, type ServerException } from "./exception.js";
import { type Token, tokensOf } from "./lexer.js";
import { literal } from "./settings.js";

export interface ReadOnlyLimits {
  readonly maxExecutionSeconds: number;
  readonly maxMemoryBytes: number;
}

const VERBS = new Set(["SELECT", "WITH", "SHOW", "DESCRIBE", "EXPLAIN", "EXISTS", "("]);
/** `word (` that may stand for a table; any other table function is refused, whatever the engine will learn. */
const TABLE_FUNCTIONS = new Set(
  "NUMBERS NUMBERS_MT GENERATESERIES GENERATE_SERIES VALUES VIEW NULL".split(" "),
);
/** Functions that reach out of the tables, refused by name wherever it stands: they can be passed by name. */
const FUNCTIONS = new Set(
  (
    "FILE REVERSEDNSQUERY CATBOOSTEVALUATE EVALMLMETHOD SHOWCERTIFICATE GETCLIENTHTTPHEADER GETSERVERSETTING SLEEP SLEEPEACHROW " +
    "AIGENERATE AICLASSIFY AIEXTRACT AITRANSLATE AIEMBED NAIVEBAYESCLASSIFIER ZOOKEEPERSESSIONUPTIME"
  ).split(" "),
);
/** System tables that show other people's statements, addresses on disk, or the process from inside. */
const TABLES = new Set(
  (
    "PROCESSES STACK_TRACE SERVER_SETTINGS DISKS STORAGE_POLICIES NAMED_COLLECTIONS DICTIONARIES USER_PROCESSES ASYNCHRONOUS_INSERTS " +
    "REMOTE_DATA_PATHS DETACHED_PARTS CERTIFICATES CRASH_LOG ERRORS WARNINGS FILESYSTEM_CACHE USER_DEFINED_FUNCTIONS"
  ).split(" "),
);
/** Settings a client may send: how the answer looks and how much of it. All else is refused, as READONLY. */
const SETTINGS =
  /^(output_format_\w+|format_\w+|max_result_rows|max_result_bytes|result_overflow_mode|max_block_size|session_timezone|date_time_output_format|max_threads|extremes|join_use_nulls|max_rows_to_read|read_overflow_mode|timeout_overflow_mode|log_comment|limit|offset)$/;
const SCHEMA_SETTING = /^format_(schema|avro_schema_registry_url|template\w*)/;

/** The engine's own rewriting of a statement. Refuses what it cannot parse, and more than one statement. */
export function canonicalStatement(sql: string): string {
  return `SELECT formatQuerySingleLine(${literal(sql)})`;
}

/** The settings to run with: the allowed ones of the client under our limits, which it may lower. */
export function admitSettings(
  asked: ReadonlyMap<string, string>,
  limits: ReadOnlyLimits,
): ReadonlyMap<string, string> {
  const settings = new Map([
    ["max_execution_time", String(limits.maxExecutionSeconds)],
    ["max_memory_usage", String(limits.maxMemoryBytes)],
  ]);
  const ceilings = new Map([...settings].map(([name, value]) => [name, Number(value)]));
  for (const [name, value] of asked) {
    const ceiling = ceilings.get(name);
    if (ceiling !== undefined) {
      const wanted = Number(value);
      settings.set(name, String(wanted > 0 && wanted < ceiling ? wanted : ceiling));
    } else if (name === "readonly") continue;
    else if (SETTINGS.test(name) && !SCHEMA_SETTING.test(name)) settings.set(name, value);
    else throw exception("READONLY", `Cannot modify '${name}' setting in readonly mode`);
  }
  return settings;
}

export interface NamesOutside {
  /** The database that a bare table name is looked for in. */
  readonly database: string | undefined;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Throws unless the (canonical) statement only reads tables. */
export function checkReadOnly(canonical: string, outside: NamesOutside): void {
  const tokens = [...tokensOf(canonical)];
  const verb = tokens[0]?.text ?? "";
  if (!VERBS.has(verb)) throw refused(`${verb} statements are`);
  if (verb === "SHOW" && tokens[1]?.text === "PROCESSLIST") throw refused("SHOW PROCESSLIST is");
  for (const index of tokens.keys()) {
    checkName(tokens, index);
    checkCall(tokens, index);
    checkIdentifierParameter(tokens, index, outside.parameters);
  }
  if (outside.database?.toUpperCase() !== "SYSTEM") return;
  for (const token of tokens)
    if (isName(token) && TABLES.has(nameOf(token))) throw refusedTable(nameOf(token));
}

function checkName(tokens: readonly Token[], index: number): void {
  const [owner, dot, token] = [tokens[index - 2], tokens[index - 1], tokens[index]];
  if (token === undefined || !isName(token)) return;
  const name = nameOf(token);
  if (token.kind === "word" && (name === "OUTFILE" || name === "INFILE")) throw refused("Files are");
  if (dot?.text !== "." && FUNCTIONS.has(name)) throw refused(`The function ${name.toLowerCase()} is`);
  const ofSystem = dot?.text === "." && (owner === undefined || !isName(owner) || nameOf(owner) === "SYSTEM");
  if (ofSystem && TABLES.has(name)) throw refusedTable(name);
}

/** `name (`: a table function where a table is named, and wherever the name is that of one that reaches out. */
function checkCall(tokens: readonly Token[], index: number): void {
  const [beforeThat, before, token, after] = [
    tokens[index - 2],
    tokens[index - 1],
    tokens[index],
    tokens[index + 1],
  ];
  if (token === undefined || !isName(token) || after?.text !== "(") return;
  const name = nameOf(token);
  const joinsArray = before?.text === "JOIN" && beforeThat?.text === "ARRAY";
  const table = before?.kind === "word" && /^(FROM|JOIN|TABLE)$/.test(before.text) && !joinsArray;
  const perhapsTable = table || before?.text === "," || before?.text === "IN" || joinsArray;
  if ((table && !TABLE_FUNCTIONS.has(name)) || (perhapsTable && REACHING.test(name))) {
    throw refused(`The table function ${name.toLowerCase()} is`);
  }
}

/** `{name:Identifier}`: a table's name that stands in the parameters. */
function checkIdentifierParameter(
  tokens: readonly Token[],
  index: number,
  parameters: ReadonlyMap<string, string>,
): void {
  const [brace, name, colon, type] = tokens.slice(index, index + 4);
  if (brace?.text !== "{" || name === undefined || colon?.text !== ":" || type?.text !== "IDENTIFIER") return;
  for (const [parameter, value] of parameters) {
    const table = value.toUpperCase().split(".").at(-1)?.replaceAll(/[`"]/g, "") ?? "";
    if (parameter.toUpperCase() === nameOf(name) && TABLES.has(table)) throw refusedTable(table);
  }
}

/** Table functions can also follow a comma, where only their names tell them from scalar functions. */
const REACHING =
  /^(URL|FILE|S3|GCS|OSS|COSN|HDFS|AZURE|ICEBERG|DELTALAKE|HUDI|PAIMON|REMOTE|CLUSTER|POSTGRESQL|MYSQL|MONGODB|REDIS|SQLITE|JDBC|ODBC|YTSAURUS|EXECUTABLE|DICTIONARY|LOOP|MERGE|EVAL|FUZZ|INPUT|FORMAT$|PROMETHEUS|TIMESERIES(DATA|METRICS|TAGS|SAMPLES|SELECTOR)|VIEWIFPERMITTED|ARROWSTREAM|FILESYSTEM$)/;

function isName(token: Token): boolean {
  return token.kind === "word" || token.kind === "quoted";
}

function nameOf(token: Token): string {
  const bare = token.kind === "quoted" ? token.text.slice(1, -1).replaceAll(/\\(.)/g, "$1") : token.text;
  return bare.toUpperCase();
}

function refusedTable(name: string): ServerException {
  return refused(`The table ${name.toLowerCase()} is`);
}

function refused(what: string): ServerException {
  return exception("READONLY", `${what} not allowed on this read-only port`);
}
