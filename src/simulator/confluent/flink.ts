/** Flink compute pools and their statements. Statement names are reused by other pools, and within the same pool. */
import { DAY_MS } from "../../common/days.js";
import { hash } from "../hash.js";
import { type Era, idOf, lifetimeOf, objectKinds, type SimulatedLifetime } from "./lifetime.js";
import type { SimulatedIdentity } from "./people.js";
import { pickAt, regions, type SimulatedEnvironment } from "./places.js";

export interface ComputePool extends SimulatedLifetime {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly environment: SimulatedEnvironment;
  readonly cloud: string;
  readonly region: string;
  readonly statements: readonly FlinkStatement[];
  /** Metric with the CFUs of the pool: the newer `num_cfu`, or only the older `cfu_minutes`. */
  readonly metric: "num_cfu" | "cfu_minutes";
}

export interface FlinkStatement extends SimulatedLifetime {
  readonly uid: string;
  readonly name: string;
  readonly principal: SimulatedIdentity;
  readonly phase: "RUNNING" | "COMPLETED" | "STOPPED" | "DEGRADED";
}

const NAMES = ["agg-orders", "join-payments", "dedupe-clicks", "enrich-users"];

export function createPools(
  era: Era,
  count: number,
  environments: readonly SimulatedEnvironment[],
  identities: readonly SimulatedIdentity[],
): ComputePool[] {
  return Array.from({ length: count }, (_, index) => ({
    ...lifetimeOf(era, objectKinds.pool, index),
    ...(regions[index % regions.length] ?? regions[0]),
    index,
    id: idOf("lfcp-", era, objectKinds.pool, index),
    name: `pool-${index + 1}`,
    environment: pickAt(environments, Math.floor(index / regions.length)),
    statements: statementsOf(era, index, identities),
    metric: index % 4 === 1 ? "cfu_minutes" : "num_cfu",
  }));
}

/** Four statements. The fourth has the name of the third, which had stopped before, and another principal. */
function statementsOf(era: Era, pool: number, identities: readonly SimulatedIdentity[]): FlinkStatement[] {
  const handover = Math.floor((era.start + era.end) / 2 / 3_600_000) * 3_600_000;
  const before = era.start - 20 * DAY_MS;
  return Array.from({ length: 4 }, (_, index) => {
    const name = NAMES[Math.min(index, 2)] ?? "statement";
    return {
      uid: idOf("st-", era, objectKinds.statement, pool * 4 + index),
      name,
      principal: pickAt(identities, hash(era.seed, 61, pool, index)),
      phase: index === 2 ? "STOPPED" : index === 1 && pool % 3 === 1 ? "DEGRADED" : "RUNNING",
      created: index === 3 ? handover : before,
      deleted: index === 2 ? handover : undefined,
    };
  });
}
