/** The ecosystem `focus`: bills of any cloud or service, delivered as FOCUS files. */
import { digestOf } from "../../../config/digest.js";
import { settingsOf } from "../../../config/ecosystem-settings.js";
import type { PluginSettings } from "../../../config/plugin-settings.js";
import { readRows } from "../../../store/clickhouse/statement.js";
import { daysOfWindow } from "../../../time/days.js";
import type {
  AnyEcosystem,
  ControlInput,
  ControlResult,
  DayWindow,
  GatherContext,
  Gatherer,
} from "../../ecosystem.js";
import type { BilledAmount } from "../../reports.js";
import { billedOfWindow } from "./control/class-sql.js";
import { classifyLines } from "./control/classify.js";
import { controlReport } from "./control/control-report.js";
import type { LoadSettings } from "./deliveries/delivery-store.js";
import { loadDeliveries } from "./deliveries/load-deliveries.js";
import { withoutLines } from "./deliveries/partitions.js";
import { isChargedIn, type RecordedDelivery, recordedDeliveries } from "./deliveries/records.js";
import { billingLines, piecesOf } from "./lines/billing-lines.js";
import { isCounted } from "./lines/counted.js";
import { resourcesOf } from "./lines/inventory.js";
import { lostLines, malformedLines } from "./lines/malformed.js";
import type { CostName } from "./load/summary.js";
import { allocationRules } from "./rules.js";
import { costColumnOf, type FocusSettings, focusSettings, readingHash } from "./settings.js";
import { openBillSource } from "./sources/open-source.js";
import { probeSources } from "./sources/probe.js";
import { metricsOf, uploadLimits } from "./usage/settings.js";
import { connectUsage, type UsageResponses } from "./usage/usage.js";

type Settings = PluginSettings & FocusSettings;

const own = (settings: PluginSettings): Settings => settingsOf(focusSettings, settings);

export const focus: AnyEcosystem = {
  ...focusSettings,
  name: "focus",
  rules: () => allocationRules,
  derivingMetrics: () => [],
  usageMetrics: (settings) => metricsOf(own(settings).usage),
  identitySets: () => [],
  usageUploads: (settings) => uploadLimits(own(settings).usage),
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
  { window, keepFrom, digest: last, ...store }: ControlInput,
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
  if (digest === last) return undefined;
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

/** Lines are selected by few statements whatever the window is; a month keeps the reports of a run short. */
const DAYS_PER_WINDOW = 31;

function connect(settings: Settings, context: GatherContext): Gatherer {
  const { store, tenantName } = context;
  const sources = settings.sources.map((source) => openBillSource(source));
  const usage = connectUsage(settings, context);
  const close = async () => {
    await usage.close();
    await Promise.all(sources.map((source) => source.close()));
  };
  const ofStore = store && { ...store, tenantName };
  return {
    daysPerWindow: DAYS_PER_WINDOW,
    cutAtMonths: true,
    close,
    ...usage.ofQueries,
    async gatherInventory(sink, signal) {
      const none = { completeResourceTypes: [], completeIdentityTypes: [], daysNeedIt: false };
      // Without a store nothing is loaded: `probe` says what there would be.
      if (ofStore === undefined) return { ...none, errors: [] };
      const { errors, warnings, notes } = await loadDeliveries(
        ofStore,
        sources,
        loadSettings(settings, ofStore.keepFrom),
        signal,
      );
      const uploaded = await usage.takeFiles(ofStore, signal);
      const current = await currentDeliveries(ofStore, settings);
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
      const touching = touchingWindow(await currentDeliveries(needed(ofStore), settings), window);
      const request = {
        window,
        deliveries: idsOf(touching),
        counted: isCounted(touching),
        cost: costColumnOf[settings.cost],
        spread: settings.spread,
      };
      const lines = touching.reduce((sum, delivery) => sum + Number(delivery.lines), 0);
      for (const piece of piecesOf(window, lines, settings.spread))
        await sink.billingRows(billingLines({ ...request, window: piece }));
      const billed = await readRows<BilledAmount>(client, billedOfWindow(request), signal);
      const malformed = await malformedLines(client, request, touching, signal);
      const lost = await lostLines(client, request, touching, signal);
      const used = await usage.gather(needed(ofStore), request, sink, signal);
      const days = daysOfWindow(window);
      const lacking = days.filter((day) => malformed.days.includes(day) || lost.days.includes(day));
      return {
        completeDays: days.filter((day) => !lacking.includes(day)),
        partialDays: lacking,
        unreadDays: lacking,
        ...used.report,
        billed,
        dropped: withMalformed(malformed.lines, used.report.dropped),
        errors: [...malformed.errors, ...lost.errors],
        responses: { deliveries: countedOf(touching), usage: used.answers } satisfies Answers,
      };
    },
    async isUnchanged(window, { ofWindow }, signal) {
      const { deliveries, usage: used } = ofWindow as Answers;
      const now = touchingWindow(await currentDeliveries(needed(ofStore), settings), window);
      if (JSON.stringify(deliveries) !== JSON.stringify(countedOf(now))) return false;
      // What the store has lost since is told at each run.
      if ((await withoutLines(needed(store).client, now, signal)).length > 0) return false;
      return await usage.isUnchanged(needed(ofStore), window, used, signal);
    },
  };
}

/** What a window was made of. */
interface Answers {
  /** Numbers; with a digest of what of them does not count, where there is something. */
  readonly deliveries: readonly (number | readonly [number, string])[];
  readonly usage: UsageResponses;
}

function countedOf(deliveries: readonly RecordedDelivery[]): Answers["deliveries"] {
  return deliveries.map(({ delivery_id, retired, superseded }) => {
    const left = [...retired, ...superseded];
    return left.length === 0 ? Number(delivery_id) : [Number(delivery_id), digestOf(left)];
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

/** Of sources that are configured still. */
async function currentDeliveries(
  store: Parameters<typeof recordedDeliveries>[0],
  { sources }: Settings,
): Promise<RecordedDelivery[]> {
  const all = await recordedDeliveries(store);
  return all.filter(
    ({ state, source }) => state === "current" && sources.some(({ name }) => name === source),
  );
}

/** A charge that is spread runs on until its last day; without a readable date it may be on any day of the period. */
function touchingWindow(deliveries: readonly RecordedDelivery[], window: DayWindow): RecordedDelivery[] {
  const month = window.start.slice(0, 7);
  return deliveries.filter((each) => isChargedIn(each, window) || each.billing_period === month);
}

function idsOf(deliveries: readonly RecordedDelivery[]): number[] {
  return deliveries.map(({ delivery_id }) => Number(delivery_id));
}

function needed<T>(store: T | undefined): T {
  if (store === undefined) throw new Error("bills are kept in the store, and there is none");
  return store;
}
