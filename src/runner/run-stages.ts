import { allocatePending } from "../allocate/allocate-pending.js";
import type { Publication } from "../allocate/allocation-job.js";
import { finalizeOldDays } from "../allocate/finalize-days.js";
import { rollForward } from "../allocate/roll-forward.js";
import { storeRuleSet } from "../allocate/rules.js";
import { readAssigned } from "../assignments/read.js";
import { claimStaging, dropStagedDaysExcept } from "../clickhouse/staging.js";
import { type DayRange, dayOf } from "../common/days.js";
import { periodOn } from "../config/dated.js";
import { prepareStore } from "../ingest/configured/store-maps.js";
import type { AnyEcosystem } from "../ingest/ecosystem.js";
import { keepChargedIdentities } from "../ingest/inventory/charged-identities.js";
import { copyNames } from "../ingest/inventory/copy-names.js";
import { inventoryOwner } from "../ingest/inventory/inventory-sink.js";
import { runStatement } from "../postgres/statement.js";
import { dropNextBills, finishAbandonedSwap } from "../stores/facts/atomic-swap.js";
import { repairSums } from "../stores/facts/sums.js";
import type { TenantStore } from "../stores/stores.js";
import { copyNewDimensions } from "../tags/copy-new-dimensions.js";
import { checkMirror, mirrorWaiting } from "../tags/mirror.js";
import { checkClock } from "./check-clock.js";
import { checkFiles } from "./check-files.js";
import { claimStore } from "./claim-store.js";
import { emitTenantFiles } from "./emit-files.js";
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
import { type PeriodRules, tenantRules } from "./tenant-rules.js";
import { type TopicPlan, topicPlan, topicRetentionStart } from "./topic-plan.js";
import { gatherWindow, refuseUnstorable } from "./window.js";

/** The input that all stages of a run share. */
interface StageInput {
  readonly run: BegunRun;
  readonly ecosystem: AnyEcosystem;
  readonly store: TenantStore;
  readonly publication: Publication;
  /** Of each period of the configuration, the earliest first. */
  readonly periods: readonly PeriodRules[];
  readonly topics: TopicPlan | undefined;
  readonly today: string;
  /** The days that this run gathers. */
  readonly window: DayRange;
  /** The days that a run gathers unless its caller names others. */
  readonly usualWindow: DayRange;
  /** First days that the retention keeps. */
  readonly keepFrom: string;
  readonly keepAttributionsFrom: string;
  readonly progress: RunProgress;
  /** Number of days that the repair published. */
  readonly repaired: number;
  /** Days that became final, because no run gathers them again. */
  final: readonly string[];
}

/** All stages after the repair, in order. Each can be repeated after a crash. */
const stages: readonly ((input: StageInput) => Promise<void>)[] = [
  storeRules,
  gather,
  calculate,
  finalizeDays,
  cleanUp,
  keepIdentities,
  dropOldDays,
  mirrorTags,
  recordTotals,
  emit,
];

/** Claims the tenant's store, repairs what the last run left, and runs the stages. */
export async function runStages(
  run: BegunRun,
  lease: Lease,
  progress: RunProgress,
  signal: AbortSignal,
): Promise<void> {
  const input = await claimAndRepair(run, lease, progress, signal);
  for (const stage of stages) await stage(input);
}

async function claimAndRepair(
  run: BegunRun,
  lease: Lease,
  progress: RunProgress,
  signal: AbortSignal,
): Promise<StageInput> {
  const { tenant, request } = run;
  const { postgres, backupLock } = run.stores;
  const tenantName = tenant.tenant_name;
  const ecosystem = run.ecosystems.get(tenant.ecosystem);
  if (ecosystem === undefined) throw new Error(`unknown ecosystem ${tenant.ecosystem}`);
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
  const { publication, repaired } = await backupLock.shared(async () => {
    progress.notes.push(...(await claimStore(run, store, lease, retentionStarts)));
    const { epoch } = lease;
    const publication = { client: store.client, postgres, backupLock, tenantName, epoch, signal };
    return { publication, repaired: await repair(run, publication) };
  }, signal);
  const assignments = run.hasAssignments ? await readAssigned(postgres, tenantName) : [];
  const periods = tenantRules(tenant, ecosystem, assignments);
  return {
    run,
    ecosystem,
    store,
    publication,
    periods,
    topics: topicPlan(periodOn(periods, today).tenant, ecosystem, today),
    today,
    window,
    usualWindow,
    keepFrom,
    keepAttributionsFrom,
    progress,
    repaired,
    final: [],
  };
}

