/**
 * Refuses tables of databases that the user may not read, with the message for a database that does not exist. The
 * engine's role refuses them as well, but later: an error about a column, with the names of similar columns, would come
 * first.
 */
import { exception } from "../exception.js";
import { CATALOG, INFORMATION_SCHEMA } from "./catalog.js";

/** Functions whose second argument is a table if it is a bare name. */
const TAKES_A_TABLE = /^(global)?(not)?(null)?in(ignoreset)?$/i;

interface Node {
  readonly kind: string;
  readonly name: string;
  children: number;
}

/**
 * @param printed the engine's syntax tree of the statement, as `EXPLAIN AST` prints it: one node a line, indented by
 * its depth. ``` Function in (alias x) (children 1) ExpressionList (children 2) Identifier a Identifier facts.t ```
 */
export function checkTables(printed: string, databases: readonly string[]): void {
  /** The latest node at each depth. */
  const path: Node[] = [];
  for (const line of printed.split("\n")) {
    const depth = line.search(/[^ ]/);
    const node = nodeOf(line.slice(depth));
    const [call, list] = [path[depth - 2], path[depth - 1]];
    const isArgument = list?.children === 1 && call?.kind === "Function" && TAKES_A_TABLE.test(call.name);
    if (node.kind === "TableIdentifier" || (node.kind === "Identifier" && isArgument))
      checkTable(node.name, databases);
    if (list !== undefined) list.children += 1;
    path[Math.max(0, depth)] = node;
  }
}

/** The alias and the number of children follow the name, in brackets. */
function nodeOf(line: string): Node {
  const [kind = ""] = line.split(" ", 1);
  const [name = ""] = line.slice(kind.length + 1).split(" (", 1);
  return { kind, name, children: 0 };
}

/**
 * A bare `table` belongs to the session's database, which the user may read. `database.table` must name such a
 * database.
 */
export function checkTable(name: string, databases: readonly string[]): void {
  const [first = "", second, ...more] = name.split(".");
  if (second === undefined || first === CATALOG) return;
  if (INFORMATION_SCHEMA.databases.includes(first) && more.length === 0) {
    if (INFORMATION_SCHEMA.tables.includes(second.toLowerCase())) return;
    throw exception("UNKNOWN_TABLE", `Table ${name} does not exist`);
  }
  if (first === "system") throw exception("UNKNOWN_TABLE", `Table ${name} does not exist`);
  checkDatabase(first, databases);
}

/** A database that a user may not read does not exist for that user. */
export function checkDatabase(name: string, databases: readonly string[]): void {
  if (!databases.includes(name)) throw exception("UNKNOWN_DATABASE", `Database ${name} does not exist`);
}
