/** Flink compute pools and their statements. Statement names are reused by other pools, and within the same pool. */
import { DAY_MS } from "../../common/days.js";
import { hash } from "../hash.js";
import { type Era, idOf, kinds, type Lifetime, lifetimeOf } from "./lifetime.js";
import type { Identity } from "./people.js";
import { type Environment, pick, regions } from "./places.js";

export interface ComputePool extends Lifetime {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly environment: Environment;
  readonly cloud: string;
  readonly region: string;
  readonly statements: readonly Statement[];
  /** Metric with the CFUs of the pool: the newer `num_cfu`, or only the older `cfu_minutes`. */
  readonly metric: "num_cfu" | "cfu_minutes";
}

export interface Statement extends Lifetime {
  readonly uid: string;
  readonly name: string;
  readonly principal: Identity;
  readonly phase: "RUNNING" | "COMPLETED" | "STOPPED" | "DEGRADED";
}

const NAMES = ["agg-orders", "join-payments", "dedupe-clicks", "enrich-users"];

export function createPools(
  era: Era,
  count: number,
  environments: readonly Environment[],
  identities: readonly Identity[],
): ComputePool[] {
  return Array.from({ length: count }, (_, index) => ({
    ...lifetimeOf(era, kinds.pool, index),
    ...(regions[index % regions.length] ?? regions[0]),
    index,
    id: idOf("lfcp-", era, kinds.pool, index),
    name: `pool-${index + 1}`,
    environment: pick(environments, Math.floor(index / regions.length)),
    statements: statementsOf(era, index, identities),
    metric: index % 4 === 1 ? "cfu_minutes" : "num_cfu",
  }));
}

/** Four statements. The fourth has the name of the third, which had stopped before, and another principal. */
function statementsOf(era: Era, pool: number, identities: readonly Identity[]): Statement[] {
  const handover = Math.floor((era.start + era.end) / 2 / 3_600_000) * 3_600_000;
  const before = era.start - 20 * DAY_MS;
  return Array.from({ length: 4 }, (_, index) => {
    const name = NAMES[Math.min(index, 2)] ?? "statement";
    return {
      uid: idOf("st-", era, kinds.statement, pool * 4 + index),
      name,
      principal: pick(identities, hash(era.seed, 61, pool, index)),
      phase: index === 2 ? "STOPPED" : index === 1 && pool % 3 === 1 ? "DEGRADED" : "RUNNING",
      created: index === 3 ? handover : before,
      deleted: index === 2 ? handover : undefined,
    };
  });
}
