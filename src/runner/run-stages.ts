import { allocatePending } from "../allocate/allocate-pending.js";
import type { Publication } from "../allocate/publish.js";
import { rollForward } from "../allocate/roll-forward.js";
import { storeRuleSet } from "../allocate/rules.js";
import { settleAbandonedDays } from "../allocate/settle-days.js";
import { claimStaging, dropStagedDaysExcept } from "../clickhouse/staging.js";
import { dayOf } from "../common/days.js";
import { prepareStore } from "../ingest/configured/store-maps.js";
import { keepChargedIdentities } from "../ingest/inventory/charged-identities.js";
import { copyNames } from "../ingest/inventory/copy-names.js";
import { inventoryOwner } from "../ingest/inventory/inventory-sink.js";
import { runStatement } from "../postgres/statement.js";
import { dropNextBills, finishAbandonedSwap } from "../stores/facts/atomic-swap.js";
import { repairSums } from "../stores/facts/sums.js";
import { copyNewDimensions } from "../tags/copy-new-dimensions.js";
import { checkMirror, mirrorWaiting } from "../tags/mirror.js";
import { checkClock } from "./check-clock.js";
import { checkFiles } from "./check-files.js";
import { claimStore } from "./claim-store.js";
import { emitFiles } from "./emit-files.js";
import { gatherTenant } from "./gather.js";
import type { Lease } from "./lease.js";
import type { RunProgress } from "./progress.js";
import { recordControl } from "./record-control.js";
import { reportFinalDays, reportMissingData } from "./report-missing-data.js";
import { applyRetention } from "./retention.js";
import type { BegunRun } from "./run-context.js";
import { readPublished } from "./sql/published.js";
import { recordStage } from "./sql/runs.js";
import { stagedDays } from "./sql/staged-days.js";
import { tenantRules } from "./tenant-rules.js";
import { topicPlan, topicRetentionStart } from "./topic-plan.js";
import { gatherWindow, refuseUnstorable } from "./window.js";

/**
 * The stages of a run, in order: repair what the last one left, gather, calculate and publish, drop what is too old,
 * emit.
 */
export async function runStages(
  run: BegunRun,
  lease: Lease,
  progress: RunProgress,
  signal: AbortSignal,
): Promise<void> {
  const { tenant, request } = run;
  const { postgres } = run.stores;
  const tenantName = tenant.tenant_name;
  const ecosystem = run.ecosystems.get(tenant.ecosystem);
  if (ecosystem === undefined) throw new Error(`unknown ecosystem ${tenant.ecosystem}`);
  const { rules, allocation } = tenantRules(tenant, ecosystem);
  // Read once, so that the checked time applies to the whole run, even if the clock changes meanwhile.
  const clock = run.now();
  const today = dayOf(clock);
  const usualWindow = gatherWindow(today, tenant.lookback_days, tenant.cutoff_days);
  const window = request.window ?? usualWindow;
  for (const each of [usualWindow, window]) refuseUnstorable(each);
  await checkClock(run, clock);
  const store = await run.stores.tenant(tenantName);
  signal.throwIfAborted();
  const keepFrom = gatherWindow(today, tenant.retention_days, 0).start;
  const keepAttributionsFrom = topicRetentionStart(tenant, today);
  const retentionStarts = { chargebacks: keepFrom, topic_attributions: keepAttributionsFrom };
  const { publishLock } = run.stores;
  const { publication, repaired } = await publishLock.shared(async () => {
    progress.notes.push(...(await claimStore(run, store, lease, retentionStarts)));
    const { epoch } = lease;
    const publication: Publication = {
      client: store.client,
      postgres,
      publishLock,
      tenantName,
      epoch,
      signal,
    };
    return { publication, repaired: await repair(run, publication) };
  }, signal);
  const { epoch } = publication;
  const topics = topicPlan(tenant, ecosystem, today);
  await storeRuleSet(store.client, rules, signal);
  if (allocation !== undefined) await prepareStore(store.client, allocation, signal);
  if (topics !== undefined) await storeRuleSet(store.client, topics.rules, signal);

  const stage = async (name: string, day: string | null) =>
    void (await runStatement(postgres, recordStage({ runId: run.runId, stage: name, day, progress })));
  await stage("gathering", null);
  const gathered = await gatherTenant({
    ...run,
    ecosystem,
    store,
    epoch,
    rules,
    allocation,
    topics: topics?.staging,
    window,
    keepFrom,
    signal,
  });
  await copyNames({ client: store.client, postgres, tenantName, signal });
  progress.dates_gathered = gathered.days;
  progress.errors.push(...gathered.errors);
  progress.notes.push(...gathered.notes);
  run.observer.gathered(tenantName, gathered.days);

  await allocatePending({
    ...publication,
    ...run.limits,
    rules,
    ...(topics && { topics }),
    decimalPlaces: tenant.allocation.decimal_places,
    retryLimit: tenant.allocation_retry_limit,
    logger: run.logger,
    onStage: stage,
    ...reporting(run, progress),
  });
  const settled = await settleAbandonedDays(publication, { before: usualWindow.start, gathered: window });
  progress.notes.push(...reportFinalDays(settled));
  const limits = {
    chargebacks: tenant.allocation_retry_limit,
    topic_attributions: tenant.topic_attribution_retry_limit,
  };
  const missingData = await reportMissingData(postgres, { tenantName, window, runId: run.runId, limits });
  progress.errors.push(...missingData.errors);
  progress.notes.push(...missingData.notes);
  await dropNeedlessStaging(publication);
  await copyNewDimensions({ client: store.client, postgres, tenantName, signal });
  if (repaired > 0 || progress.dates_calculated > 0) {
    const [from = window.start] = [window.start, usualWindow.start].sort();
    const owner = inventoryOwner(tenant);
    const charged = { client: store.client, postgres, owner, from, signal };
    for (const message of await keepChargedIdentities(charged))
      progress.errors.push({ date: null, source: "gather", message });
    await copyNames({ client: store.client, postgres, tenantName, signal });
  }
  const firstDays = { keepFrom, keepAttributionsFrom, gatheredFrom: usualWindow.start };
  const retention = { client: store.client, epoch, postgres, tenantName, ...firstDays };
  await publishLock.shared(() => applyRetention(retention), signal);
  progress.errors.push(...(await checkFiles(store, postgres, signal)));
  const mirror = { client: store.client, postgres, tenantName, signal };
  await checkMirror(mirror);
  await mirrorWaiting(mirror);
  await recordControl(
    {
      run,
      ecosystem,
      store,
      window: usualWindow,
      keepFrom,
      published: repaired > 0 || settled.length > 0,
      progress,
    },
    signal,
  );
  progress.published = await readPublished(postgres, tenantName);
  await emitFiles(run, { publication, today, ...firstDays, stage, progress });
}

