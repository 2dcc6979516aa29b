/** Environments with their Kafka clusters, Schema Registries and ksqlDB clusters. Flink is in `flink.ts`. */
import { chance, hash } from "../hash.js";
import { type Era, idOf, lifetimeOf, objectKinds, type SimulatedLifetime } from "./lifetime.js";
import type { SimulatedIdentity } from "./people.js";
import type { Counts } from "./size.js";

export interface SimulatedEnvironment extends SimulatedLifetime {
  readonly id: string;
  readonly name: string;
  readonly registry: NamedObject;
}

interface NamedObject extends SimulatedLifetime {
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** Basic clusters are billed by base and partitions, like organisations from before 2024. Others are billed by CKU. */
export type ClusterKind = "BASIC" | "STANDARD" | "DEDICATED";

export interface SimulatedCluster extends NamedObject {
  readonly environment: SimulatedEnvironment;
  readonly kind: ClusterKind;
  readonly cloud: string;
  readonly region: string;
  /** Identities that read and write, busiest first. */
  readonly principals: readonly SimulatedIdentity[];
  readonly topics: readonly string[];
  /** If false, the list of connectors returns 404. */
  readonly hasConnect: boolean;
}

export interface KsqlCluster extends NamedObject {
  readonly cluster: SimulatedCluster;
  /** Undefined if the vendor does not report an owner. */
  readonly owner: SimulatedIdentity | undefined;
}

export const regions = [
  { cloud: "AWS", region: "us-east-1" },
  { cloud: "AWS", region: "eu-west-1" },
  { cloud: "AZURE", region: "westeurope" },
] as const;

const CLUSTERS = ["orders", "payments", "search", "logistics", "pricing", "identity", "reports", "catalogue"];
const ENVIRONMENTS = ["production", "staging", "development", "analytics"];

export function createEnvironments(era: Era, { environments }: Counts): SimulatedEnvironment[] {
  return Array.from({ length: environments }, (_, index) => {
    // Environments and registries always exist. Index 0 is neither created nor deleted within the history.
    const throughout = lifetimeOf(era, objectKinds.environment, 0);
    const name = named(ENVIRONMENTS, index);
    return {
      ...throughout,
      name,
      id: idOf("env-", era, objectKinds.environment, index),
      registry: {
        ...throughout,
        index,
        id: idOf("lsrc-", era, objectKinds.registry, index),
        name: `registry of ${name}`,
      },
    };
  });
}

export function createClusters(
  era: Era,
  counts: Counts,
  environments: readonly SimulatedEnvironment[],
  identities: readonly SimulatedIdentity[],
): SimulatedCluster[] {
  return Array.from({ length: counts.clusters }, (_, index) => ({
    ...lifetimeOf(era, objectKinds.cluster, index),
    ...(regions[index % regions.length] ?? regions[0]),
    index,
    id: idOf("lkc-", era, objectKinds.cluster, index),
    name: named(CLUSTERS, index),
    environment: pickAt(environments, index),
    kind: pickAt(["BASIC", "DEDICATED", "STANDARD"] as const, index),
    principals: principalsOf(era, index, identities),
    topics: topicsOf(era, index),
    hasConnect: index % 5 !== 3,
  }));
}

export function createKsqldb(
  era: Era,
  counts: Counts,
  clusters: readonly SimulatedCluster[],
  identities: readonly SimulatedIdentity[],
): KsqlCluster[] {
  return Array.from({ length: counts.ksqldb }, (_, index) => ({
    ...lifetimeOf(era, objectKinds.ksqldb, index),
    index,
    id: idOf("lksqlc-", era, objectKinds.ksqldb, index),
    name: `ksql-${index + 1}`,
    cluster: pickAt(clusters, index),
    owner: index % 6 === 5 ? undefined : pickAt(identities, index * 10),
  }));
}

/** 6 to 22 principals, 14 on average, but at most half of the organisation's identities. */
function principalsOf(
  { seed }: Era,
  cluster: number,
  identities: readonly SimulatedIdentity[],
): SimulatedIdentity[] {
  const wanted = Math.floor(6 + 17 * chance(seed, 31, cluster));
  const count = Math.min(wanted, Math.ceil(identities.length / 2));
  const first = hash(seed, 32, cluster);
  return Array.from({ length: count }, (_, rank) => pickAt(identities, first + rank));
}

function topicsOf({ seed }: Era, cluster: number): string[] {
  const own = Array.from({ length: 3 + (hash(seed, 33, cluster) % 6) }, (_, index) => `events.v${index + 1}`);
  return [...own, "__consumer_offsets", "_confluent-command", "_schemas"];
}

function named(names: readonly string[], index: number): string {
  const round = Math.floor(index / names.length);
  return `${names[index % names.length]}${round === 0 ? "" : `-${round + 1}`}`;
}

export function pickAt<T>(from: readonly T[], index: number): T {
  const picked = from[index % from.length];
  if (picked === undefined) throw new RangeError("nothing to pick from");
  return picked;
}
