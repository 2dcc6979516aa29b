import type { RuleSet } from "../allocate/rules.js";
import type { AllocationPlan } from "../config/allocation/plan.js";
import type { TenantConfig } from "../config/config.js";
import { digestOf } from "../config/digest.js";
import type { AnyEcosystem, DayWindow, Gatherer } from "../ingest/ecosystem.js";
import { gatherInventory } from "../ingest/inventory/gather-inventory.js";
import { inventoryOwner } from "../ingest/inventory/inventory-sink.js";
import { createKnownInventory, type KnownInventoryReader } from "../ingest/inventory/known-inventory.js";
import type { DayRemark } from "../ingest/reports.js";
import { settingsDigest } from "../ingest/settings-digest.js";
import type { TopicStaging } from "../ingest/stage-topics.js";
import { withoutSecrets } from "../secrets/known-secrets.js";
import { errorText } from "../store/clickhouse/error-text.js";
import { LeaseLostError } from "../store/lease-lost.js";
import { isLostPostgres } from "../store/lost-connection.js";
import { runStatement } from "../store/postgres/statement.js";
import { storeInTrouble } from "../store/store-trouble.js";
import type { TenantStore } from "../store/stores.js";
import { reportKeptData } from "./report-missing-data.js";
import type { RunRequest, TenantRunContext } from "./run-context.js";
import type { RunError } from "./sql/runs.js";
import { type GatherState, gatherState, noteGather, noteGatherFailure } from "./sql/tenants.js";
import { stageRecorded } from "./stage-recorded.js";
import { cutWindow } from "./window.js";

/**
 * The gathering half of a run: inventory, then the window in pieces. A gather that fails as a whole counts towards the tenant's
 * suspension; what single days or sources lack is reported and waits for the next run.
 */
export interface GatherTenant extends TenantRunContext {
  readonly tenant: TenantConfig;
  readonly ecosystem: AnyEcosystem;
  readonly store: TenantStore;
  readonly epoch: number;
  readonly rules: RuleSet;
  /** Undefined where the tenant has neither identity sources nor rules. */
  readonly allocation: AllocationPlan | undefined;
  /** Undefined where costs are not attributed to topics. */
  readonly topics: TopicStaging | undefined;
  readonly window: DayWindow;
  /** First UTC day that is kept. */
  readonly keepFrom: string;
  readonly request: RunRequest;
  readonly signal: AbortSignal;
}

export interface GatheredDays {
  /** Days whose bill was gathered completely. */
  readonly days: number;
  readonly errors: readonly RunError[];
  /** As in the record of a run. */
  readonly notes: readonly string[];
}

export async function gatherTenant(input: GatherTenant): Promise<GatheredDays> {
  const tooSoon = await tooSoonToGather(input);
  if (tooSoon !== undefined) return { days: 0, errors: [], notes: [tooSoon] };
  const errors: RunError[] = [];
  const report = (message: string) => errors.push({ date: null, source: "gather", message });
  const tally: Tally = { days: 0, notes: new Set(), refused: undefined, kept: [] };
  const started = performance.now();
  try {
    const { tenant_name: tenantName, tenant_id: tenantId, plugin_settings } = input.tenant;
    const known = createKnownInventory(input.stores.postgres, tenantName);
    const gatherer = input.ecosystem.connect(plugin_settings, {
      tenantName,
      tenantId,
      logger: input.logger,
      parallelQueries: input.tenant.metrics_prefetch_workers,
      known: known.read,
      store: {
        client: input.store.client,
        postgres: input.stores.postgres,
        publishLock: input.stores.publishLock,
        epoch: input.epoch,
        gatheredFrom: input.window.start,
        keepFrom: input.keepFrom,
      },
    });
    try {
      await gatherAll(input, { gatherer, known }, tally, report);
    } finally {
      await gatherer.close();
    }
    const secondsAgo = (performance.now() - started) / 1000;
    if (tally.refused === undefined)
      await runStatement(
        input.stores.postgres,
        noteGather({ tenantName, secondsAgo, settings: gatheredSettings(input) }),
      );
    else await countFailure(input, tally.refused);
  } catch (error) {
    // Neither an abort nor a store that is away or cannot work is the upstream's fault: they end the run and count for nothing.
    input.signal.throwIfAborted();
    if (error instanceof LeaseLostError || storeInTrouble(error) !== undefined) throw error;
    // It may be back by now, and would take the failure.
    if (isLostPostgres(error)) throw error;
    if (!(await input.store.client.ping()).success) throw error;
    report(`gather failed: ${errorText(error)}`);
    await countFailure(input, errors.at(-1)?.message ?? "");
  }
  return { days: tally.days, errors: [...errors, ...reportKeptData(tally.kept)], notes: [...tally.notes] };
}

