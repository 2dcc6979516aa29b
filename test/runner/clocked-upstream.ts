/**
 * An upstream whose bill depends on the day and on the clock: days are billed late, some are corrected, and some are
 * never billed.
 */
import { addDays, daysBetween, daysOfWindow } from "../../src/common/days.js";
import type { AnyEcosystem, BillingLine, WindowSink } from "../../src/ingest/ecosystem.js";
import { genericMetricsOnly } from "../../src/ingest/ecosystems/generic_metrics_only/index.js";
import { evenRule, usageRule } from "./scripted-upstream.js";

/** The lookback of its tenants. */
export const LOOKBACK = 8;

/** Position of a day in a cycle, from days since 1970, which may be negative. */
const placeOf = (day: string, length: number) =>
  ((daysBetween("1970-01-01", day) % length) + length) % length;

/** Days until the bill of a day arrives: at once, on the last day that runs gather it, a day too late, or never. */
function delayOf(day: string): number {
  return [0, LOOKBACK, 0, LOOKBACK + 1, 0, LOOKBACK, Number.POSITIVE_INFINITY][placeOf(day, 7)] ?? 0;
}

/** Cents of each of the day's four lines. Every other day gets more once it is five days old. */
function centsOf(day: string, today: string): number {
  const corrected = placeOf(day, 2) === 0 && daysBetween(day, today) >= 5;
  return 10_001 + 2 * placeOf(day, 97) + (corrected ? 500 : 0);
}

/** The bill of a day as known on another day; undefined if there is none. */
function billedOf(day: string, today: string): string | undefined {
  if (daysBetween(day, today) < delayOf(day)) return undefined;
  return String((4 * centsOf(day, today)) / 100);
}

/** Lines at the first and the last second of the day, where another time zone would have another day. */
const TIMES = ["00:00:00", "23:59:59"];

const resources = ["r-1", "metered-1"];
const members = Object.entries({ ann: 1, bob: 3 });

function linesOf(day: string, today: string): BillingLine[] {
  const cost = (centsOf(day, today) / 100).toFixed(2);
  return resources.flatMap((resource_id) =>
    TIMES.map((time) => ({
      timestamp: `${day}T${time}Z`,
      env_id: "",
      resource_id,
      product_category: "test",
      product_type: resource_id === "r-1" ? "SHARED" : "METERED",
      quantity: "1",
      unit_price: cost,
      total_cost: cost,
      currency: "USD",
      granularity: "daily",
      metadata: {},
    })),
  );
}

export interface ClockedUpstream {
  readonly ecosystems: ReadonlyMap<string, AnyEcosystem>;
  /** Responses for requested days since this was cleared: the sum of each day, undefined if there is no bill. */
  readonly responses: Map<string, string | undefined>;
}

/**
 * Also returns days around the window, which a run has to ignore. `today` is that of the upstream; `onWindow` is called
 * for each request.
 */
export function clockedUpstream(
  today: () => string,
  onWindow: () => void = () => undefined,
): ClockedUpstream {
  const responses = new Map<string, string | undefined>();
  const ecosystem: AnyEcosystem = {
    ...genericMetricsOnly,
    rules: () => [evenRule, usageRule],
    derivingMetrics: () => [],
    connect: () => ({
      daysPerWindow: 5,
      cutAtMonths: true,
      close: async () => undefined,
      async gatherInventory(sink) {
        const identity_type = "principal";
        await sink.identities(
          members.map(([identity_id]) => ({
            identity_id,
            identity_type,
            display_name: null,
            created_at: null,
            metadata: {},
          })),
        );
        return { completeResourceTypes: [], completeIdentityTypes: [identity_type], errors: [] };
      },
      async gatherWindow(window, sink) {
        onWindow();
        const now = today();
        const completeDays = daysOfWindow(window);
        for (const day of completeDays) responses.set(day, billedOf(day, now));
        for (const day of [addDays(window.start, -1), ...completeDays, window.end])
          if (billedOf(day, now) !== undefined) await tell(sink, day, now);
        return { completeDays, dropped: {}, errors: [] };
      },
    }),
  };
  return { ecosystems: new Map([["generic_metrics_only", ecosystem]]), responses };
}

async function tell(sink: WindowSink, day: string, now: string): Promise<void> {
  await sink.billing(linesOf(day, now));
  const scope = "resource_active" as const;
  await sink.identitySets(members.map(([identity_id]) => ({ day, scope, resource_id: "r-1", identity_id })));
  await sink.usage(
    members.flatMap(([identity_id, used]) =>
      TIMES.map((time) => ({
        timestamp: `${day}T${time}Z`,
        metric: "work",
        resource_id: "metered-1",
        identity_id,
        micro_units: String(used * 1_000_000),
      })),
    ),
  );
}
