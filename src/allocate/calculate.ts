/**
 * Calculates staged days into the staged rows of a ledger and verifies them: allocates them, stage by stage, then
 * compares every line with its bill. The check of each day says whether it may be published. Nothing is published here.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import pRetry from "p-retry";
import { dropStagedDays } from "../clickhouse/staging.js";
import { readRows, type Statement } from "../clickhouse/statement.js";
import { isLostConnection } from "../common/lost-connection.js";
import { FIRST_STAGE } from "../domain/allocation-rule.js";
import type { SplitLedger } from "./ledger.js";
import type { AllocatedWeights, PassingStep, RuleSet } from "./rules.js";
import { allocateDays } from "./sql/allocate-days.js";
import {
  daysWithAllocatedWeights,
  dropAllocatedWeights,
  insertAllocatedWeights,
} from "./sql/allocated-weights.js";
import { checkConservation, type DayCheck } from "./sql/check-conservation.js";
import { unallocateDays } from "./sql/unallocate-days.js";
import { WORTH_SUMMING } from "./sql/usage-sums.js";
import { type WeightBound, weightBound } from "./sql/weight-bound.js";

/** The stores, the rules and the limits of a calculation. */
export interface Calculation {
  readonly ledger: SplitLedger;
  readonly client: ClickHouseClient;
  readonly epoch: number;
  readonly rules: RuleSet;
  readonly decimalPlaces: number;
  readonly signal: AbortSignal;
  /** Splits the other costs of the bill as well. Default: it has one cost. */
  readonly hasOtherCosts?: boolean;
  /** Whether each day is provisional, and the hash of its input. Default: final, without a hash. */
  readonly marks?: ReadonlyMap<string, DayMarks>;
  /** Memory limit of one statement, in bytes. */
  readonly maxMemoryBytes: number;
  /** How many lines a statement holds in memory with their recipients. Default: the engine's. */
  readonly linesAtOnce?: number;
}

export interface DayMarks {
  /** Data of the day is missing and may still arrive. */
  readonly provisional: boolean;
  /** Hash of the day's input. Rows show it as `revision`. */
  readonly revision: string;
}

/** How long to wait for an unreachable store, in milliseconds. */
const WAIT_FOR_STORE = {
  retries: Number.POSITIVE_INFINITY,
  minTimeout: 100,
  maxTimeout: 1_000,
  maxRetryTime: 15_000,
} as const;

/** The engine takes 0.25 s of processor time to plan a statement. With fewer rows, a second one does not pay off. */
const MIN_ROWS_FOR_TWO_STATEMENTS = 1_000_000;

/**
 * A product of cost and weight with fewer decimal digits fits Int128, even with the rounding offset added, which is less
 * than the total weight.
 */
const INT128_DIGITS = 37;

/**
 * Allocates the days and checks them. Throws if the statement itself fails; then none of the days is calculated. If the
 * store becomes unreachable, the days are calculated again once it is back. If the store goes away again, it throws: the
 * days may be the cause.
 */
export async function calculateDays(calculation: Calculation, days: readonly string[]): Promise<DayCheck[]> {
  try {
    return await calculateOnce(calculation, days);
  } catch (error) {
    if (!isLostConnection(error)) throw error;
    if (!(await isBack(calculation))) throw error;
  }
  try {
    return await calculateOnce(calculation, days);
  } catch (error) {
    if (!isLostConnection(error) || !(await isBack(calculation))) throw error;
    throw new Error("the store went away twice while it calculated", { cause: error });
  }
}

/** Waits for the store; false if it stays down. */
async function isBack({ client, signal }: Calculation): Promise<boolean> {
  const ping = async () => {
    const { success } = await client.ping();
    if (!success) throw new Error("the store does not respond");
  };
  return await pRetry(ping, { ...WAIT_FOR_STORE, signal }).then(
    () => true,
    () => false,
  );
}

/**
 * Calculates one stage after the other. Each line is allocated in one stage, that of its rule, so one check at the end
 * covers all stages.
 */
