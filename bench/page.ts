/**
 * `npm run bench:page`: writes figures of the committed results into the tables of bench/README.md and of
 * docs/explanation/speed.md, which are never edited by hand. The JSON files have all figures.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { projectRoot } from "../src/common/project.js";
import { type BenchReport, markdownTable, measurement, shownValue, targetText } from "./report.js";

const folder = join(projectRoot(), "bench");
export const pages = [join(folder, "README.md"), join(projectRoot(), "docs/explanation/speed.md")];

/**
 * Matches a table: `<!-- NAME.json NAME.json: BENCHMARK: FIGURE | BENCHMARK: FIGURE -->` up to `<!-- end -->`. It has a
 * row for each figure and a column for each report. A figure ends with `…` if more figures begin with its text.
 */
const TABLE = /(<!-- ((?:[\w-]+\.json ?)+): ([^>]*?) -->\n).*?(<!-- end -->)/gs;

export function readReport(name: string): BenchReport {
  return JSON.parse(readFileSync(join(folder, "results", name), "utf8"), (key, value: unknown) =>
    key === "value" && value === null ? Number.NaN : value,
  ) as BenchReport;
}

export function reportsOf(page: string): string[] {
  return [...page.matchAll(TABLE)].flatMap(([, , names = ""]) => names.trim().split(" "));
}

export function withTables(page: string): string {
  return page.replace(TABLE, (_, begin: string, names: string, figures: string, end: string) => {
    const reports = names.trim().split(" ").map(readReport);
    const wanted = figures.split("|").map((each) => each.replace(/\s+/g, " ").trim());
    return `${begin}\n${tableOf(reports, wanted)}\n${reports.map(measurement).join("\n")}\n\n${end}`;
  });
}

const titleOf = ({ benchmark, name }: BenchReport["figures"][number]) => `${benchmark}: ${name}`;

/** Throws RangeError for a figure that no report has. */
function tableOf(reports: readonly BenchReport[], wanted: readonly string[]): string {
  const all = reports.flatMap(({ figures }) => figures);
  const matches = (pattern: string) => (figure: (typeof all)[number]) =>
    pattern.endsWith("…") ? titleOf(figure).startsWith(pattern.slice(0, -1)) : titleOf(figure) === pattern;
  const titles = wanted.flatMap((pattern) => {
    const found = [...new Set(all.filter(matches(pattern)).map(titleOf))];
    if (found.length === 0) throw new RangeError(`no figure ${pattern}`);
    return found;
  });
  const rows = titles.map((title) => {
    const figures = reports.map((report) => report.figures.find((each) => titleOf(each) === title));
    const [first] = figures.filter((each) => each !== undefined);
    return [title, ...figures.map((each) => (each === undefined ? "" : shownValue(each))), targetText(first)];
  });
  const sizes = reports.map(({ command }) => /--rows (\S+)/.exec(command)?.[1]);
  const heads = reports.map((_, index) => (reports.length === 1 ? "value" : `${sizes[index] ?? ""} rows`));
  return markdownTable([["figure", ...heads, "target"], ...rows]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  for (const page of pages) writeFileSync(page, withTables(readFileSync(page, "utf8")));