/** What the windows of a run came to. */
interface Tally {
  days: number;
  readonly notes: Set<string>;
  refused: string | undefined;
  readonly kept: DayRemark[];
}

async function gatherAll(
  input: GatherTenant,
  { gatherer, known }: { readonly gatherer: Gatherer; readonly known: KnownInventoryReader },
  tally: Tally,
  report: (message: string) => void,
): Promise<void> {
  const { store, epoch, tenant, rules, signal, logger } = input;
  const postgres = input.stores.postgres;
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
  const configured = settingsDigest(input.ecosystem, tenant.plugin_settings);
  inventory.errors.forEach(report);
  for (const note of inventory.notes) tally.notes.add(note);
  for (const window of cutWindow(input.window, {
    ...gatherer,
    cutAtMonths: isCutAtMonths(input, gatherer),
  })) {
    signal.throwIfAborted();
    const staged = await stageRecorded({
      store,
      postgres,
      epoch,
      gatherer,
      window,
      settingsDigest: configured,
      rulesHash: rules.hash,
      allocation: input.allocation,
      decimalPlaces: tenant.allocation.decimal_places,
      derivingMetrics: input.ecosystem.derivingMetrics(tenant.plugin_settings),
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

/** Later windows are gathered first, and costs of a month weigh with the days before: these have to be in the same window. */
function isCutAtMonths({ allocation }: GatherTenant, { cutAtMonths = false }: Gatherer): boolean {
  return cutAtMonths || (allocation?.costs.some(({ over }) => over === "month") ?? false);
}

/**
 * A gather that begins a little early for its gap is let pass: with a gap as long as the interval of cycles (the default), one
 * that starts a moment sooner in its cycle than the last one did would else wait for the cycle after.
 */
const gapSlack = (gapSeconds: number) => Math.min(60, gapSeconds / 10);

/** So often at most the API makes a tenant's upstreams be asked: several triggers within moments are one. Seconds. */
const TRIGGER_GAP = 60;

/** Whatever of the settings can change what a gathering gives. Secrets are not in it. */
function gatheredSettings({ tenant, ecosystem }: GatherTenant): string {
  const { tenant_id, lookback_days, cutoff_days, allocation, identity_to_team, plugin_settings } = tenant;
  const plugin = settingsDigest(ecosystem, plugin_settings);
  return digestOf({ tenant_id, lookback_days, cutoff_days, allocation, identity_to_team, plugin });
}

/**
 * A scheduled run leaves upstreams alone that were asked moments ago, unless the last run failed or the settings have changed. Days that are
 * staged are still calculated. Returns why.
 */
async function tooSoonToGather(input: GatherTenant): Promise<string | undefined> {
  const { tenant, request, stores, logger } = input;
  const { tenant_name: tenantName, plugin_settings } = tenant;
  const set = plugin_settings.min_refresh_gap_seconds;
  const gap = { schedule: set, api: request.forceGather ? 0 : Math.min(set, TRIGGER_GAP), cli: 0 }[
    request.trigger
  ];
  if (gap === 0) return undefined;
  const settings = gatheredSettings(input);
  const found = await runStatement<GatherState>(stores.postgres, gatherState(tenantName, settings));
  const [state] = found.rows;
  if (request.trigger === "schedule" && (state?.settings_changed || state?.last_run_failed)) return undefined;
  const seconds = state?.seconds_since_gather ?? Number.POSITIVE_INFINITY;
  if (seconds >= gap - gapSlack(gap)) return undefined;
  logger.info(
    { tenant: tenantName, seconds },
    `Tenant ${tenantName}: gathered moments ago, not gathering again`,
  );
  const ago = `not gathered: the last gathering began ${Math.round(seconds)} seconds ago`;
  return request.trigger === "schedule"
    ? `${ago}, and min_refresh_gap_seconds is ${set}`
    : `${ago}, and a triggered run gathers once in ${gap} seconds unless it has force_gather`;
}

async function countFailure(input: GatherTenant, why: string): Promise<void> {
  const cause = withoutSecrets(why);
  const { tenant_name: tenantName, gather_failure_threshold: threshold } = input.tenant;
  const counted = await runStatement<{ gather_failures: number; suspended: boolean }>(
    input.stores.postgres,
    noteGatherFailure({ tenantName, threshold, cause }),
  );
  const state = counted.rows[0];
  if (!state?.suspended) return;
  input.observer.suspended(tenantName);
  input.logger.fatal(
    { tenant: tenantName, failures: state.gather_failures, cause },
    `ALERT: Tenant ${tenantName} has been permanently suspended`,
  );
}
