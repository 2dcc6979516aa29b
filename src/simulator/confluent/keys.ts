/** API keys of clusters and Schema Registries, and keys that belong to neither. */
import { chance } from "../hash.js";
import { type Era, existsAt, idOf, lifetimeOf, objectKinds, type SimulatedLifetime } from "./lifetime.js";
import type { SimulatedIdentity } from "./people.js";
import type { SimulatedCluster, SimulatedEnvironment } from "./places.js";

export interface ApiKey extends SimulatedLifetime {
  readonly id: string;
  readonly description: string;
  /** A few keys have no owner, because it was deleted. */
  readonly owner: SimulatedIdentity | undefined;
  /** Null or a kind such as `CLOUD` for keys that do not belong to a cluster. */
  readonly resource: { readonly id: string; readonly kind: string } | null;
}

/** 70 of every hundred principals of a cluster have a key. The others use a token. */
const WITH_KEY = 0.7;
const REGISTRY_KEYS = 5;

/** Kinds of keys that do not belong to a cluster. The resource of a Flink key is the region of an environment. */
const UNBOUND = ["none", "CLOUD", "TABLEFLOW", "GLOBAL", "FLINK"] as const;

export function createKeys(
  era: Era,
  clusters: readonly SimulatedCluster[],
  environments: readonly SimulatedEnvironment[],
  identities: readonly SimulatedIdentity[],
): ApiKey[] {
  const keys: ApiKey[] = [];
  const add = (
    owner: SimulatedIdentity,
    description: string,
    resource: ApiKey["resource"],
    within: SimulatedLifetime,
  ) => {
    const index = keys.length;
    const own = lifetimeOf(era, objectKinds.key, index);
    keys.push({
      id: idOf("KEY", era, objectKinds.key, index).toUpperCase(),
      description,
      owner: index % 17 === 16 ? undefined : owner,
      resource,
      created: Math.max(own.created, within.created, owner.created),
      deleted: earliest(own.deleted, within.deleted, owner.deleted),
    });
  };
  for (const cluster of clusters) {
    cluster.principals.forEach((principal, rank) => {
      if (!hasKey(era, cluster, rank)) return;
      add(principal, `${principal.name} on ${cluster.name}`, { id: cluster.id, kind: "Cluster" }, cluster);
    });
  }
  for (const { id, registry, ...environment } of environments) {
    for (const [rank, identity] of identities.filter(({ index }) => index % 7 === 0).entries()) {
      if (rank >= REGISTRY_KEYS) break;
      add(identity, `schemas of ${environment.name}`, { id: registry.id, kind: "Cluster" }, registry);
    }
    for (const [rank, kind] of UNBOUND.entries()) {
      const owner = identities[(rank * 3) % identities.length];
      if (owner === undefined || !existsAt(owner, era.start)) continue;
      add(owner, `${kind} of ${environment.name}`, unbound(kind, id), environment);
    }
  }
  return keys;
}

/** Whether the principal of this rank has a key of its cluster. */
export function hasKey({ seed }: Era, { index }: SimulatedCluster, rank: number): boolean {
  return chance(seed, 41, index, rank) < WITH_KEY;
}

function unbound(kind: (typeof UNBOUND)[number], environment: string): ApiKey["resource"] {
  if (kind === "none") return null;
  if (kind === "FLINK") return { id: `${environment}.aws.us-east-1`, kind: "Region" };
  return { id: kind, kind };
}

function earliest(...ends: readonly (number | undefined)[]): number | undefined {
  const known = ends.filter((end) => end !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
