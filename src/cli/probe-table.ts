/** Formats the responses of tenants' upstreams as a table of at most 80 columns. */
import type { Probe } from "../ingest/reports.js";

const WIDTH = 80;
const LONGEST_NAME = 30;
/** The most labels that are listed. The rest is only counted. */
const MOST_LABELS = 8;

export interface TenantProbes {
  readonly tenantName: string;
  readonly ecosystem: string;
  readonly probes: readonly Probe[];
}

export function probeTable(tenants: readonly TenantProbes[]): string {
  return tenants.map(tenantTable).join("\n");
}

function tenantTable({ tenantName, ecosystem, probes }: TenantProbes): string {
  const name = Math.min(LONGEST_NAME, Math.max(...probes.map((probe) => probe.name.length)));
  const rows = probes.map((probe) => {
    const lines = folded(outcome(probe), WIDTH - name - 11);
    const [first = "", ...more] = probe.name.length > name ? ["", ...lines] : lines;
    const head = `  ${mark(probe).padEnd(5)}  ${probe.name.padEnd(name)}  ${first}`.trimEnd();
    return [head, ...more.map((line) => `${" ".repeat(name + 11)}${line}`)].join("\n");
  });
  return `${[`${tenantName} (${ecosystem})`, ...rows].join("\n")}\n`;
}

function mark({ failure, remark }: Probe): string {
  if (failure !== undefined) return "FAILS";
  return remark === undefined ? "ok" : "look";
}

function outcome({ found, period, labels = [], failure, remark }: Probe): string {
  if (failure !== undefined) return failure;
  const counts = Object.entries(found ?? {}).map(([what, count]) => `${count} ${what}`);
  const shown = labels.slice(0, MOST_LABELS);
  const more = labels.length > shown.length ? [`${labels.length - shown.length} more`] : [];
  return [
    ...(found === undefined ? [] : [counts.length === 0 ? "none" : counts.join(", ")]),
    ...(period === undefined ? [] : [period]),
    ...(shown.length === 0 ? [] : [`labels: ${[...shown, ...more].join(", ")}`]),
    ...(remark === undefined ? [] : [remark]),
  ].join("; ");
}

/** Wraps text between words, and within words that are longer than a line. */
function folded(text: string, width: number): string[] {
  const words = text.split(" ").flatMap((word) => word.match(new RegExp(`.{1,${width}}`, "gu")) ?? []);
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines;
}
