import type { RuleSet } from "../allocate/rules.js";
import type { TenantConfig } from "../config/config.js";
import type { AnyEcosystem, DayWindow, Gatherer } from "../ingest/ecosystem.js";
import { gatherInventory } from "../ingest/inventory/gather-inventory.js";
import { createKnownInventory, type KnownInventoryReader } from "../ingest/inventory/known-inventory.js";
import type { TopicStaging } from "../ingest/stage-topics.js";
import { StagingLost, stageWindow } from "../ingest/stage-window.js";
import { errorText } from "../store/clickhouse/error-text.js";
import type { TenantStore } from "../store/stores.js";
import type { RunRequest, TenantRunContext } from "./run-context.js";
import type { RunError } from "./sql/runs.js";
import { noteGather, noteGatherFailure, type TenantState, tenantState } from "./sql/tenants.js";
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
  /** Undefined where costs are not attributed to topics. */
  readonly topics: TopicStaging | undefined;
  readonly window: DayWindow;
  readonly request: RunRequest;
  readonly signal: AbortSignal;
}

export interface GatheredDays {
  /** Days whose bill was gathered completely. */
  readonly days: number;
  readonly errors: readonly RunError[];
}

export async function gatherTenant(input: GatherTenant): Promise<GatheredDays> {
  if (await isTooSoon(input)) return { days: 0, errors: [] };
  const errors: RunError[] = [];
  const report = (message: string) => errors.push({ date: null, source: "gather", message });
  const tally = { days: 0 };
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
    });
    try {
      await gatherAll(input, { gatherer, known }, tally, report);
    } finally {
      await gatherer.close();
    }
    const secondsAgo = (performance.now() - started) / 1000;
    await input.stores.postgres.query(noteGather({ tenantName, secondsAgo }));
  } catch (error) {
    // Neither an abort nor a store that is away is the upstream's fault: they end the run and count for nothing.
    input.signal.throwIfAborted();
    if (error instanceof StagingLost || !(await input.store.client.ping()).success) throw error;
    report(`gather failed: ${errorText(error)}`);
    await countFailure(input, errors.at(-1)?.message ?? "");
  }
  return { days: tally.days, errors };
}

async function gatherAll(
  input: GatherTenant,
  { gatherer, known }: { readonly gatherer: Gatherer; readonly known: KnownInventoryReader },
  tally: { days: number },
  report: (message: string) => void,
): Promise<void> {
  const { store, epoch, tenant, rules, signal, logger } = input;
  const postgres = input.stores.postgres;
  const inventory = await gatherInventory({
    postgres,
    owner: { tenantName: tenant.tenant_name, tenantId: tenant.tenant_id, ecosystem: tenant.ecosystem },
    gatherer,
    zeroGatherDeletionThreshold: tenant.zero_gather_deletion_threshold,
    signal,
    logger,
  });
  known.renew();
  inventory.errors.forEach(report);
  for (const window of cutWindow(input.window, gatherer)) {
    signal.throwIfAborted();
    const staged = await stageWindow({
      store,
      postgres,
      epoch,
      gatherer,
      window,
      rulesHash: rules.hash,
      decimalPlaces: tenant.allocation.decimal_places,
      derivingMetrics: input.ecosystem.derivingMetrics(tenant.plugin_settings),
      inventoryComplete: inventory.complete,
      topics: input.topics,
      force: input.request.force ?? false,
      signal,
      logger,
    });
    tally.days += staged.staged.length + staged.unchanged.length;
    staged.errors.forEach(report);
  }
}

/**
 * A gather that begins a little early for its gap is let pass: with a gap as long as the interval of cycles (the default), one
 * that starts a moment sooner in its cycle than the last one did would else wait for the cycle after.
 */
const gapSlack = (gapSeconds: number) => Math.min(60, gapSeconds / 10);

/** A scheduled run leaves upstreams alone that were asked moments ago; days that are staged are still calculated. */
async function isTooSoon(input: GatherTenant): Promise<boolean> {
  if (input.request.trigger !== "schedule") return false;
  const { tenant_name: tenantName, plugin_settings } = input.tenant;
  const found = await input.stores.postgres.query<TenantState>(tenantState(tenantName));
  const seconds = found.rows[0]?.seconds_since_gather ?? Number.POSITIVE_INFINITY;
  const gap = plugin_settings.min_refresh_gap_seconds;
  if (seconds >= gap - gapSlack(gap)) return false;
  input.logger.info(
    { tenant: tenantName, seconds },
    `Tenant ${tenantName}: gathered moments ago, not gathering again`,
  );
  return true;
}

async function countFailure(input: GatherTenant, cause: string): Promise<void> {
  const { tenant_name: tenantName, gather_failure_threshold: threshold } = input.tenant;
  const counted = await input.stores.postgres.query<{ gather_failures: number; suspended: boolean }>(
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
