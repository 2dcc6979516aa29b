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
export function reportTable({ command, measured_on, machine, figures, sizes, repeat }: BenchReport): string {
  const head = [
    `npm run bench -- ${command}`,
    `${measured_on}, ${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, node ${machine.node}, engine ${machine.engine}, load ${machine.load.toFixed(1)}${speedOf(machine)}`,
    `${Object.entries(sizes)
      .map(([name, size]) => `${name} ${size.toLocaleString("en")}`)
      .join(", ")}; medians of ${repeat}`,
  ];
  const rows = [
    ["benchmark", "figure", "value", "target", ""],
    ...figures.map((figure) => [
      figure.benchmark,
      figure.name,
      `${shown(figure.value)} ${figure.unit}`,
      figure.target === undefined
        ? ""
        : `${figure.target.at === "least" ? "≥" : "≤"} ${shown(figure.target.value)}`,
      [{ true: "met", false: "missed" }[String(isMet(figure))], figure.note]
        .filter((text) => text !== undefined)
        .join("; "),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [titles = [], ...body] = rows;
  return [
    ...head,
    "",
    line(titles),
    line(widths.map((width) => "-".repeat(width))),
    ...body.map(line),
    "",
  ].join("\n");
}

/** Older reports do not have the speed. */
function speedOf({ additions_per_second }: Machine): string {
  if (additions_per_second === undefined) return "";
  return `, ${Math.round(additions_per_second / 1e6)} M additions/s`;
}

function shown(value: number): string {
  if (Number.isNaN(value)) return "unknown";
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
