/** Gathers a window into the staging tables, and finds the days that were gathered completely. */
import type { ClickHouseClient } from "@clickhouse/client";
import { dropStagedDays } from "../clickhouse/staging.js";
import { LeaseLostError } from "../common/lease-lost.js";
import { ledgers } from "../domain/ledger.js";
import { UpstreamError } from "../upstream/http/upstream-error.js";
import { assignmentSql } from "./configured/assign-lines.js";
import { daysThatDiffer } from "./control/check-staged-bill.js";
import { recordTotalsOfDays } from "./control/record-totals-of-days.js";
import type { WindowReport } from "./reports.js";
import type { StageWindowOptions } from "./staged-window.js";
import { forgetStaged } from "./staging/forget-staged.js";
import { createStagingSink, EVERY_DAY, type SinkFindings } from "./staging/staging-sink.js";
import { createStagingWriter } from "./staging/staging-writer.js";

export interface GatheredWindow {
  readonly report: WindowReport;
  readonly findings: SinkFindings;
  /** Days that were gathered as completely as possible. */
  readonly taken: readonly string[];
  readonly before: StagedBefore;
}

/** Hashes of what was staged of days before this gathering. */
export interface StagedBefore {
  readonly chargebacks: ReadonlyMap<string, string>;
  readonly attributions: ReadonlyMap<string, string>;
}

/**
 * Gathers the window. Earlier staged rows of it are dropped when the first rows come, or at the end of a gathering
 * without rows. If the upstream fails the window as a whole, the control totals show what was requested.
 */
export async function gatherToStaging(
  { store, postgres, epoch, gatherer, window, allocation, signal }: StageWindowOptions,
  days: readonly string[],
): Promise<GatheredWindow> {
  const { client, tenantName, tenantId, ecosystem } = store;
  let before: StagedBefore = { chargebacks: new Map(), attributions: new Map() };
  const prepare = async () => {
    const chargebacks = await forgetStaged(postgres, ledgers.chargebacks, tenantName, epoch, window);
    const attributions = await forgetStaged(postgres, ledgers.topic_attributions, tenantName, epoch, window);
    if (chargebacks === undefined || attributions === undefined) throw new LeaseLostError(epoch);
    before = { chargebacks, attributions };
    await dropStagedDays(client, epoch, days);
  };
  const assignment = allocation && assignmentSql(allocation);
  const writer = createStagingWriter({ client, epoch, assignment, prepare, signal });
  const sink = createStagingSink({ window, ecosystem, tenantId, writer });
  const report = await gatherer.gatherWindow(window, sink, signal).catch(async (error) => {
    if (error instanceof UpstreamError && !signal.aborted) {
      const totals = gatherer.totalsOfFailedWindow?.(window);
      // If Postgres is unreachable as well, the error of the gatherer is the one to report.
      await recordTotalsOfDays(postgres, { tenantName, taken: [], kept: [] }, totals).catch(() => undefined);
    }
    throw error;
  });
  await sink.finish();
  const { findings } = sink;
  await checkStagedBill({ client, epoch, days, signal }, report, findings);
  return { report, findings, taken: takenDays(days, report, findings), before };
}

interface StagedDays {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  readonly days: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Marks days as incomplete if their staged lines do not add up to the rows of the bill. They stay as they are
 * published.
 */
async function checkStagedBill(
  { client, epoch, days, signal }: StagedDays,
  { billed }: WindowReport,
  { incompleteDays }: SinkFindings,
): Promise<void> {
  if (billed === undefined) return;
  for (const [day, reason] of await daysThatDiffer(client, { epoch, days }, billed, signal))
    if (!incompleteDays.has(day)) incompleteDays.set(day, reason);
}

function takenDays(
  days: readonly string[],
  report: WindowReport,
  { incompleteDays }: SinkFindings,
): string[] {
  if (incompleteDays.has(EVERY_DAY)) return [];
  const reported = new Set([...report.completeDays, ...(report.partialDays ?? [])]);
  return days.filter((day) => reported.has(day) && !incompleteDays.has(day));
}
