/**
 * Texts of clients and of the engine are read in linear time. In quadratic time, each of these cases would take hours.
 */
import t from "tap";
import { exceptionFromEngine } from "../../src/embedded-clickhouse/server/exception.js";
import { heredocsOf } from "../../src/embedded-clickhouse/server/heredocs.js";
import { tokensOf } from "../../src/embedded-clickhouse/server/lexer.js";
import { checkTables } from "../../src/embedded-clickhouse/server/sql-port/check-tables.js";
import { checkWords } from "../../src/embedded-clickhouse/server/sql-port/check-words.js";
import { classify } from "../../src/embedded-clickhouse/server/statement.js";
import fc from "../property.js";

const MIB = 1024 * 1024;
/** Repeats what `piece` returns for each number, up to this many bytes. */
function long(piece: (index: number) => string, bytes: number): string {
  const pieces: string[] = [];
  for (let length = 0, index = 0; length < bytes; index += 1) {
    const next = piece(index);
    pieces.push(next);
    length += next.length;
  }
  return pieces.join("");
}

const hostile: Readonly<Record<string, (index: number) => string>> = {
  "tags of heredocs that never end": (index) => `$ ${index}`,
  "tags without blanks": (index) => `,$${index}`,
  "one tag that ends the one before": (index) => (index % 2 === 0 ? "$a$ " : "$b$ "),
  "openings of comments": () => "/* ",
  "ends of comments": () => "*/ ",
  "quotes that never end": () => "\\' '",
  "typographic quotes that never end": () => "\xe2\x80\x98 ",
  brackets: () => "(",
  "names of clauses": () => " FORMAT SETTINGS INTO OUTFILE",
};

for (const [title, piece] of Object.entries(hostile)) {
  t.test(`4 MiB of ${title}`, async (t) => {
    try {
      t.type(classify(`SELECT ${long(piece, 4 * MIB)}`).kind, "string");
    } catch (error) {
      t.match(String(error), /ServerException/);
    }
  });
}

t.test(
  "a SQL client's statement of 1 MiB with a thousand parameters is checked in linear time",
  async (t) => {
    const reach = {
      engine: { functions: new Set(["file"]), tableFunctions: new Set<string>() },
      databases: ["facts"],
    };
    const parameters = new Map(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, "a"]));
    for (const piece of [
      ", `(alias `",
      ", a.b",
      ", system.a",
      ", {p7:Identifier}",
      " SETTINGS a = 1",
      ", a = 1",
    ])
      t.equal(
        checkWords(`SELECT 1${long(() => piece, MIB)}`, parameters, reach).sql.startsWith("SELECT 1"),
        true,
      );
    t.throws(
      () => checkWords(`SHOW TABLES${long(() => " FROM facts", MIB)}, file`, parameters, reach),
      /file/,
    );
    for (const line of [
      "TableIdentifier facts.a (alias b)",
      " Identifier a",
      `Function ${" (alias a".repeat(100)}`,
    ])
      t.equal(
        checkTables(
          long(() => `${line}\n`, MIB),
          ["facts"],
        ),
        undefined,
      );
    t.equal(checkTables(`TableIdentifier a${long(() => " (alias ", MIB)}`, ["facts"]), undefined);
  },
);

t.test(
  "an exception's text with 4 MiB of blanks or of nested exceptions is parsed in linear time",
  async (t) => {
    for (const piece of [" ", "Code: 1. DB::Exception: ", "(A) ", "DB::", ". (version "]) {
      const text = long(() => piece, 4 * MIB);
      const error = exceptionFromEngine(
        new Error(`Code: 395. DB::Exception: x${text}y. (FUNCTION_THROW_IF)`),
      );
      t.equal(error.code, 395);
      t.equal(error.type, "FUNCTION_THROW_IF");
      t.equal(error.message, `x${text}y.`);
      t.equal(exceptionFromEngine(new Error(`x${text}`)).code, 1002);
    }
  },
);

/** Does the same as the engine's lexer: from each `$`, it looks for the next one and then for that tag again. */
function naive(sql: string, start: number): number | undefined {
  const tagEnd = sql.indexOf("$", start + 1);
  if (tagEnd < 0) return undefined;
  const tag = sql.slice(start, tagEnd + 1);
  const closing = sql.indexOf(tag, tagEnd + 1);
  return closing < 0 ? undefined : closing + tag.length;
}

t.test("heredocs end where the engine's lexer ends them", async (t) => {
  const text = fc
    .array(fc.constantFrom("$", "$", "a", "b", " "), { maxLength: 40 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.nat(3), (sql, skipped) => {
      const heredocs = heredocsOf(sql);
      const starts = [...sql].flatMap((character, at) =>
        character === "$" && at % (skipped + 1) === 0 ? [at] : [],
      );
      return starts.every((start) => heredocs.endOf(start) === naive(sql, start));
    }),
  );
  t.same(
    [...tokensOf("$a$ ' $a$ x $b$ $")].map((token) => token.kind),
    ["string", "word", "word", "word"],
  );
});
