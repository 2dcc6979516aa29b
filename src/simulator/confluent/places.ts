/** Environments and what runs in them, except Flink: Kafka clusters, Schema Registries, ksqlDB clusters. */
import { chance, hash } from "../hash.js";
import { type Era, idOf, kinds, type Lifetime, lifetimeOf } from "./lifetime.js";
import type { Identity } from "./people.js";
import type { Counts } from "./size.js";

export interface Environment extends Lifetime {
  readonly id: string;
  readonly name: string;
  readonly registry: Place;
}

interface Place extends Lifetime {
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** Basic clusters are billed by base and partitions, as of an organisation from before 2024; the others by CKU. */
export type ClusterKind = "BASIC" | "STANDARD" | "DEDICATED";

export interface KafkaCluster extends Place {
  readonly environment: Environment;
  readonly kind: ClusterKind;
  readonly cloud: string;
  readonly region: string;
  /** Who reads and writes, the busiest first. */
  readonly principals: readonly Identity[];
  readonly topics: readonly string[];
  /** Without Connect, the vendor answers 404 when asked for connectors. */
  readonly hasConnect: boolean;
}

export interface KsqlCluster extends Place {
  readonly cluster: KafkaCluster;
  /** Some have none that the vendor would tell. */
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
    // Environments and their registries are there throughout: index 0 is never born nor dies within the history.
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

/** 6 to 22 of them, 14 on average; in a small organisation about half of all. */
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
