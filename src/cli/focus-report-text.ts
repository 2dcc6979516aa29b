/** Formats the report of a FOCUS file within the width of a terminal. Text from the file is already sanitized. */
import { clean, costs, type Example, type Finding, type FocusReport } from "../focus/check/index.js";
import type { Terminal } from "./command.js";
import { wrapWords } from "./wrap.js";

const WIDTH = 80;
const LABEL = 10;
/** The most columns in one line of a finding about columns. */
const MOST_NAMES = 20;

export function writeFocusReport(stdout: Terminal, report: FocusReport, { first = true } = {}): void {
  const lines = [...head(report), ...totalLines(report), "", ...findingLines(report)];
  stdout.write(`${first ? "" : "\n"}${lines.map((line) => `${line}\n`).join("")}`);
}

const compressions = { none: "", gz: ", gzip", zstd: ", zstd" } as const;

function head(report: FocusReport): string[] {
  const { start, end } = report.charge_period;
  const periods = report.billing_periods.map(
    ({ start, end, rows }) => `${start ?? "null"} to ${end ?? "null"}, ${counted(rows, "row")}`,
  );
  const more = report.more_billing_periods === 0 ? [] : [`and ${report.more_billing_periods} more`];
  return [
    ...labelled("file", broken(clean(report.file, 1000))),
    ...labelled("format", [`${report.format}${compressions[report.compression]}`]),
    ...labelled("version", [
      `FOCUS ${report.focus_version}, ${report.version_detected ? "detected from the columns" : "as given"}`,
    ]),
    ...labelled("rows", [String(report.rows)]),
    ...labelled("periods", periods.length === 0 ? ["none"] : [...periods, ...more]),
    ...labelled("charges", [start === null || end === null ? "none" : `${start} to ${end}`]),
  ];
}

/** One line per sum, because exact sums can have many digits. */
function totalLines({ totals, more_currencies }: FocusReport): string[] {
  const lines = totals.flatMap(({ currency, rows, ...sums }) => [
    `${currency ?? "no currency"}, ${counted(rows, "row")}`,
    ...costs.flatMap((cost) =>
      broken(sums[cost] ?? "none", WIDTH - 18).map(
        (text, at) => `  ${(at === 0 ? cost : "").padEnd(16)}${text}`,
      ),
    ),
  ]);
  const more = more_currencies === 0 ? [] : [`and ${more_currencies} more currencies`];
  return [...(lines.length === 0 ? [] : [""]), ...lines, ...more];
}

function findingLines({ errors, warnings, findings }: FocusReport): string[] {
  if (findings.length === 0) return ["No findings."];
  const shown = new Set<string>();
  const lines = findings.flatMap((finding) => {
    // Findings about columns have no rows, so one line names all columns.
    if (!isOfColumns(finding)) return ["", ...rowFinding(finding)];
    if (shown.has(finding.id)) return [];
    shown.add(finding.id);
    return ["", ...columnFinding(findings.filter(({ id }) => id === finding.id))];
  });
  return [`${counted(errors, "error")}, ${counted(warnings, "warning")}`, ...lines];
}

const isOfColumns = ({ id }: Finding) => id.startsWith("column-");

function columnFinding(findings: readonly Finding[]): string[] {
  const [{ level, id, what } = { level: "error", id: "", what: "" }] = findings;
  const names = findings
    .slice(0, MOST_NAMES)
    .map(({ column, examples: [example] }) => (example ? `${column} (${example.value})` : column));
  const more = findings.length > names.length ? [`and ${findings.length - names.length} more`] : [];
  return [
    `${level.padEnd(LABEL)}${id}: ${counted(findings.length, "column")}`,
    ...indented(what),
    ...indented([...names, ...more].join(", ")),
  ];
}

function rowFinding({ level, id, column, count, what, examples }: Finding): string[] {
  return [
    ...labelled(level, wrapWords(`${id}: ${column}, ${count}×`, WIDTH - LABEL)),
    ...indented(what),
    ...examples.flatMap((example) => indented(exampleText(example))),
  ];
}

function exampleText({ row, value }: Example): string {
  return `row ${row}: ${value === null ? "null" : `"${value}"`}`;
}

function indented(text: string): string[] {
  return labelled(
    "",
    wrapWords(text, WIDTH - LABEL).flatMap((line) => broken(line)),
  );
}

/** Breaks within words that are longer than a line. */
function broken(text: string, width = WIDTH - LABEL): string[] {
  const letters = [...text];
  const lines: string[] = [];
  for (let at = 0; at < letters.length; at += width) lines.push(letters.slice(at, at + width).join(""));
  return lines;
}

function labelled(label: string, lines: readonly string[]): string[] {
  return lines.map((line, at) => `${(at === 0 ? label : "").padEnd(LABEL)}${line}`.trimEnd());
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
