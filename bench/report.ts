/** Formats figures as a table for people and as JSON for machines. */
import type { Machine } from "./machine.js";
import type { Figure } from "./measure.js";

export interface BenchReport {
  /** The arguments after `npm run bench --`. */
  readonly command: string;
  /** UTC day. */
  readonly measured_on: string;
  readonly machine: Machine;
  readonly sizes: Readonly<Record<string, number>>;
  readonly repeat: number;
  readonly figures: readonly Figure[];
}

function isMet({ value, target }: Figure): boolean | undefined {
  if (target === undefined) return undefined;
  return target.at === "least" ? value >= target.value : value <= target.value;
}

export function reportJson(report: BenchReport): string {
  const figures = report.figures.map((figure) => ({ ...figure, met: isMet(figure) }));
  return `${JSON.stringify({ ...report, figures }, null, 2)}\n`;
}

/** Formats a Markdown table, which is readable in a terminal and in the documentation. */
export function reportTable(report: BenchReport): string {
  const rows = report.figures.map((figure) => [
    figure.benchmark,
    figure.name,
    shownValue(figure),
    targetText(figure),
    [{ true: "met", false: "missed" }[String(isMet(figure))], figure.note]
      .filter((text) => text !== undefined)
      .join("; "),
  ]);
  return [
    `npm run bench -- ${report.command}`,
    circumstances(report),
    "",
    markdownTable([["benchmark", "figure", "value", "target", ""], ...rows]),
  ].join("\n");
}

/** Returns a list item: the command of the report, and when and where it ran. */
export function measurement(report: BenchReport): string {
  return `- \`npm run bench -- ${report.command}\`, ${circumstances(report)}`;
}

function circumstances({ measured_on, machine, sizes, repeat }: BenchReport): string {
  const { cpu, cores, memory_gib, node, engine, load, additions_per_second } = machine;
  return [
    measured_on,
    cpu,
    `${cores} cores`,
    `${memory_gib} GiB`,
    `node ${node}`,
    `engine ${engine}`,
    `load ${load.toFixed(1)}`,
    // Older reports do not have the speed.
    ...(additions_per_second === undefined
      ? []
      : [`${Math.round(additions_per_second / 1e6)} M additions/s`]),
    ...Object.entries(sizes).map(([name, size]) => `${name} ${size.toLocaleString("en")}`),
    `medians of ${repeat}`,
  ].join(", ");
}

/** The first row has the titles. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [titles = [], ...body] = rows;
  return [line(titles), line(widths.map((width) => "-".repeat(width))), ...body.map(line), ""].join("\n");
}

export const shownValue = ({ value, unit }: Figure) => `${shown(value)} ${unit}`;

export function targetText(figure: Figure | undefined): string {
  if (figure?.target === undefined) return "";
  return `${figure.target.at === "least" ? "≥" : "≤"} ${shown(figure.target.value)}`;
}

function shown(value: number): string {
  if (Number.isNaN(value)) return "unknown";
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
