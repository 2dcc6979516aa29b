import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { mutants } from "../mutants/all.js";

t.test("each mutant fits the source it changes, and names tests that exist", async (t) => {
  t.ok(mutants.length > 50, `${mutants.length} mutants`);
  for (const { name, file, from, to, tests } of mutants) {
    const text = readFileSync(join(projectRoot(), file), "utf8");
    t.equal(text.split(from).length - 1, 1, `${file}: ${name}`);
    t.not(from, to, name);
    t.ok(tests.length > 0, name);
    for (const test of tests) t.ok(existsSync(join(projectRoot(), test)), test);
  }
});
