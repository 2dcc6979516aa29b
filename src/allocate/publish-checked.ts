import { dropStagedDays } from "../clickhouse/staging.js";
import { LeaseLostError } from "../common/lease-lost.js";
import { errorText } from "../stores/error-text.js";
import { isStoreFault } from "../stores/store-trouble.js";
import type { LedgerJob } from "./allocation-job.js";
import { recordDimensions } from "./dimensions.js";
import { outdatedAttributions } from "./outdated-attributions.js";
import { PublishInterruptedError, publishDays } from "./publish.js";
import type { DayCheck } from "./sql/check-conservation.js";

/** Topic attributions that were calculated and wait to be published, by day. */
export type Attributed = ReadonlyMap<string, DayCheck>;

/**
 * Publishes days whose check succeeded, with the dimensions of their rows and their topic attributions. The same step
 * removes visible attributions that do not match the new bill and have no successor yet.
 */
export async function publishChecked(
  job: LedgerJob,
  checks: readonly DayCheck[],
  attributed: Attributed,
): Promise<void> {
  const off = checks.find((check) => check.lines_off !== 0);
  if (off !== undefined) throw new RangeError(`${off.day} does not conserve and must not be published`);
  const [first] = checks;
  if (first === undefined) return;
  await job.onStage("publishing", first.day);
  const days = checks.map((check) => check.day);
  await recordDimensions(job, days);
  const replaced = days.flatMap((day) => attributed.get(day) ?? []);
  const withdrawn = await outdatedAttributions(
    job,
    days.filter((day) => !attributed.has(day)),
  );
  await dropStagedDays(job.client, job.epoch, withdrawn, ["topic_attributions"]);
  await publishDays(job, checks.map(withRows), { replaced: replaced.map(withRows), withdrawn });
  for (const check of checks) job.onPublished(check);
}

/** Publishes attributions of days whose chargebacks do not change. Throws only errors that end the run. */
export async function publishAttributions(job: LedgerJob, checks: readonly DayCheck[]): Promise<void> {
  const [first] = checks;
  if (first === undefined) return;
  await job.onStage("publishing", first.day);
  try {
    await publishDays(job, [], { replaced: checks.map(withRows), withdrawn: [] });
  } catch (error) {
    if (isRunOver(job, error)) throw error;
    const message = `attributions to topics could not be published: ${errorText(error)}`;
    for (const { day } of checks) job.onFailure(day, message, false);
  }
}

function withRows({ day, rows }: DayCheck) {
  return { day, rows };
}

/**
 * Returns whether the error ends the run: a lost lease, a lost or failing store, an abort, or a publish that only the
 * next run can finish. Other errors concern a single day.
 */
export function isRunOver(job: Pick<LedgerJob, "signal">, error: unknown): boolean {
  const isInterrupted = error instanceof LeaseLostError || error instanceof PublishInterruptedError;
  return job.signal.aborted || isInterrupted || isStoreFault(error);
}
