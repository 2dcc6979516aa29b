/**
 * `npm run bench:page`: writes the committed results into the tables of bench/README.md, which are never edited by
 * hand.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { projectRoot } from "../src/common/project.js";
import { type BenchReport, reportTable } from "./report.js";

const folder = join(projectRoot(), "bench");
const file = join(folder, "README.md");

/** Matches the table of a report, between `<!-- results/NAME.json -->` and `<!-- end -->`. */
const TABLE = /(<!-- (results\/[\w-]+\.json) -->\n).*?(<!-- end -->)/gs;

export function readReport(name: string): BenchReport {
  return JSON.parse(readFileSync(join(folder, name), "utf8"), (key, value: unknown) =>
    key === "value" && value === null ? Number.NaN : value,
  ) as BenchReport;
}

export function reportsOf(page: string): string[] {
  return [...page.matchAll(TABLE)].flatMap(([, , name]) => name ?? []);
}

export function withTables(page: string): string {
  return page.replace(TABLE, (_, begin: string, name: string, end: string) => {
    const [command = "", ...rest] = reportTable(readReport(name)).split("\n");
    return `${begin}\n\`${command}\`\n\n${rest.join("\n")}\n${end}`;
  });
}

export function readPage(): string {
  return readFileSync(file, "utf8");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  writeFileSync(file, withTables(readPage()));
