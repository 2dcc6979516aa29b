/** Environments with their Kafka clusters, Schema Registries and ksqlDB clusters. Flink is in `flink.ts`. */
import { chance, hash } from "../hash.js";
import { type Era, idOf, kinds, type Lifetime, lifetimeOf } from "./lifetime.js";
import type { Identity } from "./people.js";
import type { Counts } from "./size.js";

export interface Environment extends Lifetime {
  readonly id: string;
  readonly name: string;
  readonly registry: NamedObject;
}

interface NamedObject extends Lifetime {
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** Basic clusters are billed by base and partitions, like organisations from before 2024. Others are billed by CKU. */
export type ClusterKind = "BASIC" | "STANDARD" | "DEDICATED";

export interface KafkaCluster extends NamedObject {
  readonly environment: Environment;
  readonly kind: ClusterKind;
  readonly cloud: string;
  readonly region: string;
  /** Identities that read and write, busiest first. */
  readonly principals: readonly Identity[];
  readonly topics: readonly string[];
  /** If false, the list of connectors returns 404. */
  readonly hasConnect: boolean;
}

export interface KsqlCluster extends NamedObject {
  readonly cluster: KafkaCluster;
  /** Undefined if the vendor does not report an owner. */
  readonly owner: Identity | undefined;
}

export const regions = [
  { cloud: "AWS", region: "us-east-1" },
  { cloud: "AWS", region: "eu-west-1" },
  { cloud: "AZURE", region: "westeurope" },
] as const;

const CLUSTERS = ["orders", "payments", "search", "logistics", "pricing", "identity", "reports", "catalogue"];
const ENVIRONMENTS = ["production", "staging", "development", "analytics"];

export function createEnvironments(era: Era, { environments }: Counts): Environment[] {
  return Array.from({ length: environments }, (_, index) => {
    // Environments and registries always exist. Index 0 is neither created nor deleted within the history.
    const throughout = lifetimeOf(era, kinds.environment, 0);
    const name = named(ENVIRONMENTS, index);
    return {
      ...throughout,
      name,
      id: idOf("env-", era, kinds.environment, index),
      registry: {
        ...throughout,
        index,
        id: idOf("lsrc-", era, kinds.registry, index),
        name: `registry of ${name}`,
      },
    };
  });
}

export function createClusters(
  era: Era,
  counts: Counts,
  environments: readonly Environment[],
  identities: readonly Identity[],
): KafkaCluster[] {
  return Array.from({ length: counts.clusters }, (_, index) => ({
    ...lifetimeOf(era, kinds.cluster, index),
    ...(regions[index % regions.length] ?? regions[0]),
    index,
    id: idOf("lkc-", era, kinds.cluster, index),
    name: named(CLUSTERS, index),
    environment: pick(environments, index),
    kind: pick(["BASIC", "DEDICATED", "STANDARD"] as const, index),
    principals: principalsOf(era, index, identities),
    topics: topicsOf(era, index),
    hasConnect: index % 5 !== 3,
  }));
}

export function createKsqldb(
  era: Era,
  counts: Counts,
  clusters: readonly KafkaCluster[],
  identities: readonly Identity[],
): KsqlCluster[] {
  return Array.from({ length: counts.ksqldb }, (_, index) => ({
    ...lifetimeOf(era, kinds.ksqldb, index),
    index,
    id: idOf("lksqlc-", era, kinds.ksqldb, index),
    name: `ksql-${index + 1}`,
    cluster: pick(clusters, index),
    owner: index % 6 === 5 ? undefined : pick(identities, index * 10),
  }));
}

/** 6 to 22 principals, 14 on average, but at most half of the organisation's identities. */
function principalsOf({ seed }: Era, cluster: number, identities: readonly Identity[]): Identity[] {
  const wanted = Math.floor(6 + 17 * chance(seed, 31, cluster));
  const count = Math.min(wanted, Math.ceil(identities.length / 2));
  const first = hash(seed, 32, cluster);
  return Array.from({ length: count }, (_, rank) => pick(identities, first + rank));
}

function topicsOf({ seed }: Era, cluster: number): string[] {
  const own = Array.from({ length: 3 + (hash(seed, 33, cluster) % 6) }, (_, index) => `events.v${index + 1}`);
  return [...own, "__consumer_offsets", "_confluent-command", "_schemas"];
}

function named(names: readonly string[], index: number): string {
  const round = Math.floor(index / names.length);
  return `${names[index % names.length]}${round === 0 ? "" : `-${round + 1}`}`;
}

export function pick<T>(from: readonly T[], index: number): T {
  const picked = from[index % from.length];
  if (picked === undefined) throw new RangeError("nothing to pick from");
  return picked;
}
