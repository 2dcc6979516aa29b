/** The tokenizer finds the kind of a statement, and where our clauses go. */
import t from "tap";
import { classify } from "../../src/embedded-clickhouse/server/statement.js";
import { holds } from "../holds.js";

/** The statement with `|` where INTO OUTFILE or FROM INFILE would be, and the format it names. */
function seen(sql: string): string {
  const statement = classify(sql);
  switch (statement.kind) {
    case "rows":
      return `rows ${sql.slice(0, statement.clauseAt)}|${sql.slice(statement.clauseAt, statement.end)} (${statement.format ?? "-"})`;
    case "insert-data":
      return `data ${sql.slice(0, statement.infileAt)}|${sql.slice(statement.infileAt, statement.formatAt)} (${statement.format}) <${sql.slice(statement.dataAt)}>`;
    case "insert-input": {
      const { inputAt, structureAt, formatAt } = statement;
      return `input ${sql.slice(0, inputAt.start)}|${sql.slice(structureAt.start, structureAt.end)}|${sql.slice(inputAt.end, formatAt)} (${statement.format}) <${sql.slice(statement.dataAt)}>`;
    }
    default:
      return statement.kind;
  }
}

const cases: readonly (readonly [sql: string, wanted: string])[] = [
  ["SELECT 1", "rows SELECT 1| (-)"],
  ["SELECT 1 ; ", "rows SELECT 1| (-)"],
  ["SELECT 1 -- ; SELECT 2", "rows SELECT 1| (-)"],
  ["SELECT 1 FORMAT JSON", "rows SELECT 1 |FORMAT JSON (JSON)"],
  ["SELECT 1 format JSONEachRow;", "rows SELECT 1 |format JSONEachRow (JSONEachRow)"],
  ["SELECT 1 FORMAT CSV SETTINGS a = 1", "rows SELECT 1 |FORMAT CSV SETTINGS a = 1 (CSV)"],
  ["SELECT 1 SETTINGS a = 1 FORMAT CSV", "rows SELECT 1 SETTINGS a = 1 |FORMAT CSV (CSV)"],
  ["SELECT f(x) FORMAT CSV", "rows SELECT f(x) |FORMAT CSV (CSV)"],
  ["SELECT * FORMAT CSV", "rows SELECT * |FORMAT CSV (CSV)"],
  ["SELECT 1 FORMAT `Null`", "rows SELECT 1 |FORMAT `Null` (Null)"],
  ["SELECT 1 AS format", "rows SELECT 1 AS format| (-)"],
  ["SELECT format FROM t", "rows SELECT format FROM t| (-)"],
  ["SELECT 1 ORDER BY format DESC", "rows SELECT 1 ORDER BY format DESC| (-)"],
  ["SELECT a, format b FROM t", "rows SELECT a, format b FROM t| (-)"],
  [
    "SELECT 'FORMAT CSV', \"FORMAT CSV\", `FORMAT` x",
    "rows SELECT 'FORMAT CSV', \"FORMAT CSV\", `FORMAT` x| (-)",
  ],
  ["SELECT 1 /* FORMAT CSV /* nested */ ; */ # also ;\n", "rows SELECT 1| (-)"],
  ["SELECT 1 // ;\n, 2 #! ;\n", "rows SELECT 1 // ;\n, 2| (-)"],
  ["SELECT 'it''s ; \\' ;'", "rows SELECT 'it''s ; \\' ;'| (-)"],
  ['SELECT `a``;`, "b\\";"', 'rows SELECT `a``;`, "b\\";"| (-)'],
  ["SELECT $tag$ ; ' $tag$, $x FORMAT CSV", "rows SELECT $tag$ ; ' $tag$, $x |FORMAT CSV (CSV)"],
  [
    "SELECT x'41', 0x1f, 1e-5, .5, t.1.2 FORMAT TSV",
    "rows SELECT x'41', 0x1f, 1e-5, .5, t.1.2 |FORMAT TSV (TSV)",
  ],
  ["SELECT (SELECT 1 FORMAT CSV)", "rows SELECT (SELECT 1 FORMAT CSV)| (-)"],
  ["WITH x AS (SELECT 1) SELECT * FROM x", "rows WITH x AS (SELECT 1) SELECT * FROM x| (-)"],
  ["INSERT INTO t FORMAT CSV 1,2", "data INSERT INTO t | (CSV) < 1,2>"],
  [
    "insert into t(a, b) settings x = 1 format CSV\n1;2",
    "data insert into t(a, b) |settings x = 1  (CSV) <\n1;2>",
  ],
  ["INSERT INTO t FORMAT CSV SETTINGS x = 1\n1,2", "data INSERT INTO t | (CSV) <\n1,2>"],
  [
    "INSERT INTO t VALUES (1, ';'); (2, 'FORMAT x')",
    "data INSERT INTO t | (Values) < (1, ';'); (2, 'FORMAT x')>",
  ],
  ["INSERT INTO t (`values`, format) VALUES (1)", "data INSERT INTO t (`values`, format) | (Values) < (1)>"],
  ["INSERT INTO t FORMAT Values (1)", "data INSERT INTO t | (Values) < (1)>"],
  ["INSERT INTO t SELECT 1 FORMAT CSV", "write"],
  [
    "INSERT INTO t SELECT a FROM input('a UInt8, b Array(UInt8)') ARRAY JOIN b SETTINGS x = 1 FORMAT Tsv\n",
    "input INSERT INTO t SELECT a FROM |'a UInt8, b Array(UInt8)'| ARRAY JOIN b SETTINGS x = 1  (Tsv) <\n>",
  ],
  [
    "insert into t select * from Input ( 'a UInt8' ) format `CSV`",
    "input insert into t select * from |'a UInt8'|  (CSV) <>",
  ],
  ["INSERT INTO t SELECT * FROM input('a UInt8') FORMAT CSV\n1", "write"],
  ["INSERT INTO t SELECT * FROM input('a UInt8')", "write"],
  ["INSERT INTO t SELECT input FROM u FORMAT CSV", "write"],
  ["INSERT INTO t SELECT * FROM input(structure) FORMAT CSV", "write"],
  ["INSERT INTO t SELECT * FROM values('a UInt8', 1)", "write"],
  ["INSERT INTO t (a) (SELECT 1)", "write"],
  ["INSERT INTO t WITH 1 AS x SELECT x", "write"],
  ["WITH 1 AS x INSERT INTO t SELECT x", "write"],
  ["CREATE TABLE t (a UInt8) ENGINE = Memory", "command"],
  ["CREATE TABLE t ENGINE = Memory AS SELECT 1", "command"],
  ["CHECK TABLE t", "rows CHECK TABLE t| (-)"],
  ["CHECK GRANT SELECT ON t", "command"],
  ["KILL QUERY WHERE query_id = 'x'", "kill"],
];

