/** The tables of the benchmark pages come from the committed results. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { pages, readReport, reportsOf, withTables } from "../../bench/page.js";
import { projectRoot } from "../../src/common/project.js";

/** Benchmarks of many minutes have a single run, as the page states. */
const long = ["arrival.json", "focus.json", "tenants.json"];

t.test("the tables of the benchmark pages match the results", async (t) => {
  const texts = pages.map((page) => readFileSync(page, "utf8"));
  for (const text of texts) t.equal(withTables(text), text, "npm run bench:page");
  const [page = ""] = texts;
  const files = readdirSync(join(projectRoot(), "bench", "results"));
  t.strictSame(reportsOf(page).sort(), files.sort(), "every result is shown");
  t.ok(files.length >= 5);
  for (const file of files) {
    const { repeat, figures, command, measured_on } = readReport(file);
    if (long.includes(file)) t.equal(repeat, 1, `${file}: one run`);
    else t.ok(repeat >= 5, `${file}: medians of five`);
    t.ok(figures.length > 0, file);
    t.match(command, /--only \w/, file);
    t.match(measured_on, /^\d{4}-\d\d-\d\d$/, file);
    t.ok(page.includes(`npm run bench -- ${command}`), `${file}: the command is shown`);
  }
});
