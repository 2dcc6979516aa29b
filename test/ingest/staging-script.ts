/** An upstream that returns exactly what a test scripts, and its staging on the real stores. */
import type { Test } from "tap";
import { stagedTable } from "../../src/clickhouse/staging.js";
import type { Statement } from "../../src/clickhouse/statement.js";
import type { DayRange } from "../../src/common/days.js";
import type { FactTable } from "../../src/domain/fact-tables.js";
import type {
  BillingLine,
  Gatherer,
  UsageFact,
  UsageGap,
  UsageSeries,
  WindowSink,
} from "../../src/ingest/ecosystem.js";
import { stageWindow } from "../../src/ingest/stage-window.js";
import type { StageWindowOptions } from "../../src/ingest/staged-window.js";
import { EPOCH, openGatheringStores } from "./gathering-stores.js";
import { forever, silent } from "./generic_metrics_only/tenant.js";

export const DAYS = ["2026-01-01", "2026-01-02", "2026-01-03"];
const window: DayRange = { start: "2026-01-01", end: "2026-01-04" };

export const line = (day: string, changes: Partial<BillingLine> = {}): BillingLine => ({
  timestamp: `${day}T00:00:00Z`,
  env_id: "",
  resource_id: "c1",
  product_category: "kafka",
  product_type: "P",
  quantity: "2",
  unit_price: "0.000000000001",
  total_cost: "12345678901234567890.123456789012",
  currency: "USD",
  granularity: "daily",
  metadata: { note: 'tab\t newline\n backslash\\ quote" ünïcödé' },
  ...changes,
});

export const fact = (day: string, identity_id: string, changes: Partial<UsageFact> = {}): UsageFact => ({
  timestamp: `${day}T05:00:00Z`,
  metric: "m",
  resource_id: "c1",
  identity_id,
  micro_units: "170141183460469231731687303715",
  ...changes,
});

export interface StagingScript {
  readonly billing?: readonly BillingLine[];
  readonly stagedUsage?: readonly UsageFact[];
  /** Lines that the engine selects. */
  readonly selected?: Statement;
  readonly series?: readonly UsageSeries[];
  readonly gaps?: readonly UsageGap[];
  readonly members?: readonly string[];
  readonly complete?: readonly string[];
  /** Called after everything was sent. */
  readonly last?: () => Promise<void>;
}

/** An upstream that returns exactly this. */
export const scripted = ({
  billing = [],
  selected,
  stagedUsage: usage = [],
  series = [],
  gaps = [],
  members = [],
  complete = DAYS,
  last,
}: StagingScript): Gatherer => ({
  daysPerWindow: 31,
  gatherInventory: async () => ({ completeResourceTypes: [], completeIdentityTypes: [], errors: [] }),
  async gatherWindow(_window, sink: WindowSink) {
    await sink.billing(billing);
    if (selected !== undefined) await sink.billingRows(selected);
    await sink.usage(usage);
    await sink.usageSeries(series);
    await sink.usageGaps(gaps);
    await sink.identitySets(
      members.map((identity_id) => ({
        day: DAYS[0] ?? "",
        scope: "resource_active",
        resource_id: "c1",
        identity_id,
      })),
    );
    await last?.();
    return { completeDays: complete, dropped: {}, errors: [] };
  },
  close: async () => undefined,
});

/** The stores, and helpers of these tests. The state of days is deleted before each subtest. */
export async function openStaging(t: Test) {
  const { postgres, store } = await openGatheringStores(t);
  const stage = (script: StagingScript, changes: Partial<StageWindowOptions> = {}) =>
    stageWindow({
      store,
      postgres,
      epoch: EPOCH,
      gatherer: scripted(script),
      window,
      settingsDigest: "settings",
      rulesHash: "rules",
      decimalPlaces: 4,
      derivingMetrics: ["m"],
      inventoryLacks: [],
      completeTypes: [],
      retryLimit: 3,
      signal: forever,
      logger: silent,
      ...changes,
    });
  const rows = async (table: FactTable, columns = "*") => {
    const query = `SELECT ${columns} FROM ${stagedTable(table, EPOCH)} ORDER BY ALL`;
    return (await store.client.query({ query, format: "JSONEachRow" })).json<Record<string, unknown>>();
  };
  const dates = async () => {
    const { rows } = await postgres.query<
      Record<string, unknown> & { tracking_date: string; staged_hash: string | null }
    >("SELECT * FROM tracking_dates ORDER BY tracking_date");
    return rows;
  };
  const hashes = async () => (await dates()).map(({ staged_hash }) => staged_hash);
  /** Marks a day as published, as the publisher does. */
  const publish = () =>
    postgres.query(
      `UPDATE tracking_dates SET published_hash = staged_hash, staged_hash = NULL, chargeback_calculated = true
       WHERE staged_hash IS NOT NULL`,
    );
  t.beforeEach(async () => {
    await postgres.query("DELETE FROM tracking_dates");
  });
  return { postgres, store, stage, rows, dates, hashes, publish };
}

export const billing = DAYS.map((day) => line(day));
export const usage = DAYS.flatMap((day) => [fact(day, "a"), fact(day, "b", { micro_units: "0" })]);
