/** Cells of a CSV export: quoted by RFC 4180 where needed, and never formulas unless raw. */
import { parse } from "csv-parse/sync";
import t from "tap";
import { readRows } from "../../src/clickhouse/statement.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { jsonCell, textCell } from "../../src/query/csv-cell.js";
import fc from "../property.js";
import { testLogger } from "../stores.js";

t.test("cells of a CSV export are quoted and escaped", async (t) => {
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());
  const cells = async (texts: readonly string[], expression: string) => {
    const found = await readRows<{ cell: string }>(engine.client, {
      query: `SELECT ${expression} AS cell FROM (SELECT arrayJoin({texts:Array(String)}) AS text)`,
      params: { texts },
    });
    return found.map(({ cell }) => cell);
  };

  await t.test("each kind of text is written as the expected cell", async (t) => {
    const known = [
      ["plain", "plain", "plain"],
      ["", "", ""],
      ["a,b", '"a,b"', '"a,b"'],
      ['say "hi"', '"say ""hi"""', '"say ""hi"""'],
      ["two\nlines", '"two\nlines"', '"two\nlines"'],
      ["a\rb", '"a\rb"', '"a\rb"'],
      ["=1+1", "'=1+1", "=1+1"],
      ["+1", "'+1", "+1"],
      ["-1", "'-1", "-1"],
      ["@x", "'@x", "@x"],
      ["\tx", "'\tx", "\tx"],
      ["\rx", `"'\rx"`, '"\rx"'],
      ["=a,b", `"'=a,b"`, '"=a,b"'],
      ['="x"', `"'=""x"""`, '"=""x"""'],
      ["a=1", "a=1", "a=1"],
    ] as const;
    const texts = known.map(([text]) => text);
    t.strictSame(
      await cells(texts, textCell("text", false)),
      known.map(([, guarded]) => guarded),
    );
    t.strictSame(
      await cells(texts, textCell("text", true)),
      known.map(([, , raw]) => raw),
    );
    t.strictSame(await cells(['{"a":"b,c"}'], jsonCell("text")), ['"{""a"":""b,c""}"']);
  });

  await t.test("a CSV parser reads any text back unchanged", async (t) => {
    const special = fc.constantFrom(..."\",\n\r=+-@\t a1'", "ü");
    const texts = fc.sample(
      fc.array(special, { maxLength: 6 }).map((all) => all.join("")),
      300,
    );
    const raw = await cells(texts, textCell("text", true));
    // Each cell has a neighbour, because a line with a single empty cell is an empty line.
    const read = (written: readonly string[]) =>
      (parse(written.map((cell) => `${cell},end\n`).join(""), { record_delimiter: "\n" }) as string[][]).map(
        ([cell]) => cell,
      );
    t.strictSame(read(raw), texts);
    const guarded = read(await cells(texts, textCell("text", false)));
    t.strictSame(
      guarded,
      texts.map((text) => (/^[=+@\t\r-]/.test(text) ? `'${text}` : text)),
    );
  });
});
