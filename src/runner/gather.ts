import { type DayRange, daysOfWindow } from "../common/days.js";
import { digestOf } from "../common/digest.js";
import { withoutSecrets } from "../common/known-secrets.js";
import { LeaseLostError } from "../common/lease-lost.js";
import { isLostPostgres } from "../common/lost-connection.js";
import { mapHashes } from "../config/allocation/identity-map.js";
import type { TenantConfig } from "../config/config.js";
import { periodOn } from "../config/dated.js";
import type { AnyEcosystem, Gatherer } from "../ingest/ecosystem.js";
import { gatherInventory } from "../ingest/inventory/gather-inventory.js";
import { inventoryOwner } from "../ingest/inventory/inventory-sink.js";
import { createKnownInventory, type KnownInventoryReader } from "../ingest/inventory/known-inventory.js";
import type { DayRemark } from "../ingest/reports.js";
import { settingsDigest } from "../ingest/settings-digest.js";
import type { TopicStaging } from "../ingest/stage-topics.js";
import { stageWindow } from "../ingest/stage-window.js";
import type { StagedWindow, StageWindowOptions } from "../ingest/staged-window.js";
import { runStatement } from "../postgres/statement.js";
import { errorText } from "../stores/error-text.js";
import { storeInTrouble } from "../stores/store-trouble.js";
import type { TenantStore } from "../stores/stores.js";
import { connectPeriods, type PeriodUpstreams } from "./connect-periods.js";
import { reportKeptData } from "./report-missing-data.js";
import type { RunRequest, TenantRunContext } from "./run-context.js";
import { recordGatheredDays } from "./sql/gathered-days.js";
import type { RunError } from "./sql/runs.js";
import { type GatherState, gatherState, recordGather, recordGatherFailure } from "./sql/tenants.js";
import type { PeriodRules } from "./tenant-rules.js";
import { cutWindow } from "./window.js";

/**
 * Gathers a tenant: the inventory, then the window in pieces. A gather that fails as a whole counts towards the
 * tenant's suspension. Missing data of single days or sources is reported, and the next run tries again.
 */
export interface GatherTenant extends TenantRunContext {
  readonly tenant: TenantConfig;
  readonly ecosystem: AnyEcosystem;
  readonly store: TenantStore;
  readonly epoch: number;
  /** Of each period of the configuration, the earliest first. */
  readonly periods: readonly PeriodRules[];
  /** Undefined if costs are not attributed to topics. */
  readonly topics: TopicStaging | undefined;
  readonly window: DayRange;
  readonly today: string;
  /** First UTC day within the retention. */
  readonly keepFrom: string;
  readonly request: RunRequest;
  readonly signal: AbortSignal;
}

export interface GatheringResult {
  /** Days whose bill was gathered completely. */
  readonly days: number;
  readonly errors: readonly RunError[];
  /** Notes for the record of the run. */
  readonly notes: readonly string[];
}

export async function gatherTenant(input: GatherTenant): Promise<GatheringResult> {
  const tooSoon = await tooSoonToGather(input);
  if (tooSoon !== undefined) return { days: 0, errors: [], notes: [tooSoon] };
  const errors: RunError[] = [];
  const report = (message: string) => errors.push({ date: null, source: "gather", message });
  const tally: Tally = { days: 0, notes: new Set(), refused: undefined, kept: [] };
  const started = performance.now();
  try {
    const { tenant_name: tenantName } = input.tenant;
    const known = createKnownInventory(input.stores.postgres, tenantName);
    const upstream = connectPeriods(input.ecosystem, {
      known,
      logger: input.logger,
      store: {
        client: input.store.client,
        postgres: input.stores.postgres,
        backupLock: input.stores.backupLock,
        epoch: input.epoch,
        gatheredFrom: input.window.start,
        keepFrom: input.keepFrom,
      },
    });
    try {
      await gatherAll(input, { upstream, known }, tally, report);
    } finally {
      await upstream.close();
    }
    const secondsAgo = (performance.now() - started) / 1000;
    if (tally.refused === undefined)
      await runStatement(
        input.stores.postgres,
        recordGather({ tenantName, secondsAgo, settings: gatheredSettings(input) }),
      );
    else await countFailure(input, tally.refused);
  } catch (error) {
    // An abort, and a store that is unreachable or out of order, are not the upstream's fault. They end the run and do
    // not count as a failed gather.
    input.signal.throwIfAborted();
    if (error instanceof LeaseLostError || storeInTrouble(error) !== undefined) throw error;
    // Postgres may be reachable again, and would count the failure.
    if (isLostPostgres(error)) throw error;
    if (!(await input.store.client.ping()).success) throw error;
    report(`gather failed: ${errorText(error)}`);
    await countFailure(input, errors.at(-1)?.message ?? "");
  }
  return { days: tally.days, errors: [...errors, ...reportKeptData(tally.kept)], notes: [...tally.notes] };
}

/** Totals over the windows of a run. */
interface Tally {
  days: number;
  readonly notes: Set<string>;
  refused: string | undefined;
  readonly kept: DayRemark[];
}

