import { shownInResult } from "../common/shown-in-result.js";
import type { Ledger } from "../domain/ledger.js";
import { type PgStatement, runStatement } from "../postgres/statement.js";
import { errorText } from "../stores/error-text.js";
import type { LedgerJob } from "./allocation-job.js";
import { isRunOver } from "./publish.js";
import type { DayCheck } from "./sql/check-conservation.js";

/** Failed attempts of each pending day before this run. */
export type DayFailures = ReadonlyMap<string, number>;

export function conserves(check: DayCheck): boolean {
  return check.lines_off === 0;
}

/** A calculated day does not equal its bill, so it must not be published. */
export class ConservationError extends Error {
  override readonly name = "ConservationError";
  constructor(readonly check: DayCheck) {
    super(
      `conservation check failed: ${check.lines_off} of ${check.lines} lines differ, billed ${check.billed}, charged ${check.charged}`,
    );
  }
}

/**
 * Counts a failed attempt of a day, which stays published as it is. At the limit, `giveUp` charges its lines as a whole
 * to the ledger's `nobody`, so that the day does not wait forever. Throws only errors that end the run.
 */
export async function failDay(
  job: LedgerJob,
  { day, error, failures }: { day: string; error: unknown; failures: DayFailures },
  giveUp: () => Promise<void>,
): Promise<void> {
  const { ledger, tenantName, logger, retryLimit } = job;
  const reason = errorText(error);
  const isConservation = error instanceof ConservationError;
  if (isConservation) {
    logger.fatal(
      { [shownInResult]: true, tenant: tenantName, date: day, check: error.check },
      "conservation check failed: the day is not published",
    );
  }
  const attempt = (failures.get(day) ?? 0) + 1;
  job.onFailure(day, `attempt ${attempt} of ${retryLimit}: ${reason}`, isConservation);
  await runStatement(job.postgres, recordFailure({ ledger, tenantName, days: [day], reason }));
  if (attempt < retryLimit) return;
  logger.error(
    { tenant: tenantName, date: day, err: error },
    `allocation failed ${attempt} times: all lines of the day are charged to ${ledger.nobody}`,
  );
  try {
    await giveUp();
  } catch (second) {
    if (isRunOver(job, second)) throw second;
    job.onFailure(day, `could not be given to ${ledger.nobody} either: ${errorText(second)}`, false);
  }
}

/** Counts a failed attempt of the days, and stores the reason. */
function recordFailure(input: {
  ledger: Ledger;
  tenantName: string;
  days: readonly string[];
  reason: string;
}): PgStatement {
  const { state, attempts: column } = input.ledger;
  return {
    query: `
UPDATE ${state} SET ${column} = ${column} + 1, last_error = $3
WHERE tenant_name = $1 AND tracking_date = ANY($2::date[])`,
    params: [input.tenantName, input.days, input.reason],
  };
}
