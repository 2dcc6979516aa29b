/**
 * Pages of the reference that name, for each hazard or behaviour, the test that holds it: every test named there exists. A test
 * is named as `` `test/file.test.ts`: its name ``, where it has a variable part as it is written there; several in one cell are
 * parted by `<br>`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/config/project.js";

const pages = ["docs/reference/ecosystem-hazards.md", "docs/reference/behaviour-register.md"];

interface Named {
  readonly file: string;
  readonly test: string;
}

/** Rows of the page's tables, each with the tests of its last cell. */
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
        const path = join(projectRoot(), file);
        const source = existsSync(path) ? readFileSync(path, "utf8") : "";
        t.ok(source.includes(JSON.stringify(test)) || source.includes(`\`${test}\``), `${file}: ${test}`);
      }
    }
  });
}
