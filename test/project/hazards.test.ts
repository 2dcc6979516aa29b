/**
 * Reference pages name the test of each hazard or behaviour, and every named test exists. The format is ``
 * `test/file.test.ts`: its whole title ``. For a title that is built from rows of a table, it is one of the titles or
 * the template as written. Several tests in one cell are separated by `<br>`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/config/project.js";
import { testTitles } from "./test-titles.js";

const pages = ["docs/reference/ecosystem-hazards.md", "docs/reference/behaviour-register.md"];

interface Named {
  readonly file: string;
  readonly test: string;
}

const known = new Map<string, Set<string>>();

function titlesIn(file: string): Set<string> {
  const path = join(projectRoot(), file);
  const titles = known.get(file) ?? testTitles(existsSync(path) ? readFileSync(path, "utf8") : "");
  known.set(file, titles);
  return titles;
}

/** Returns the rows of the page's tables, each with the tests of its last cell. */
function rowsOf(page: string): { row: string; tests: Named[] }[] {
  const lines = readFileSync(join(projectRoot(), page), "utf8").split("\n");
  const rows = lines.filter((line, at) => line.startsWith("| ") && !lines[at + 1]?.startsWith("|---"));
  return rows.map((row) => {
    const cell = row.replace(/ \|$/, "").split(" | ").at(-1) ?? "";
    const tests = cell.split("<br>").flatMap((entry) => {
      const [, file, test] = /^`(test\/[\w./-]+\.test\.ts)`: (.+)$/.exec(entry.trim()) ?? [];
      return file === undefined || test === undefined ? [] : [{ file, test }];
    });
    return { row, tests };
  });
}

for (const page of pages) {
  t.test(`${page} names tests that exist`, async (t) => {
    const rows = rowsOf(page);
    t.ok(rows.length > 20);
    for (const { row, tests } of rows) {
      t.ok(tests.length > 0, `no test is named in: ${row.slice(0, 100)}`);
      for (const { file, test } of tests) {
        t.ok(titlesIn(file).has(test), `${file}: ${test}`);
      }
    }
  });
}

t.test("a title is the whole first argument of a test, and nothing else in its file", async (t) => {
  const source = [
    'const cases = [{ name: "one", n: 1 }, { n: 2, name: "two" }];',
    'for (const { name, n } of cases) t.test(`case §{name}`, async (t) => t.equal(n, 1, "a message"));',
    'for (const [query, wanted] of [["a=1", 1], [`b=§{c}`, 2]] as const) await t.test(query, async () => {});',
    't.test("outer", async (t) => { await t.test("inner", { timeout: 1 }, async () => {}); });',
    'const no = "a string"; /x/.test("a pattern"); t.test(`of §{what()}`, async () => {});',
  ];
  const found = [...testTitles(source.join("\n").replaceAll("§", "$"))];
  t.strictSame(found.map((title) => title.replace("$", "§")).sort(), [
    "a=1",
    "case one",
    "case two",
    "case §{name}",
    "inner",
    "of §{what()}",
    "outer",
    "§{query}",
  ]);
});
