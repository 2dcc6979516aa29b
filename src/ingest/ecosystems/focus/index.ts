/** The ecosystem `focus`: bills of any cloud or service, delivered as FOCUS files. */
import { readRows } from "../../../clickhouse/statement.js";
import { type DayRange, daysOfWindow } from "../../../common/days.js";
import { digestOf } from "../../../common/digest.js";
import { settingsOf } from "../../../config/settings/ecosystem-settings.js";
import type { PluginSettings } from "../../../config/settings/plugin-settings.js";
import type { AllocationRule } from "../../../domain/allocation-rule.js";
import type { AnyEcosystem, ControlInput, ControlResult, GatherContext, Gatherer } from "../../ecosystem.js";
import type { BilledAmount } from "../../reports.js";
import { billedOfWindow } from "./control/class-sql.js";
import { classifyLines } from "./control/classify.js";
import { controlReport } from "./control/control-report.js";
import type { LoadSettings } from "./deliveries/delivery-store.js";
import { loadDeliveries } from "./deliveries/load-deliveries.js";
import { withoutLines } from "./deliveries/partitions.js";
import { isChargedIn, type RecordedDelivery, recordedDeliveries } from "./deliveries/records.js";
import { deliveryFolders } from "./delivery-folders.js";
import { billingLines, linePieces } from "./lines/billing-lines.js";
import { isCounted } from "./lines/counted.js";
import { resourcesOf } from "./lines/inventory.js";
import { lostLines, malformedLines } from "./lines/malformed.js";
import type { CostName } from "./load/summary.js";
import { costColumnOf, type FocusSettings, focusSettings, readingHash } from "./settings.js";
import { openBillSource } from "./sources/open-source.js";
import { probeSources } from "./sources/probe.js";
import { metricsOf, uploadLimits, withoutPreset } from "./usage/settings.js";
import { connectUsage, type UsageResponses } from "./usage/usage.js";

/** The built-in rule for bills of any kind. Configured rules come before it. */
/**
 * Charges the identity that the line names, through the tenant's configured identity sources, and otherwise
 * `UNALLOCATED`.
 */
const allocationRules: readonly AllocationRule[] = [
  {
    product_type: "*",
    components: [
      {
        ratio: "1",
        tiers: [
          { kind: "line", detail: "line_identity_allocation" },
          { kind: "terminal", detail: "no_identity_on_line" },
        ],
      },
    ],
  },
];

type Settings = PluginSettings & FocusSettings;

const own = (settings: PluginSettings): Settings => settingsOf(focusSettings, settings);

function withQueries(settings: Settings): Settings {
  return { ...settings, usage: withoutPreset(settings.usage) };
}

export const focus: AnyEcosystem = {
  ...focusSettings,
  name: "focus",
  rules: () => allocationRules,
  hasOtherCosts: true,
  derivingMetrics: () => [],
  withoutPresets: (settings) => withQueries(own(settings)),
  usageMetrics: (settings) => metricsOf(own(settings).usage),
  identitySets: () => [],
  usageUploads: (settings) => uploadLimits(own(settings).usage),
  deliveryFolders: (settings) => deliveryFolders(own(settings)),
  controlTotals: (settings, input, signal) => controlTotals(own(settings), input, signal),
  connect: (settings, context) => connect(own(settings), context),
};

const costNames: Readonly<Record<FocusSettings["cost"], CostName>> = {
  effective: "effective_cost",
  billed: "billed_cost",
  contracted: "contracted_cost",
  list: "list_cost",
};

async function controlTotals(
  settings: Settings,
  { window, keepFrom, digest: lastDigest, ...store }: ControlInput,
  signal: AbortSignal,
): Promise<ControlResult | undefined> {
  const { cost, spread, sources } = settings;
  const deliveries = (await recordedDeliveries(store)).filter(
    ({ state, source }) =>
      (state === "current" || state === "waiting_for_acceptance" || state === "superseded") &&
      sources.some(({ name }) => name === source),
  );
  const counted = deliveries.map(({ delivery_id, state, retired, superseded, duplicates }) => [
    delivery_id,
    state,
    retired,
    superseded,
    duplicates.map(({ sha256 }) => sha256),
  ]);
  const digest = digestOf([counted, window, keepFrom, cost, spread]);
  if (digest === lastDigest) return undefined;
  const totals = await classifyLines(
    {
      client: store.client,
      deliveries,
      lines: { cost: costColumnOf[cost], spread },
      costName: costNames[cost],
      window,
      keepFrom,
    },
    signal,
  );
  return {
    totals,
    digest,
    ...controlReport({
      totals,
      deliveries,
      window,
      keepFrom,
      costSetting: cost,
      isSpread: spread !== "none",
    }),
  };
}

/** A window of any length takes few statements. A month at a time keeps the reports of a run short. */
const DAYS_PER_WINDOW = 31;