async function calculateOnce(calculation: Calculation, days: readonly string[]): Promise<DayCheck[]> {
  const { ledger, client, epoch, rules } = calculation;
  await dropStagedDays(client, epoch, days, [ledger.name]);
  const { stages, steps } = rules;
  const weigh = async (weights: readonly AllocatedWeights[]) => {
    for (const each of weights)
      await execute(calculation, insertAllocatedWeights({ epoch, days }, each, steps));
  };
  if (stages.length + steps.length > 0) await dropWeights(calculation, days);
  const bound = await boundOf(calculation, days);
  await allocateStage(calculation, days, bound, { stage: stages.length === 0 ? undefined : FIRST_STAGE });
  const later = { ...boundsOfLaterStages, has_repeated_lines: bound.has_repeated_lines };
  for (const { stage, weights } of stages) {
    await weigh(weights);
    await allocateStage(calculation, days, later, { stage });
  }
  for (const step of steps) {
    await weigh(step.weights);
    await allocateStage(calculation, days, later, { step });
  }
  return await checkDays(calculation, days);
}

/** Drops weights that an interrupted calculation left. A mutation is slow, so it runs only if there are any. */
async function dropWeights(calculation: Calculation, days: readonly string[]): Promise<void> {
  const { client, epoch, signal } = calculation;
  const left = await rows<{ staged_day: string }>(calculation, daysWithAllocatedWeights({ epoch, days }));
  if (left.length === 0) return;
  const { query, params } = dropAllocatedWeights({ epoch, days: left.map(({ staged_day }) => staged_day) });
  await client.command({
    query,
    query_params: { ...params },
    clickhouse_settings: { mutations_sync: "1" },
    abort_signal: signal,
  });
}

/**
 * Later stages have few lines, so their cost is mostly planning. A statement for the bounds would cost more than it saves:
 * the widest integers are assumed.
 */
const boundsOfLaterStages: WeightBound = {
  digits: Number.POSITIVE_INFINITY,
  rows_at_most: 0,
  samples_a_sum: 1,
  has_repeated_lines: true,
};

/**
 * Lines of later stages and steps are often shared by everybody. With a thousand lines of a thousand recipients, a
 * statement took 0.2 GiB; with the engine's 65,409 it held all lines at once.
 */
const LATER_LINES_AT_ONCE = 1_000;

/** Allocates the lines of a stage, or the rows that a step takes. No stage: all rules are of the first one. */
async function allocateStage(
  calculation: Calculation,
  days: readonly string[],
  bound: WeightBound,
  { stage, step }: { readonly stage?: number | undefined; readonly step?: PassingStep },
): Promise<void> {
  const { ledger, epoch, rules } = calculation;
  const isLater = step !== undefined || (stage !== undefined && stage !== FIRST_STAGE);
  const wide = bound.digits >= INT128_DIGITS;
  const { hash: rulesHash, combinesMetrics, configured, steps } = rules;
  const { decimalPlaces, hasOtherCosts = false } = calculation;
  const sumsOfDay = bound.samples_a_sum >= WORTH_SUMMING;
  const options = {
    ledger,
    epoch,
    rulesHash,
    decimalPlaces,
    combinesMetrics,
    sumsOfDay,
    wide,
    hasOtherCosts,
    hasRepeatedLines: bound.has_repeated_lines,
    configured: configured && { ...configured, steps, stage, step },
  };
  await allAtOnce(
    { ...calculation, ...(isLater && { linesAtOnce: LATER_LINES_AT_ONCE }) },
    (bound.rows_at_most < MIN_ROWS_FOR_TWO_STATEMENTS ? [days] : halves(days)).map((half) =>
      allocateDays({ ...options, ...marked(calculation, half) }),
    ),
  );
}

function marked({ marks }: Calculation, days: readonly string[]) {
  return {
    days,
    provisional: days.filter((day) => marks?.get(day)?.provisional),
    revisions: days.map((day) => marks?.get(day)?.revision ?? ""),
  };
}

