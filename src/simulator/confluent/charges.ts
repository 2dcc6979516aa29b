/** The charges of the organisation on a day. `cost-row.ts` turns them into rows of the bill. */
import { DAY_MS } from "../../common/days.js";
import { chance } from "../hash.js";
import type { Connector } from "./connectors.js";
import { hoursOn } from "./lifetime.js";
import type { LineType } from "./line-types.js";
import type { ConfluentOrganisation } from "./organisation.js";
import type { SimulatedCluster, SimulatedEnvironment } from "./places.js";

export interface Charge {
  readonly lineType: LineType;
  /** In thousandths of the unit. Undefined: the charge has an `amount` instead of a price. */
  readonly quantity?: number;
  /** In trillionths of a dollar. */
  readonly amount?: bigint;
  /** Null: the row has `"resource": null`. Undefined: the row has no such field. */
  readonly resource?: BilledResource | null;
  /** Overrides the product of the line type, as credits do. */
  readonly product?: string;
  /** Bounds of the tier, and whether it is free. */
  readonly tier?: { readonly start: string; readonly end: string; readonly free: boolean };
  readonly access?: "INTERNET" | "PRIVATE_LINK" | "PEERED_VPC";
  readonly description?: string;
}

export interface BilledResource {
  readonly id: string;
  readonly name: string;
  readonly environment: SimulatedEnvironment;
}

/** `midnight` is the start of the day in milliseconds since 1970. */
export function* chargesOf(organisation: ConfluentOrganisation, midnight: number): Generator<Charge> {
  const { seed, clusters, environments, connectors, ksqldb, pools } = organisation;
  const day = midnight / DAY_MS;
  for (const cluster of clusters) {
    const hours = hoursOn(cluster, midnight);
    if (hours > 0) yield* ofCluster(cluster, hours, (what) => level(seed, 81, cluster.index, day, what));
  }
  for (const environment of environments) yield* ofEnvironment(environment);
  for (const connector of connectors) {
    const hours = Math.min(hoursOn(connector, midnight), hoursOn(connector.cluster, midnight));
    if (hours > 0) yield* ofConnector(connector, hours, level(seed, 82, connector.index, day, 0));
  }
  for (const { cluster, ...ksql } of ksqldb) {
    const hours = hoursOn(ksql, midnight);
    const resource = { ...ksql, environment: cluster.environment };
    if (hours > 0) yield { lineType: "KSQL_NUM_CSUS", quantity: 4000 * hours, resource };
  }
  for (const pool of pools) {
    const minutes = hoursOn(pool, midnight) * 60 * level(seed, 83, pool.index, day, 0);
    if (minutes > 0)
      yield { lineType: "FLINK_NUM_CFUS", quantity: Math.round(minutes * 4000), resource: pool };
  }
  yield* ofOrganisation(organisation, day);
}

/** A factor from 0.5 to 1.5 that changes daily. */
function level(...parts: readonly [number, number, number, number, number]): number {
  return 0.5 + chance(...parts);
}

