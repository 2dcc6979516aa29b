/** Shared context of gathering usage, and the division into queries. */
import type { LimitFunction } from "p-limit";
import { allOrStop } from "../../../../common/all-or-stop.js";
import type { DayRange } from "../../../../common/days.js";
import type { UsageGap, WindowSink } from "../../../ecosystem.js";
import type { PrometheusSource, RangeResponse } from "../../../prometheus/source.js";
import { type ConfluentUsageDropped, measure, type OwnerOfStep } from "./measure.js";
import { type MeasuredMetric, resourceLabel, usageQuery } from "./queries.js";

export interface UsageGathering {
  readonly source: PrometheusSource;
  readonly window: DayRange;
  readonly stepSeconds: number;
  readonly limit: LimitFunction;
  readonly sink: Pick<WindowSink, "usageSeries">;
  readonly dropped: ConfluentUsageDropped;
  readonly onResponse: (response: RangeResponse) => void;
  /** Ends the gathering. It aborts `signal`, and so does the run. */
  readonly stop: AbortController;
  readonly signal: AbortSignal;
}

/** Day → resources that are measured on it. Days without resources are left out. */
export type Wanted = ReadonlyMap<string, ReadonlySet<string>>;

export interface MetricReading {
  readonly metric: MeasuredMetric;
  readonly wanted: Wanted;
  ownerOf(labels: Readonly<Record<string, string>>): OwnerOfStep;
  readonly unnamed: "nobodys" | "beside_others";
  readonly keepsZeros: boolean;
  readonly onUsed?: (day: string, resource: string) => void;
}

/** Resources of one query, which take some 1.5 kB of it. A response that is too large is requested in parts anyway. */
const RESOURCES_A_QUERY = 100;

/** Reads one metric of all wanted resources, in chunks. Returns the gaps. */
export async function readMetric(gathering: UsageGathering, reading: MetricReading): Promise<UsageGap[]> {
  const { source, window, stepSeconds, limit, sink, dropped, onResponse, stop, signal } = gathering;
  const { metric, wanted } = reading;
  const all = [...new Set([...wanted.values()].flatMap((resources) => [...resources]))].sort();
  const gaps = chunksOf(all).map((chunk) =>
    limit(() => {
      const measurement = {
        ...reading,
        expression: usageQuery(metric, chunk, stepSeconds),
        among: {
          resources: chunk,
          expressionOf: (some: readonly string[]) => usageQuery(metric, some, stepSeconds),
        },
        resourceLabel: resourceLabel(metric),
        wanted: among(wanted, new Set(chunk)),
        window,
        stepSeconds,
        onResponse,
      };
      return measure(source, measurement, sink, dropped, signal);
    }),
  );
  return (await allOrStop(stop, gaps)).flat();
}

function chunksOf(resources: readonly string[]): string[][] {
  const chunks: string[][] = [];
  for (let from = 0; from < resources.length; from += RESOURCES_A_QUERY) {
    chunks.push(resources.slice(from, from + RESOURCES_A_QUERY));
  }
  return chunks;
}

function among(wanted: Wanted, chunk: ReadonlySet<string>): Wanted {
  const parts = [...wanted].map(
    ([day, resources]) => [day, new Set([...resources].filter((id) => chunk.has(id)))] as const,
  );
  return new Map(parts.filter(([, resources]) => resources.size > 0));
}
