/**
 * A synthetic Confluent Cloud organisation, as a function of the seed and the length of its history. Costs of a day and
 * usage of an hour are not stored: `bill.ts` and `series.ts` calculate them on request.
 */
import { DAY_MS, dayOf, midnightOf } from "../../common/days.js";
import { hash } from "../hash.js";
import { type Connector, createConnectors } from "./connectors.js";
import { type ComputePool, createPools } from "./flink.js";
import { type ApiKey, createKeys } from "./keys.js";
import type { Era } from "./lifetime.js";
import { createIdentities, type SimulatedIdentity, type SimulatedProvider } from "./people.js";
import {
  createClusters,
  createEnvironments,
  createKsqldb,
  type KsqlCluster,
  type SimulatedCluster,
  type SimulatedEnvironment,
} from "./places.js";
import { type ConfluentOptions, countsOf } from "./size.js";

export interface ConfluentOrganisation extends Era {
  readonly id: string;
  readonly name: string;
  readonly now: () => number;
  readonly days: number;
  readonly environments: readonly SimulatedEnvironment[];
  readonly clusters: readonly SimulatedCluster[];
  readonly ksqldb: readonly KsqlCluster[];
  readonly connectors: readonly Connector[];
  readonly pools: readonly ComputePool[];
  readonly identities: readonly SimulatedIdentity[];
  readonly providers: readonly SimulatedProvider[];
  readonly keys: readonly ApiKey[];
  /** Keys by the id of their resource. */
  readonly keysOfClusters: ReadonlyMap<string, readonly ApiKey[]>;
}

export function createConfluentOrganisation(options: ConfluentOptions = {}): ConfluentOrganisation {
  const { seed = 1, days = 30, now = Date.now } = options;
  const end = midnightOf(dayOf(new Date(now()))).getTime();
  const era: Era = { seed, start: end - days * DAY_MS, end };
  const counts = countsOf(options);
  const { identities, providers } = createIdentities(era, counts.identities);
  const environments = createEnvironments(era, counts);
  const clusters = createClusters(era, counts, environments, identities);
  const keys = createKeys(era, clusters, environments, identities);
  const keysOfClusters = byResource(keys);
  return {
    ...era,
    id: uuidOf(seed),
    name: "Simulated Industries",
    now,
    days,
    environments,
    clusters,
    keys,
    keysOfClusters,
    identities,
    providers,
    ksqldb: createKsqldb(era, counts, clusters, identities),
    connectors: createConnectors(era, counts.connectors, clusters, keysOfClusters),
    pools: createPools(era, counts.pools, environments, identities),
  };
}

function byResource(keys: readonly ApiKey[]): Map<string, ApiKey[]> {
  const found = new Map<string, ApiKey[]>();
  for (const key of keys) {
    const id = key.resource?.id ?? "";
    const known = found.get(id);
    if (known === undefined) found.set(id, [key]);
    else known.push(key);
  }
  return found;
}

function uuidOf(seed: number): string {
  const hex = [1, 2, 3, 4].map((part) => hash(seed, 71, part).toString(16).padStart(8, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
