/**
 * A row that steps passed on has been given several times: first by a rule, then by each step. Any of these can be
 * explained: what a step took from an identity is the sum of the rows that came of it.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { oneThread, readRows, type Statement } from "../../../clickhouse/statement.js";
import { ledgers } from "../../../domain/ledger.js";
import { hashOfPoint, linePoints } from "../../../domain/rounding-offsets.js";
import type { DimensionFields } from "../dimension-row.js";
import { type PassedHop, splitKey } from "../row-metadata.js";
import type { DayRow } from "./day.js";
import { conditionsOf, lineKey } from "./split-conditions.js";

/** A row as it was given, before later steps took it. */
export interface GivenRow extends DayRow {
  /** The hops before it. Empty if a rule gave it. */
  readonly hops: readonly PassedHop[];
  /** The amount that the step split, a plain decimal. Undefined if a rule gave it: a rule splits the line. */
  readonly taken: string | undefined;
}

export interface Passing {
  /** The amount that each step took, a plain decimal. */
  readonly amounts: readonly string[];
  /** For each step, the hashes of `linePoints`. */
  readonly hashes: readonly (readonly string[])[];
}

/** Returns a condition on rows: these hops gave them, and maybe later ones. */
export function isPassedBy(hops: readonly PassedHop[]): Statement {
  if (hops.length === 0) return { query: "", params: {} };
  const first = (column: string) => `arraySlice(passed_path.${column}, 1, ${hops.length})`;
  return {
    query: ` AND ${first("step")} = {steps_${hops.length}:Array(UInt8)} AND ${first("identity_id")} = {from_${hops.length}:Array(String)}`,
    params: {
      [`steps_${hops.length}`]: hops.map(({ step }) => step),
      [`from_${hops.length}`]: hops.map(({ identity_id }) => identity_id),
    },
  };
}

/** SQL for the identity that a row belonged to after so many steps. */
export function identityAfter(hops: number): string {
  return `if(length(passed_path.step) > ${hops}, toString(passed_path.identity_id[${hops + 1}]), toString(identity_id))`;
}

/** Selects what each step of the row's path took, and the hashes of its points. */
export function passingOfRow(dimension: DimensionFields, day: string, row: DayRow): Statement {
  const { passed_path, component } = row;
  const prefixes = passed_path.map((_, index) => passed_path.slice(0, index + 1));
  const conditions = prefixes.map(isPassedBy);
  const rows = conditionsOf({ dimension, day, row }, splitKey);
  const line = conditionsOf({ dimension, day, row }, lineKey);
  const texts = prefixes.map((hops) =>
    ["", component, ...hops.flatMap(({ step, identity_id }) => [step, identity_id])].join("\n"),
  );
  const hashes = texts.map((_, index) => {
    const points = linePoints.map(
      (point) => `toString(${hashOfPoint(ledgers.chargebacks, point, `{taken_${index}:String}`)})`,
    );
    return `[${points.join(", ")}]`;
  });
  const amounts = conditions.map(
    ({ query }) => `toString(sumIf(CAST(amount_hi AS Decimal(38, 12)) + amount_lo, 1${query}))`,
  );
  return {
    query: `
SELECT amounts, hashes
FROM (SELECT [${amounts.join(", ")}] AS amounts FROM chargebacks WHERE ${rows.query}) AS taken
CROSS JOIN (SELECT [${hashes.join(", ")}] AS hashes FROM published_billing WHERE ${line.query} LIMIT 1) AS points`,
    params: Object.assign(
      {},
      rows.params,
      line.params,
      ...conditions.map(({ params }) => params),
      Object.fromEntries(texts.map((text, index) => [`taken_${index}`, text])),
    ),
  };
}

export async function readPassing(
  client: ClickHouseClient,
  input: { readonly dimension: DimensionFields; readonly day: string; readonly row: DayRow },
  signal?: AbortSignal,
): Promise<Passing> {
  const { dimension, day, row } = input;
  if (row.passed_path.length === 0) return { amounts: [], hashes: [] };
  const statement = passingOfRow(dimension, day, row);
  const [passing] = await readRows<Passing>(client, statement, signal, oneThread);
  return passing ?? { amounts: [], hashes: [] };
}

/** Returns the row as a rule (0) or a step of its path (from 1) gave it. */
export function givenRow(row: DayRow, { amounts }: Passing, giving: number): GivenRow {
  const hops = row.passed_path.slice(0, giving);
  const taken = giving === 0 ? undefined : amounts[giving - 1];
  const next = row.passed_path[giving];
  if (next === undefined) return { ...row, hops, taken };
  const { step: _, identity_id: __, ...given } = next;
  return { ...row, ...given, amount: amounts[giving] ?? row.amount, hops, taken };
}
