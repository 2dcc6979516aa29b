/** Reports missing data as messages of a run: one per cause, for any number of days. */
import type { Pool } from "pg";
import { type DayRange, daysInWords } from "../common/days.js";
import type { LedgerName } from "../domain/ledger.js";
import type { DayRemark } from "../ingest/reports.js";
import { runStatement } from "../postgres/statement.js";
import { type DaysWithMissingData, daysWithMissingData } from "./sql/days-with-missing-data.js";
import type { RunError } from "./sql/runs.js";

const ledgerTexts = { chargebacks: "chargebacks", topic_attributions: "attributions to topics" } as const;

/** Messages about days with missing data. */
interface MissingDataReport {
  readonly errors: readonly RunError[];
  /** About days that an earlier run made final: they no longer change, and nobody has to act. */
  readonly notes: readonly string[];
}

/** Reports published days with missing data: which are provisional, which are final without it, and why. */
export async function reportMissingData(
  postgres: Pool,
  {
    tenantName,
    window,
    runId,
    limits,
  }: {
    readonly tenantName: string;
    readonly window: DayRange;
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
      : `final without it after ${limit} attempt${limit === 1 ? "" : "s"}`;
    const message = `the ${ledgerTexts[ledger]} are ${state}: ${lack}`;
    if (provisional || calculated_now) errors.push(aboutDays(days, message));
    else notes.push(`${daysInWords(days)}: ${message}`);
  }
  return { errors, notes };
}

/** Reports days whose published data is kept. */
export function reportKeptData(remarks: readonly DayRemark[]): RunError[] {
  const days = new Map<string, string[]>();
  for (const { day, remark } of remarks) days.set(remark, [...(days.get(remark) ?? []), day]);
  return [...days].map(([remark, concerned]) => aboutDays(concerned.sort(), remark));
}

/** Returns notes about provisional days that are no longer gathered. */
export function reportFinalDays(days: readonly string[]): string[] {
  if (days.length === 0) return [];
  const are = days.length === 1 ? "is" : "are";
  return [`${daysInWords(days)} ${are} older than lookback_days, and final without the missing data`];
}

function aboutDays(days: readonly string[], message: string): RunError {
  const [first = null] = days;
  if (days.length === 1) return { date: first, source: "gather", message };
  return { date: null, source: "gather", message: `${daysInWords(days)}: ${message}` };
}