t.test("statements are classified with the positions of their clauses", async (t) => {
  for (const [sql, wanted] of cases) t.equal(seen(sql), wanted, sql);
});

t.test("several statements, files and an empty statement are refused", async (t) => {
  const refused: readonly (readonly [sql: string, type: string])[] = [
    ["", "SYNTAX_ERROR"],
    ["-- only a comment", "SYNTAX_ERROR"],
    ["SELECT 1; SELECT 2", "SYNTAX_ERROR"],
    ["SELECT 1;; DROP TABLE t", "SYNTAX_ERROR"],
    ["INSERT INTO t SELECT * FROM values('a UInt8', 1); DROP TABLE t", "SYNTAX_ERROR"],
    ["SET a = 1; SELECT 1", "SYNTAX_ERROR"],
    ["SELECT 1 INTO OUTFILE 'x'", "INTO_OUTFILE_NOT_ALLOWED"],
    ["SELECT 1 into\n/**/outfile 'x'", "INTO_OUTFILE_NOT_ALLOWED"],
    ["INSERT INTO t FROM INFILE 'x' FORMAT CSV", "NOT_IMPLEMENTED"],
  ];
  for (const [sql, type] of refused) {
    let thrown: unknown;
    try {
      classify(sql);
    } catch (error) {
      thrown = error;
    }
    holds(t, thrown, { type }, sql);
  }
});
