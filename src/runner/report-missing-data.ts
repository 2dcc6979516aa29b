/** What could not be had, as sentences of a run: one for each cause, however many days it concerns. */
import type { Pool } from "pg";
import type { DayWindow } from "../ingest/ecosystem.js";
import type { DayRemark } from "../ingest/reports.js";
import type { LedgerName } from "../store/ledger.js";
import { runStatement } from "../store/postgres/statement.js";
import { daysInWords } from "../time/days.js";
import { type DaysWithMissingData, daysWithMissingData } from "./sql/days-with-missing-data.js";
import type { RunError } from "./sql/runs.js";

const called = { chargebacks: "chargebacks", topic_attributions: "attributions to topics" } as const;

/** What a run says about days that lack something. */
interface MissingDataReport {
  readonly errors: readonly RunError[];
  /** About days that an earlier run settled: nothing changes any more, and nobody has to act. */
  readonly notes: readonly string[];
}

/** About days that are published without something: which are provisional, which were settled without it, and why. */
export async function reportMissingData(
  postgres: Pool,
  {
    tenantName,
    window,
    runId,
    limits,
  }: {
    readonly tenantName: string;
    readonly window: DayWindow;
    readonly runId: string;
    readonly limits: Readonly<Record<LedgerName, number>>;
  },
): Promise<MissingDataReport> {
  const { rows } = await runStatement<DaysWithMissingData>(
    postgres,
    daysWithMissingData({ tenantName, ...window, runId }),
  );
  const errors: RunError[] = [];
  const notes: string[] = [];
  for (const { ledger, lack, provisional, calculated_now, days } of rows) {
    const limit = limits[ledger];
    const state = provisional
      ? "provisional"
      : `settled without it after ${limit} attempt${limit === 1 ? "" : "s"}`;
    const message = `the ${called[ledger]} are ${state}: ${lack}`;
    if (provisional || calculated_now) errors.push(aboutDays(days, message));
    else notes.push(`${daysInWords(days)}: ${message}`);
  }
  return { errors, notes };
}

/** Of days that stay as they are published. */
export function reportKeptData(remarks: readonly DayRemark[]): RunError[] {
  const days = new Map<string, string[]>();
  for (const { day, remark } of remarks) days.set(remark, [...(days.get(remark) ?? []), day]);
  return [...days].map(([remark, concerned]) => aboutDays(concerned.sort(), remark));
}

/** Of provisional days that are not gathered any more, as notes of a run. */
export function reportFinalDays(days: readonly string[]): string[] {
  if (days.length === 0) return [];
  const are = days.length === 1 ? "is" : "are";
  return [`${daysInWords(days)} ${are} older than lookback_days, and settled without what was missing`];
}

function aboutDays(days: readonly string[], message: string): RunError {
  const [first = null] = days;
  if (days.length === 1) return { date: first, source: "gather", message };
  return { date: null, source: "gather", message: `${daysInWords(days)}: ${message}` };
}