/** Returns both halves of days, or one half of a single day. The first half has the odd day. */
export function halves(days: readonly string[]): (readonly string[])[] {
  const middle = Math.ceil(days.length / 2);
  return [days.slice(0, middle), days.slice(middle)].filter((half) => half.length > 0);
}

/**
 * Runs statements side by side and divides the memory among them. The engine writes with one thread per statement, so a
 * single statement leaves a core idle. Waits for all of them, even if one fails: none may still be writing when its
 * days are calculated again.
 */
async function allAtOnce(calculation: Calculation, statements: readonly Statement[]): Promise<void> {
  const maxMemoryBytes = Math.floor(calculation.maxMemoryBytes / statements.length);
  const ended = await Promise.allSettled(
    statements.map((statement) => execute({ ...calculation, maxMemoryBytes }, statement)),
  );
  const failed = ended.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Allocates every line of the days as a whole to the ledger's `nobody`, and checks them. */
export async function unallocate(calculation: Calculation, days: readonly string[]): Promise<DayCheck[]> {
  const { ledger, client, epoch, rules, decimalPlaces, hasOtherCosts = false } = calculation;
  await dropStagedDays(client, epoch, days, [ledger.name]);
  const options = { ledger, epoch, rulesHash: rules.hash, decimalPlaces, hasOtherCosts };
  await execute(calculation, unallocateDays({ ...options, ...marked(calculation, days) }));
  return await checkDays(calculation, days);
}

/** Returns one check per day, even for days without lines and rows. */
async function checkDays(calculation: Calculation, days: readonly string[]): Promise<DayCheck[]> {
  const { ledger, epoch, rules, hasOtherCosts = false } = calculation;
  const statement = checkConservation({ ledger, epoch, rulesHash: rules.hash, days, hasOtherCosts });
  const checks = await rows<DayCheck>(calculation, statement);
  const byDay = new Map(checks.map((check) => [check.day, check]));
  const empty = { lines: 0, rows: 0, lines_off: 0, billed: "", charged: "" };
  return days.map((day) => ({ ...empty, ...byDay.get(day), day }));
}

async function boundOf(calculation: Calculation, days: readonly string[]): Promise<WeightBound> {
  const { ledger, epoch, decimalPlaces, hasOtherCosts = false } = calculation;
  const statement = weightBound({ ledger, epoch, days, decimalPlaces, hasOtherCosts });
  const [bound] = await rows<WeightBound>(calculation, statement);
  return bound ?? { ...boundsOfLaterStages, rows_at_most: Number.POSITIVE_INFINITY };
}

async function execute(calculation: Calculation, statement: Statement): Promise<void> {
  await calculation.client.command({
    query: statement.query,
    query_params: { ...statement.params },
    abort_signal: calculation.signal,
    clickhouse_settings: {
      max_memory_usage: String(calculation.maxMemoryBytes),
      ...(calculation.linesAtOnce !== undefined && { max_block_size: String(calculation.linesAtOnce) }),
      max_partitions_per_insert_block: "1000",
      // A batch is written as one block, so that a day is one part: smaller on disk than two, and nothing to merge
      // later.
      min_insert_block_size_rows: "2500000",
      min_insert_block_size_bytes: "536870912",
      // Spills to disk well before the limit, so that a day of any size fits.
      max_bytes_before_external_group_by: String(Math.floor(calculation.maxMemoryBytes / 4)),
      max_bytes_before_external_sort: String(Math.floor(calculation.maxMemoryBytes / 4)),
    },
  });
}

async function rows<Row>(calculation: Calculation, statement: Statement): Promise<Row[]> {
  // Counts are far below 2^53; amounts are cast to text.
  const settings = { output_format_json_quote_64bit_integers: 0 } as const;
  return await readRows<Row>(calculation.client, statement, calculation.signal, settings);
}