async function gatherAll(
  input: GatherTenant,
  { upstream, known }: { readonly upstream: PeriodUpstreams; readonly known: KnownInventoryReader },
  tally: Tally,
  report: (message: string) => void,
): Promise<void> {
  const { store, epoch, tenant, periods, signal, logger } = input;
  const postgres = input.stores.postgres;
  const { gatherer } = upstream.on(periodOn(periods, input.today));
  const inventory = await gatherInventory({
    postgres,
    client: store.client,
    owner: inventoryOwner(tenant),
    gatherer,
    zeroGatherDeletionThreshold: tenant.zero_gather_deletion_threshold,
    signal,
    logger,
  });
  known.renew();
  inventory.errors.forEach(report);
  for (const note of inventory.notes) tally.notes.add(note);
  const size = { ...gatherer, cutAtMonths: isCutAtMonths(input, gatherer) };
  const changes = periods.flatMap(({ start = [] }) => start);
  for (const window of cutWindow(input.window, size, changes)) {
    signal.throwIfAborted();
    const period = periodOn(periods, window.start);
    const staged = await stageRecorded({
      store,
      postgres,
      epoch,
      ...upstream.on(period),
      window,
      rulesHash: period.rules.hash,
      inputRulesHash: period.inputRulesHash,
      allocation: period.allocation,
      decimalPlaces: tenant.allocation.decimal_places,
      derivingMetrics: input.ecosystem.derivingMetrics(period.tenant.plugin_settings),
      standIns: input.ecosystem.standIns,
      unknownOwnersAreActive: input.ecosystem.unknownOwnersAreActive,
      inventoryLacks: inventory.lacks,
      completeTypes: inventory.completeTypes,
      retryLimit: tenant.allocation_retry_limit,
      topics: input.topics,
      force: input.request.force ?? false,
      signal,
      logger,
    });
    tally.days += staged.staged.length + staged.unchanged.length;
    tally.kept.push(...staged.kept);
    staged.errors.forEach(report);
    for (const note of staged.notes) tally.notes.add(note);
    tally.refused ??= staged.refused;
  }
}

/**
 * Windows are gathered newest first. Costs of a month are weighed together with its earlier days, so a month must not
 * be split between windows.
 */
function isCutAtMonths({ periods }: GatherTenant, { cutAtMonths = false }: Gatherer): boolean {
  return (
    cutAtMonths || periods.some(({ allocation }) => allocation?.costs.some(({ over }) => over === "month"))
  );
}

/**
 * Slack of the minimum gap in seconds. With a gap as long as the interval of cycles (the default), a gather that starts
 * a moment earlier in its cycle than the last one would otherwise wait for the next cycle.
 */
const gapSlack = (gapSeconds: number) => Math.min(60, gapSeconds / 10);

/** Minimum seconds between gathers that the API triggers, so that several triggers in a row are one gather. */
const TRIGGER_GAP = 60;

/** Digest of all settings that can change what is gathered. Secrets are not included. */
function gatheredSettings({ tenant, ecosystem, periods }: GatherTenant): string {
  const { tenant_id, lookback_days, cutoff_days, allocation, identity_to_team, plugin_settings } = tenant;
  const plugin = settingsDigest(ecosystem, plugin_settings);
  const maps = mapHashes(tenant.identity_maps);
  const assigned = periods
    .map(({ allocation: plan }) => plan?.assigned?.map.hash)
    .find((hash) => hash !== undefined);
  return digestOf({
    tenant_id,
    lookback_days,
    cutoff_days,
    allocation,
    identity_to_team,
    plugin,
    ...(maps.length > 0 && { maps }),
    ...(assigned !== undefined && { assigned }),
  });
}

/**
 * Returns why a run should not gather, because the last gather is too recent; undefined if it should. A scheduled run
 * gathers anyway if the last run failed or the settings have changed. Staged days are calculated in any case.
 */
async function tooSoonToGather(input: GatherTenant): Promise<string | undefined> {
  const { tenant, request, stores, logger } = input;
  const { tenant_name: tenantName, plugin_settings } = tenant;
  const minGap = plugin_settings.min_refresh_gap_seconds;
  const gap = { schedule: minGap, api: request.forceGather ? 0 : Math.min(minGap, TRIGGER_GAP), cli: 0 }[
    request.trigger
  ];
  if (gap === 0 || request.isDelivered) return undefined;
  const settings = gatheredSettings(input);
  const states = await runStatement<GatherState>(stores.postgres, gatherState(tenantName, settings));
  const [state] = states.rows;
  if (request.trigger === "schedule" && (state?.settings_changed || state?.last_run_failed)) return undefined;
  const seconds = state?.seconds_since_gather ?? Number.POSITIVE_INFINITY;
  if (seconds >= gap - gapSlack(gap)) return undefined;
  logger.info(
    { tenant: tenantName, seconds },
    `Tenant ${tenantName}: gathered moments ago, not gathering again`,
  );
  const ago = `not gathered: the last gathering began ${Math.round(seconds)} seconds ago`;
  return request.trigger === "schedule"
    ? `${ago}, and min_refresh_gap_seconds is ${minGap}`
    : `${ago}, and a triggered run gathers once in ${gap} seconds unless it has force_gather`;
}

async function countFailure(input: GatherTenant, reason: string): Promise<void> {
  const cause = withoutSecrets(reason);
  const { tenant_name: tenantName, gather_failure_threshold: threshold } = input.tenant;
  const counted = await runStatement<{ gather_failures: number; suspended: boolean }>(
    input.stores.postgres,
    recordGatherFailure({ tenantName, threshold, cause }),
  );
  const state = counted.rows[0];
  if (!state?.suspended) return;
  input.observer.suspended(tenantName);
  input.logger.fatal(
    { tenant: tenantName, failures: state.gather_failures, cause },
    `ALERT: Tenant ${tenantName} has been permanently suspended`,
  );
}

/** Stages a window, and records days with no bill or a failed bill, which leave no other trace. */
async function stageRecorded(options: StageWindowOptions): Promise<StagedWindow> {
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
