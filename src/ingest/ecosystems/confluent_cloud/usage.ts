/**
 * Usage of billed resources, as hourly facts (by the step): bytes of Kafka clusters, CFUs of Flink. Facts belong to
 * owners: usage of an API key or a statement is that of its owner, so a key and its owner are one identity. Usage
 * without a known owner belongs to UNALLOCATED.
 */
import pLimit from "p-limit";
import { allOrStop } from "../../../common/all-or-stop.js";
import { type DayRange, daysOfWindow } from "../../../common/days.js";
import type { PluginSettings } from "../../../config/settings/plugin-settings.js";
import type { WindowSink } from "../../ecosystem.js";
import type { KnownInventory } from "../../known.js";
import type { PrometheusSource, RangeResponse } from "../../prometheus/source.js";
import { type BilledResources, billedOn } from "./billed.js";
import type { ProductFamily } from "./costs/product-types.js";
import { indexOwners } from "./owners.js";
import { indexStatements } from "./statements.js";
import { gatherFlinkUsage, runningStatements } from "./usage/flink.js";
import type { UsageGathering, Wanted } from "./usage/gathering.js";
import { gatherKafkaUsage } from "./usage/kafka.js";
import { batched } from "./usage/measure.js";

/** Includes families that are not divided by bytes, because an identity that moves bytes was active on the cluster. */
const KAFKA: readonly ProductFamily[] = [
  "kafka_network_read",
  "kafka_network_write",
  "kafka_partition",
  "kafka_base",
  "kafka_cku",
  "cluster_extra",
];
const FLINK: readonly ProductFamily[] = ["flink"];

export interface UsageInput {
  readonly settings: Pick<PluginSettings, "metrics_step_seconds">;
  readonly connection: { readonly prometheus: PrometheusSource | undefined };
  readonly billed: BilledResources;
  readonly window: DayRange;
  readonly known: KnownInventory;
  readonly parallelQueries: number;
}

export interface ConfluentUsage {
  /** Samples that were not taken, by reason. */
  readonly dropped: Record<string, number>;
  readonly errors: string[];
  readonly responses: readonly RangeResponse[];
}

/**
 * Gathers usage. A metric that cannot be fetched becomes a gap of its resources and days, which is sent to the sink and
 * not thrown.
 */
export async function gatherConfluentUsage(
  input: UsageInput,
  sink: Pick<WindowSink, "usage" | "usageSeries" | "usageGaps">,
  signal: AbortSignal,
): Promise<ConfluentUsage> {
  const dropped: Record<string, number> = {};
  const responses: RangeResponse[] = [];
  const statements = indexStatements(input.known);
  const pools = wantedOf(input, FLINK);
  let unmeasured = pools;
  const { prometheus: source } = input.connection;
  if (source !== undefined) {
    const stop = new AbortController();
    const gathering: UsageGathering = {
      source,
      window: input.window,
      stepSeconds: input.settings.metrics_step_seconds,
      limit: pLimit(input.parallelQueries),
      sink,
      dropped: (reason) => {
        dropped[reason] = (dropped[reason] ?? 0) + 1;
      },
      onResponse: (response) => void responses.push(response),
      stop,
      signal: AbortSignal.any([signal, stop.signal]),
    };
    const kafka = gatherKafkaUsage(gathering, wantedOf(input, KAFKA), indexOwners(input.known));
    const flink = gatherFlinkUsage(gathering, pools, statements);
    const [kafkaGaps, flinkUsage] = await allOrStop(stop, [kafka, flink]);
    unmeasured = flinkUsage.unmeasured;
    await sink.usageGaps([...kafkaGaps, ...flinkUsage.gaps]);
  }
  for (const batch of batched(runningStatements(unmeasured, statements))) await sink.usage(batch);
  return { dropped, errors: [], responses };
}

function wantedOf({ billed, window }: UsageInput, families: readonly ProductFamily[]): Wanted {
  const days = daysOfWindow(window).map((day) => [day, billedOn(billed, day, families)] as const);
  return new Map(days.filter(([, resources]) => resources.size > 0));
}