function connect(settings: Settings, context: GatherContext): Gatherer {
  const { store, tenantName } = context;
  const sources = settings.sources.map((source) => openBillSource(source));
  const usage = connectUsage(settings, context);
  const close = async () => {
    await usage.close();
    await Promise.all(sources.map((source) => source.close()));
  };
  const tenantStore = store && { ...store, tenantName };
  return {
    daysPerWindow: DAYS_PER_WINDOW,
    cutAtMonths: true,
    close,
    ...usage.ofQueries,
    async gatherInventory(sink, signal) {
      const none = { completeResourceTypes: [], completeIdentityTypes: [], requiredForDays: false };
      // Without a store nothing is loaded. `probe` reports what the sources have.
      if (tenantStore === undefined) return { ...none, errors: [] };
      const { errors, warnings, notes } = await loadDeliveries(
        tenantStore,
        sources,
        loadSettings(settings, tenantStore.keepFrom),
        signal,
      );
      const uploaded = await usage.takeFiles(tenantStore, signal);
      const current = await currentDeliveries(tenantStore, settings);
      await sink.resourceRows(resourcesOf(idsOf(current), isCounted(current)));
      return {
        ...none,
        errors: [...errors, ...uploaded.errors],
        warnings: [...warnings, ...uploaded.warnings],
        notes,
      };
    },
    async probe(window, resources, signal) {
      const probes = await probeSources(sources, { cost: costColumnOf[settings.cost], window }, signal);
      return [...probes, ...((await usage.ofQueries.probe?.(window, resources, signal)) ?? [])];
    },
    async gatherWindow(window, sink, signal) {
      const { client } = needed(store);
      const touching = touchingWindow(await currentDeliveries(needed(tenantStore), settings), window);
      const request = {
        window,
        deliveries: idsOf(touching),
        counted: isCounted(touching),
        cost: costColumnOf[settings.cost],
        spread: settings.spread,
        columns: settings.columns,
      };
      for (const piece of linePieces(window, touching, settings.spread))
        await sink.billingRows(billingLines({ ...request, window: piece }));
      const billed = await readRows<BilledAmount>(client, billedOfWindow(request), signal);
      const malformed = await malformedLines(client, request, touching, signal);
      const lost = await lostLines(client, request, touching, signal);
      const usageResult = await usage.gather(needed(tenantStore), request, sink, signal);
      const days = daysOfWindow(window);
      const incompleteDays = days.filter((day) => malformed.days.includes(day) || lost.days.includes(day));
      return {
        completeDays: days.filter((day) => !incompleteDays.includes(day)),
        partialDays: incompleteDays,
        unreadDays: incompleteDays,
        ...usageResult.report,
        billed,
        dropped: withMalformed(malformed.lines, usageResult.report.dropped),
        errors: [...malformed.errors, ...lost.errors],
        deliveries: request.deliveries,
        responses: {
          deliveries: deliveryInputs(touching),
          usage: usageResult.responses,
        } satisfies WindowInput,
      };
    },
    async isUnchanged(window, { ofWindow }, signal) {
      const { deliveries, usage: usageResult } = ofWindow as WindowInput;
      const now = touchingWindow(await currentDeliveries(needed(tenantStore), settings), window);
      if (JSON.stringify(deliveries) !== JSON.stringify(deliveryInputs(now))) return false;
      // Lines that the store has lost since then are reported by each run.
      if ((await withoutLines(needed(store).client, now, signal)).length > 0) return false;
      return await usage.isUnchanged(needed(tenantStore), window, usageResult, signal);
    },
  };
}

/** The data that a window was gathered from. */
interface WindowInput {
  /** Delivery ids. Where parts of a delivery do not count, the id comes with a digest of these parts. */
  readonly deliveries: readonly (number | readonly [number, string])[];
  readonly usage: UsageResponses;
}

function deliveryInputs(deliveries: readonly RecordedDelivery[]): WindowInput["deliveries"] {
  return deliveries.map(({ delivery_id, retired, superseded }) => {
    const uncounted = [...retired, ...superseded];
    return uncounted.length === 0 ? Number(delivery_id) : [Number(delivery_id), digestOf(uncounted)];
  });
}

function withMalformed(lines: number, dropped: Readonly<Record<string, number>>) {
  const malformed = (dropped.malformed ?? 0) + lines;
  return malformed === 0 ? dropped : { ...dropped, malformed };
}

function loadSettings(settings: Settings, keepFrom: string): LoadSettings {
  return {
    cost: costColumnOf[settings.cost],
    currency: settings.currency,
    shrinkLimit: settings.shrink_limit_percent / 100,
    hash: readingHash(settings),
    today: new Date().toISOString().slice(0, 10),
    keepFrom,
    spread: settings.spread,
    overlaps: {
      precedence: settings.precedence,
      adding: new Set(settings.sources.filter(({ overlap }) => overlap === "add").map(({ name }) => name)),
    },
  };
}

/** Current deliveries of sources that are still configured. */
async function currentDeliveries(
  store: Parameters<typeof recordedDeliveries>[0],
  { sources }: Settings,
): Promise<RecordedDelivery[]> {
  const all = await recordedDeliveries(store);
  return all.filter(
    ({ state, source }) => state === "current" && sources.some(({ name }) => name === source),
  );
}

/**
 * Deliveries with charges in the window. A spread charge runs until its last day, and a line without a readable date
 * may belong to any day of its period.
 */
function touchingWindow(deliveries: readonly RecordedDelivery[], window: DayRange): RecordedDelivery[] {
  const month = window.start.slice(0, 7);
  return deliveries.filter((delivery) => isChargedIn(delivery, window) || delivery.billing_period === month);
}

function idsOf(deliveries: readonly RecordedDelivery[]): number[] {
  return deliveries.map(({ delivery_id }) => Number(delivery_id));
}

function needed<T>(store: T | undefined): T {
  if (store === undefined) throw new Error("bills are kept in the store, and there is none");
  return store;
}
