import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { reads } from "./reads.js";

const folder = join(projectRoot(), "test/query/golden");

/** UPDATE_GOLDEN=1 rewrites the files, so that a reviewer can read their diff. */
t.test("each read has the statement and parameters of its golden file", async (t) => {
  mkdirSync(folder, { recursive: true });
  for (const [name, { query, params }] of Object.entries(reads)) {
    const file = join(folder, `${name}.sql`);
    const text = `-- ${JSON.stringify(params)}\n${query.trim()}\n`;
    if (process.env.UPDATE_GOLDEN === "1") writeFileSync(file, text);
    t.equal(text, readFileSync(file, "utf8"), name);
  }
  t.same(
    readdirSync(folder).sort(),
    Object.keys(reads)
      .map((name) => `${name}.sql`)
      .sort(),
    "every golden file belongs to a read",
  );
});

t.test("values are in the parameters and never in the statement", async (t) => {
  for (const [name, { query, params }] of Object.entries(reads)) {
    for (const value of ["sa-1", "r-1", "STORAGE", "2026-03", "EUR", "payments", "squad"])
      t.notOk(query.includes(value), name);
    const used = new Set([...query.matchAll(/\{(\w+):/g)].map(([, parameter]) => parameter));
    t.same([...used].sort(), Object.keys(params).sort(), `${name}: no parameter is missing or left over`);
  }
});
