import { stageWindow } from "../ingest/stage-window.js";
import type { StagedWindow, StageWindowOptions } from "../ingest/staged-window.js";
import { errorText } from "../store/clickhouse/error-text.js";
import { runStatement } from "../store/postgres/statement.js";
import { daysOfWindow } from "../time/days.js";
import { noteGatheredDays } from "./sql/gathered-days.js";

/** Stages a window, and records the days that nothing can be seen of otherwise: those without a bill, and those whose bill did not come. */
export async function stageRecorded(options: StageWindowOptions): Promise<StagedWindow> {
  const { postgres, store, window, signal } = options;
  const { tenantName } = store;
  const days = daysOfWindow(window);
  try {
    const staged = await stageWindow(options);
    const { empty, incomplete, errors } = staged;
    const reasons = incomplete.map((day) => reasonOf(day, errors));
    await runStatement(postgres, noteGatheredDays({ tenantName, days, empty, failed: incomplete, reasons }));
    return staged;
  } catch (error) {
    if (!signal.aborted) {
      const reasons = days.map(() => errorText(error));
      // Where Postgres is away, too, the error of the gathering is the one to be told.
      await runStatement(
        postgres,
        noteGatheredDays({ tenantName, days, empty: [], failed: days, reasons }),
      ).catch(() => undefined);
    }
    throw error;
  }
}

/** Errors of a window are sentences, those of one day with the day in front. */
function reasonOf(day: string, errors: readonly string[]): string {
  return errors.find((error) => error.includes(day)) ?? errors[0] ?? "its bill was not gathered completely";
}
