/**
 * Turns a SQL client's statement into one that may run. The engine's `readonly = 1` is the last wall, and not enough. Measured on
 * 26.7, all with readonly = 1: `SELECT … INTO OUTFILE` writes files, output settings that were set before name files to write, the
 * function `file()` reads any file, even as a bare name (`arrayMap(file, …)`), `DESCRIBE file(…)` reads files, `KILL QUERY` kills.
 *
 * Therefore the engine's own parser rewrites the statement, its words are checked, and then the syntax tree. The rewritten text is
 * what runs. Rewriting and printing the tree happen in a session of their own, without any of the client's settings, which could
 * hide parts of the results.
 */

import { literal } from "../../../sql-text.js";
import { exception } from "../exception.js";
import type { Port, PortUser } from "../port.js";
import type { QueryText } from "../query-text.js";
import { setStatement } from "../settings.js";
import { classify } from "../statement.js";
import { isAdmittedFormat } from "./admitted-formats.js";
import { checkTree } from "./check-tree.js";
import { checkWords } from "./check-words.js";
import { readSyntaxTree } from "./syntax-tree.js";

/** Nesting that no person writes; what is printed of the tree grows with the depth of each node. */
const PARSER = { max_parser_depth: "250", max_query_size: "4194304" };
/** For parsing alone, whatever a query may take. */
const MEMORY_BYTES = 256 * 1024 * 1024;

/** Throws unless the statement only reads tables of the user's databases, in a format that is admitted. */
export async function admitStatement(
  text: QueryText,
  defaultFormat: string,
  user: PortUser,
  port: Port,
): Promise<QueryText> {
  const session = port.engine.open({ ...PARSER, max_memory_usage: String(MEMORY_BYTES) });
  const ask = async (sql: string) => {
    const { output } = await session.run(sql, "TSVRaw");
    return Buffer.from(output).subarray(0, -1);
  };
  try {
    const set = setStatement(new Map(), text.parameters);
    if (set !== undefined) await session.run(set);
    await session.run("SET readonly = 1");
    const written = literal(text.sql.toString("utf8"));
    const canonical = (await ask(`SELECT formatQuerySingleLine(${written})`)).toString("latin1");
    const sql = Buffer.from(checkWords(canonical, text.parameters).sql, "latin1");
    const statement = classify(sql.toString("latin1"));
    if (statement.kind !== "rows")
      throw exception("READONLY", `${statement.verb} is not allowed on this read-only port`);
    const format = statement.format ?? defaultFormat;
    if (!isAdmittedFormat(format))
      throw exception("UNKNOWN_FORMAT", `Format ${format} is not allowed on this port`);
    const tree = await ask(`EXPLAIN AST ${sql.subarray(0, statement.clauseAt).toString("utf8")}`);
    checkTree(readSyntaxTree(tree.toString("utf8")), {
      databases: user.databases,
      functions: port.facts.functions,
      tableFunctions: port.facts.tableFunctions,
    });
    return { ...text, sql, statement };
  } finally {
    session.close();
  }
}