/**
 * Claims the staging tables, completes an interrupted publish, and drops staged data that is no longer needed. Returns
 * the number of days that it published.
 */
async function repair(run: BegunRun, publication: Publication): Promise<number> {
  const { client, tenantName, epoch } = publication;
  await claimStaging(client, epoch);
  const { finished, lost } = await rollForward(publication);
  if (finished.length > 0)
    run.logger.warn({ tenant: tenantName, days: finished }, "finished an interrupted publish");
  if (lost.length > 0)
    run.logger.error(
      { tenant: tenantName, days: lost },
      "an interrupted publish has lost its staged rows: the days are recalculated",
    );
  await finishAbandonedSwap(publication);
  const recalculated = await repairSums(publication);
  if (recalculated.length > 0)
    run.logger.warn(
      { tenant: tenantName, days: recalculated },
      "rebuilt sums that differed from their chargebacks",
    );
  await dropNeedlessStaging(publication);
  return finished.length;
}

/**
 * Drops staged rows of days that no longer wait: they are published, or come from a run that died while gathering. Once
 * per run, because emptying a table costs a sixth of dropping its partitions batch by batch.
 */
async function dropNeedlessStaging({ client, postgres, tenantName, epoch }: Publication): Promise<void> {
  const waiting = await runStatement<{ day: string }>(postgres, stagedDays(tenantName));
  await dropStagedDaysExcept(client, epoch, new Set(waiting.rows.map((row) => row.day)));
  await dropNextBills({ client, epoch });
}

function reporting({ tenant, observer }: BegunRun, progress: RunProgress) {
  const { tenant_name: tenantName } = tenant;
  return {
    onPending(days: number) {
      progress.dates_pending = days;
      observer.pending(tenantName, days);
    },
    onPublished(day: Parameters<typeof observer.published>[1]) {
      progress.dates_calculated += 1;
      progress.chargeback_rows_written += day.rows;
      observer.published(tenantName, day);
    },
    onFailure(date: string, message: string, conservation: boolean) {
      progress.errors.push({ date, source: "calculate", message });
      if (conservation) progress.conservationFailures += 1;
    },
  };
}