async function storeRules({ publication, periods, topics }: StageInput): Promise<void> {
  const { client, signal } = publication;
  for (const rules of new Map(periods.map((each) => [each.rules.hash, each.rules])).values())
    await storeRuleSet(client, rules, signal);
  const plans = periods.flatMap(({ allocation }) => allocation ?? []);
  await prepareStore(client, plans, signal);
  if (topics !== undefined) await storeRuleSet(client, topics.rules, signal);
}

async function gather(input: StageInput): Promise<void> {
  const { run, ecosystem, store, publication, periods, topics, window, keepFrom, today, progress } = input;
  const { epoch, signal, tenantName } = publication;
  await recordProgress(input, "gathering", null);
  const gathered = await gatherTenant({
    ...run,
    ecosystem,
    store,
    epoch,
    periods,
    topics: topics?.staging,
    window,
    today,
    keepFrom,
    signal,
  });
  await copyNames(publication);
  progress.dates_gathered = gathered.days;
  progress.errors.push(...gathered.errors);
  progress.notes.push(...gathered.notes);
  run.observer.gathered(tenantName, gathered.days);
}

async function calculate(input: StageInput): Promise<void> {
  const { run, ecosystem, publication, periods, topics, progress } = input;
  await allocatePending({
    ...publication,
    ...run.limits,
    rulesOn: (day) => periodOn(periods, day).rules,
    ...(topics && { topics }),
    decimalPlaces: run.tenant.allocation.decimal_places,
    hasOtherCosts: ecosystem.hasOtherCosts ?? false,
    retryLimit: run.tenant.allocation_retry_limit,
    logger: run.logger,
    onStage: (name, day) => recordProgress(input, name, day),
    ...reporting(run, progress),
  });
}

/** Days that no later run gathers again become final, and days that still lack data are reported. */
async function finalizeDays(input: StageInput): Promise<void> {
  const { run, publication, window, usualWindow, progress } = input;
  const { postgres, tenantName } = publication;
  input.final = await finalizeOldDays(publication, { before: usualWindow.start, gathered: window });
  progress.notes.push(...reportFinalDays(input.final));
  const limits = {
    chargebacks: run.tenant.allocation_retry_limit,
    topic_attributions: run.tenant.topic_attribution_retry_limit,
  };
  const missingData = await reportMissingData(postgres, { tenantName, window, runId: run.runId, limits });
  progress.errors.push(...missingData.errors);
  progress.notes.push(...missingData.notes);
}

async function cleanUp({ publication }: StageInput): Promise<void> {
  await dropNeedlessStaging(publication);
  await copyNewDimensions(publication);
}

/** Identities and resources that published days name stay in the inventory, even if their upstream has lost them. */
async function keepIdentities({ run, publication, window, usualWindow, repaired, progress }: StageInput) {
  if (repaired === 0 && progress.dates_calculated === 0) return;
  const { client, postgres, signal } = publication;
  const [from = window.start] = [window.start, usualWindow.start].sort();
  const charged = { client, postgres, owner: inventoryOwner(run.tenant), from, signal };
  for (const message of await keepChargedIdentities(charged))
    progress.errors.push({ date: null, source: "gather", message });
  await copyNames(publication);
}

async function dropOldDays(input: StageInput): Promise<void> {
  const { store, publication, usualWindow, keepFrom, keepAttributionsFrom, progress } = input;
  const { postgres, backupLock, signal } = publication;
  const firstDays = { keepFrom, keepAttributionsFrom, gatheredFrom: usualWindow.start };
  await backupLock.shared(() => applyRetention({ ...publication, ...firstDays }), signal);
  progress.errors.push(...(await checkFiles(store, postgres, signal)));
}

async function mirrorTags({ publication }: StageInput): Promise<void> {
  await checkMirror(publication);
  await mirrorWaiting(publication);
}

async function recordTotals(input: StageInput): Promise<void> {
  const { publication, usualWindow, repaired, final, progress } = input;
  const published = repaired > 0 || final.length > 0;
  await recordControl({ ...input, window: usualWindow, published }, publication.signal);
  progress.published = await readPublished(publication.postgres, publication.tenantName);
}

async function emit(input: StageInput): Promise<void> {
  const { run, usualWindow } = input;
  await emitTenantFiles(run, {
    ...input,
    gatheredFrom: usualWindow.start,
    stage: (name, day) => recordProgress(input, name, day),
  });
}

/** Records which stage the run is in, and the day that it works on. */
async function recordProgress(
  { run, progress }: StageInput,
  name: string,
  day: string | null,
): Promise<void> {
  await runStatement(run.stores.postgres, recordStage({ runId: run.runId, stage: name, day, progress }));
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
