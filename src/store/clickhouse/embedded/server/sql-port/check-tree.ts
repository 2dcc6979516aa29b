/**
 * What a statement of a SQL client may consist of: every kind of node, every table and every function is admitted by its name, and
 * the rest is refused. Kinds that hide part of a statement from the printed tree (`APPLY`, `SETTINGS`) are not among them.
 */
import { exception, type ServerException } from "../exception.js";
import { isAdmittedFunction, isAdmittedTableFunction } from "./admitted-functions.js";
import { CATALOG, INFORMATION_SCHEMA } from "./catalog.js";
import type { SyntaxNode } from "./syntax-tree.js";

const ADMITTED_KINDS = new Set(
  `
  SelectWithUnionQuery SelectIntersectExceptQuery SelectQuery ExpressionList Literal Identifier Function Subquery WithElement
  TablesInSelectQuery TablesInSelectQueryElement TableExpression TableIdentifier TableJoin ArrayJoin SampleRatio
  Asterisk QualifiedAsterisk ColumnsTransformerList ColumnsExceptTransformer ColumnsReplaceTransformer
  ColumnsReplaceTransformer::Replacement ColumnsRegexpMatcher QualifiedColumnsRegexpMatcher ColumnsListMatcher
  QualifiedColumnsListMatcher OrderByElement InterpolateElement WindowListElement WindowDefinition
  Explain DescribeQuery ShowTables ShowColumns ShowCreateTableQuery ShowCreateViewQuery ExistsTableQuery ExistsViewQuery
`
    .trim()
    .split(/\s+/),
);

const EXPLAINED = /^EXPLAIN( (AST|SYNTAX|QUERY TREE|PIPELINE|ESTIMATE))?$/;
/** Statements whose children are a database and a table, or a table alone. */
const NAMES_A_TABLE = /^(ShowCreate|Exists)(Table|View)Query$/;
/** Functions whose second argument is a table when it is a bare name. */
const TAKES_A_TABLE = new Set(
  [
    "in notIn globalIn globalNotIn nullIn notNullIn globalNullIn globalNotNullIn",
    "inIgnoreSet notInIgnoreSet globalInIgnoreSet globalNotInIgnoreSet",
    "nullInIgnoreSet notNullInIgnoreSet globalNullInIgnoreSet globalNotNullInIgnoreSet",
  ].flatMap((line) => line.split(" ")),
);

export interface Reach {
  /** The databases whose tables may be read. */
  readonly databases: readonly string[];
  /** Names of all functions and of all table functions that the engine has, lower case. */
  readonly functions: ReadonlySet<string>;
  readonly tableFunctions: ReadonlySet<string>;
}

/** Throws unless everything in the tree is admitted. */
export function checkTree(nodes: readonly SyntaxNode[], reach: Reach): void {
  const lambdas = new Set(
    nodes.filter((node) => node.kind === "Function" && node.text === "lambda").map((node) => node.alias),
  );
  for (const node of nodes) {
    checkKind(node);
    if (node.kind === "TableIdentifier") checkTable(node.text, reach);
    if (node.kind === "ShowTables") for (const child of node.children) checkDatabase(child.text, reach);
    if (NAMES_A_TABLE.test(node.kind)) checkTable(node.children.map((child) => child.text).join("."), reach);
    if (node.kind === "Function") checkFunction(node, lambdas, reach);
    if (node.kind === "Identifier") checkIdentifier(node, reach);
  }
}

function checkKind(node: SyntaxNode): void {
  if (node.kind === "Set" && node.parent?.kind === "Explain") return;
  if (node.kind === "Set") throw refused("SETTINGS in a statement are not admitted, send them in the URL");
  if (!ADMITTED_KINDS.has(node.kind)) throw refused(`${words(node.kind)} is not admitted`);
  if (node.kind === "Explain" && !EXPLAINED.test(node.text)) throw refused(`${node.text} is not admitted`);
}

function checkFunction(node: SyntaxNode, lambdas: ReadonlySet<string | undefined>, reach: Reach): void {
  const name = node.text;
  const standsForTable =
    node.parent?.kind === "TableExpression" ||
    (isSecondArgument(node) && reach.tableFunctions.has(name.toLowerCase()));
  if (standsForTable) {
    if (!isAdmittedTableFunction(name)) throw refused(`The table function ${name} is not admitted`);
    return;
  }
  if (isAdmittedFunction(name) || lambdas.has(name)) return;
  throw refused(`The function ${name} is not admitted`);
}

/** A function may be passed by its name (`arrayMap(file, …)`), and a table named behind `IN`. */
function checkIdentifier(node: SyntaxNode, reach: Reach): void {
  const name = node.text;
  if (isSecondArgument(node)) checkTable(name, reach);
  if (reach.functions.has(name.toLowerCase()) && !isAdmittedFunction(name))
    throw refused(`The function ${name} is not admitted`);
}

function isSecondArgument(node: SyntaxNode): boolean {
  const call = node.parent?.parent;
  return node.position === 1 && call?.kind === "Function" && TAKES_A_TABLE.has(call.text);
}

/** `table` is of the session's database, which is one of those that may be read; `database.table` must name one. */
function checkTable(name: string, reach: Reach): void {
  const [first = "", second, ...more] = name.split(".");
  if (second === undefined) return;
  if (INFORMATION_SCHEMA.databases.includes(first) && more.length === 0) {
    if (INFORMATION_SCHEMA.tables.includes(second.toLowerCase())) return;
    throw exception("UNKNOWN_TABLE", `Table ${name} does not exist`);
  }
  if (first === CATALOG) return;
  if (first === "system") throw exception("UNKNOWN_TABLE", `Table ${name} does not exist`);
  checkDatabase(first, reach);
}

/** What may not be read is not there, for whoever asks. */
function checkDatabase(name: string, reach: Reach): void {
  if (!reach.databases.includes(name)) throw exception("UNKNOWN_DATABASE", `Database ${name} does not exist`);
}

/** `ColumnsApplyTransformer` as `Columns Apply Transformer`. */
function words(kind: string): string {
  return kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ");
}

function refused(what: string): ServerException {
  return exception("READONLY", `${what} on this read-only port`);
}