function* ofCluster(
  cluster: SimulatedCluster,
  hours: number,
  daily: (what: number) => number,
): Generator<Charge> {
  const { index, kind } = cluster;
  const resource = cluster;
  const size = 1 + 20 / (1 + index / 4);
  const milli = (amount: number) => Math.round(amount * 1000);
  const gigabytes = (what: number) => milli(size * hours * daily(what));
  if (kind === "BASIC") {
    yield { lineType: "KAFKA_BASE", quantity: milli(hours), resource };
    yield { lineType: "KAFKA_PARTITION", quantity: milli(hours * (10 + Math.round(size * 10))), resource };
  } else {
    yield { lineType: "KAFKA_NUM_CKUS", quantity: milli(hours * (kind === "DEDICATED" ? 2 : 1)), resource };
  }
  yield { lineType: "KAFKA_STORAGE", quantity: gigabytes(1) * 40, resource, access: "INTERNET" };
  yield { lineType: "KAFKA_NETWORK_READ", quantity: gigabytes(2) * 2, resource, access: "INTERNET" };
  yield { lineType: "KAFKA_NETWORK_WRITE", quantity: gigabytes(3), resource, access: "INTERNET" };
  if (index % 12 === 1) {
    yield { lineType: "KAFKA_NETWORK_READ", quantity: gigabytes(4), resource, access: "PRIVATE_LINK" };
  }
  if (index % 6 === 1) yield { lineType: "KAFKA_STREAMS", quantity: milli(hours), resource };
  if (index % 6 === 2) yield { lineType: "KAFKA_REST_PRODUCE", quantity: gigabytes(5), resource };
  if (index % 6 === 3) {
    yield { lineType: "CLUSTER_LINKING_PER_LINK", quantity: milli(hours), resource };
    yield { lineType: "CLUSTER_LINKING_WRITE", quantity: gigabytes(6), resource };
    yield { lineType: "CLUSTER_LINKING_READ", quantity: gigabytes(7), resource };
  }
  if (index % 6 === 0) {
    yield { lineType: "TABLEFLOW_DATA_PROCESSED", quantity: gigabytes(8), resource };
    yield { lineType: "TABLEFLOW_NUM_TOPICS", quantity: milli(hours * 3), resource };
    yield { lineType: "TABLEFLOW_STORAGE", quantity: gigabytes(9) * 30, resource };
  }
}

function* ofEnvironment(environment: SimulatedEnvironment): Generator<Charge> {
  const resource = { ...environment.registry, environment };
  yield { lineType: "GOVERNANCE_BASE", quantity: 24_000, resource };
  yield { lineType: "SCHEMA_REGISTRY", quantity: 24_000 * 120, resource };
  yield { lineType: "NUM_RULES", quantity: 10_000, resource, tier: { start: "0", end: "10", free: true } };
  yield { lineType: "NUM_RULES", quantity: 25_000, resource, tier: { start: "10", end: "50", free: false } };
}

function* ofConnector(connector: Connector, hours: number, daily: number): Generator<Charge> {
  const resource = { ...connector, environment: connector.cluster.environment };
  const tasks = Math.round(hours * 1000) * (1 + (connector.index % 3));
  const gigabytes = Math.round(hours * daily * 1500);
  if (connector.custom) {
    yield { lineType: "CUSTOM_CONNECT_NUM_TASKS", quantity: tasks, resource };
    yield { lineType: "CUSTOM_CONNECT_THROUGHPUT", quantity: gigabytes, resource };
    return;
  }
  yield { lineType: "CONNECT_NUM_TASKS", quantity: tasks, resource };
  if (connector.index % 5 === 1) yield { lineType: "CONNECT_CAPACITY", quantity: hours * 1000, resource };
  if (connector.index % 5 === 3)
    yield { lineType: "CONNECT_NUM_RECORDS", quantity: gigabytes * 9000, resource };
  else yield { lineType: "CONNECT_THROUGHPUT", quantity: gigabytes, resource };
}

const DOLLAR = 1_000_000_000_000n;

function* ofOrganisation({ clusters, pools }: ConfluentOrganisation, day: number): Generator<Charge> {
  yield { lineType: "SUPPORT", quantity: 24_000, resource: null };
  yield { lineType: "AUDIT_LOG_READ", quantity: 1250 + (day % 7) * 310 };
  yield { lineType: "USM_CONNECTED_NODE", quantity: 6 * 24_000 };
  const [cluster, pool] = [clusters[0], pools[0]];
  if (day % 5 === 0) {
    yield { lineType: "PROMO_CREDIT", amount: -15n * DOLLAR, description: "welcome credit" };
  }
  if (day % 10 === 3 && pool !== undefined) {
    const amount = (-7n * DOLLAR) / 4n;
    yield { lineType: "PROMO_CREDIT", product: "FLINK", amount, resource: pool, description: "Flink credit" };
  }
  if (day % 4 === 1 && cluster !== undefined) {
    const amount = (-DOLLAR * 123_456_789n) / 100_000_000n;
    yield { lineType: "KAFKA_NETWORK_WRITE", amount, resource: cluster, description: "refund of an outage" };
  }
}
