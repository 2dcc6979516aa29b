import { daysOfWindow } from "../common/days.js";
import { stageWindow } from "../ingest/stage-window.js";
import type { StagedWindow, StageWindowOptions } from "../ingest/staged-window.js";
import { runStatement } from "../postgres/statement.js";
import { errorText } from "../stores/error-text.js";
import { recordGatheredDays } from "./sql/gathered-days.js";

/** Stages a window, and records days with no bill or a failed bill, which leave no other trace. */
export async function stageRecorded(options: StageWindowOptions): Promise<StagedWindow> {
  const { postgres, store, window, signal } = options;
  const { tenantName } = store;
  const days = daysOfWindow(window);
  try {
    const staged = await stageWindow(options);
    const { empty, incomplete, errors } = staged;
    const reasons = incomplete.map((day) => reasonOf(day, errors));
    await runStatement(
      postgres,
      recordGatheredDays({ tenantName, days, empty, failed: incomplete, reasons }),
    );
    return staged;
  } catch (error) {
    if (!signal.aborted) {
      const reasons = days.map(() => errorText(error));
      // If Postgres is unreachable as well, the error of the gather is the one to report.
      await runStatement(
        postgres,
        recordGatheredDays({ tenantName, days, empty: [], failed: days, reasons }),
      ).catch(() => undefined);
    }
    throw error;
  }
}

/** Returns the error for a day. Errors of one day begin with the day; others apply to the whole window. */
function reasonOf(day: string, errors: readonly string[]): string {
  return errors.find((error) => error.includes(day)) ?? errors[0] ?? "its bill was not gathered completely";
}
