/** Runs the checks on the loaded rows. Only counts and a few examples of each finding leave the engine. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, readTuples } from "../../clickhouse/statement.js";
import type { FocusFile } from "../map-columns.js";
import { checks } from "./all-checks.js";
import type { CheckCondition, CheckText } from "./check-types.js";
import { clean } from "./clean.js";
import type { CheckFinding, FindingExample } from "./report.js";
import { ROWS, raw } from "./sql.js";

const EXAMPLES = 3;
/** Each check keeps groups of up to 32 MiB in memory and spills more to disk. A dozen checks may run at once. */
const groupSettings = { max_bytes_before_external_group_by: String(32 * 2 ** 20) };

interface RawFinding {
  readonly check: CheckText;
  readonly column: string;
  readonly count: number;
  readonly examples: readonly FindingExample[];
}

export async function findingsOf(
  client: ClickHouseClient,
  file: FocusFile,
  signal?: AbortSignal,
): Promise<CheckFinding[]> {
  const found: RawFinding[] = [
    ...columnFindings(file),
    ...(await rowFindings(client, file, signal)),
    ...(await groupFindings(client, file, signal)),
  ];
  const rank = new Map(
    checks.map(({ id, level }, index) => [id, index + (level === "error" ? 0 : checks.length)]),
  );
  return found
    .map((finding, index) => ({ ...finding, index }))
    .sort((a, b) => (rank.get(a.check.id) ?? 0) - (rank.get(b.check.id) ?? 0) || a.index - b.index)
    .map(({ check: { id, level, what }, column, count, examples }) => ({
      id,
      level,
      column: clean(column, 50),
      count,
      what,
      examples,
    }));
}

function columnFindings(file: FocusFile): RawFinding[] {
  return checks.flatMap((check) =>
    check.kind !== "columns"
      ? []
      : check.find(file).map(({ column, value }) => ({
          check,
          column,
          count: 1,
          examples: value === undefined ? [] : [{ row: null, value: clean(value) }],
        })),
  );
}

/** Counts all conditions in one pass over the rows. */
async function rowFindings(
  client: ClickHouseClient,
  file: FocusFile,
  signal?: AbortSignal,
): Promise<RawFinding[]> {
  const conditions = checks.flatMap((check) =>
    check.kind === "rows" ? check.conditions(file).map((condition) => ({ check, condition })) : [],
  );
  const counted = conditions.map(({ condition }) => `countIf(${condition.violated})`);
  const [counts = []] = await readTuples<number[]>(
    client,
    { query: `SELECT ${counted.join(", ")} FROM ${ROWS}`, params: {} },
    signal,
  );
  const found: RawFinding[] = [];
  for (const [index, { check, condition }] of conditions.entries()) {
    const count = counts[index] ?? 0;
    if (count === 0) continue;
    const examples = await examplesOf(client, violations(condition), signal);
    found.push({ check, column: condition.column, count, examples });
  }
  return found;
}

function violations({ column, violated, value }: CheckCondition): string {
  return `SELECT row, ${value ?? raw(column)} AS value FROM ${ROWS} WHERE ${violated}`;
}

/** Counts all groups with one statement. */
async function groupFindings(
  client: ClickHouseClient,
  file: FocusFile,
  signal?: AbortSignal,
): Promise<RawFinding[]> {
  const groups = checks.flatMap((check) =>
    check.kind === "groups" ? check.groups(file).map((group) => ({ check, ...group })) : [],
  );
  if (groups.length === 0) return [];
  const all = groups
    .map(({ query }, index) => `SELECT ${index} AS index FROM (${query})`)
    .join(" UNION ALL ");
  const counts = await readRows<{ index: number; count: number }>(
    client,
    { query: `SELECT index, count() AS count FROM (${all}) GROUP BY index ORDER BY index`, params: {} },
    signal,
    groupSettings,
  );
  const found: RawFinding[] = [];
  for (const { index, count } of counts) {
    const group = groups[index];
    if (group === undefined) continue;
    const { check, column, query } = group;
    found.push({ check, column, count, examples: await examplesOf(client, query, signal) });
  }
  return found;
}

/** The first examples in the file. The engine truncates their texts. */
async function examplesOf(
  client: ClickHouseClient,
  query: string,
  signal?: AbortSignal,
): Promise<FindingExample[]> {
  const first = `SELECT row, toValidUTF8(leftUTF8(value, 200)) AS value FROM (${query}) ORDER BY row, value LIMIT ${EXAMPLES}`;
  const examples = await readRows<FindingExample>(
    client,
    { query: first, params: {} },
    signal,
    groupSettings,
  );
  return examples.map(({ row, value }) => ({ row, value: value === null ? null : clean(value) }));
}
