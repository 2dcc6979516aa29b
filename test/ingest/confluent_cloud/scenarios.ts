/** A bill of Confluent Cloud with a line for each way of allocation: its identities, usage and charges. */
import { type AllocatedCharge, day } from "./allocated.js";
import {
  knownAccount,
  knownConnector,
  knownIdentity,
  knownKey,
  knownOf,
  knownResource,
  knownStatement,
} from "./known.js";
import type { MinuteSeries } from "./metrics.js";

/** On the third day no identity is left. */
const life = { deleted: "2026-01-02T12:00:00Z" };

const identities = [
  ...["sa-1", "sa-2", "sa-3"].map((id) => knownAccount(id, life)),
  knownIdentity("u-1", "user", life),
  knownIdentity("pool-1", "identity_pool", life),
  knownIdentity("op-1", "identity_provider"),
  knownIdentity("svc", "principal"),
  knownAccount("sa-late", { created: "2026-01-02T00:00:00Z", ...life }),
  knownAccount("sa-gone", { deleted: "2026-01-01T00:00:00Z" }),
  knownAccount("sa-older", { deleted: "2025-12-31T23:59:59Z" }),
  ...["lkc-active", "lkc-v3"].flatMap((cluster) => [
    knownKey(`K1-${cluster}`, "sa-1", cluster, life),
    knownKey(`K2-${cluster}`, "sa-2", cluster, life),
    knownKey(`K3-${cluster}`, null, cluster),
    knownKey(`K4-${cluster}`, "sa-late", cluster, { created: "2026-01-02T00:00:00Z", ...life }),
    knownKey(`K5-${cluster}`, "sa-older", cluster, { deleted: "2025-12-31T23:59:59Z" }),
  ]),
  knownKey("KSR", "sa-3", "lsrc-1"),
  knownKey("KEY", "sa-1", null),
  knownKey("KORPHAN", null, null),
];

const byKey = (kafka_api_key: string | null) => ({ kafka_auth_mode: "KAFKA_API_KEY", kafka_api_key });
const byAccount = (kafka_service_account_id: string | null) => ({
  kafka_auth_mode: "SERVICE_ACCOUNT",
  kafka_service_account_id,
});
export const connectors = {
  "lcc-account": byAccount("sa-1"),
  "lcc-unheard": byAccount("sa-unheard"),
  "lcc-no-account": byAccount(null),
  "lcc-masked": byKey("****************"),
  "lcc-key-gone": byKey("KGONE"),
  "lcc-key": byKey("KEY"),
  "lcc-key-orphan": byKey("KORPHAN"),
  "lcc-no-key": byKey(null),
  "lcc-odd": { kafka_auth_mode: "UNKNOWN" },
};

const resources = [
  ...Object.entries(connectors).map(([id, metadata]) => knownConnector(id, metadata)),
  knownResource("lksqlc-1", "ksqldb_cluster", { owner: "u-1" }),
  knownResource("lksqlc-2", "ksqldb_cluster"),
  ...["lfcp-p", "lfcp-f", "lfcp-s", "lfcp-stopped"].flatMap((pool) => [
    knownStatement(`${pool}-1`, "sa-1", {
      compute_pool_id: pool,
      statement_name: "one",
      is_stopped: pool === "lfcp-stopped",
    }),
    knownStatement(`${pool}-2`, "sa-2", {
      compute_pool_id: pool,
      statement_name: "two",
      is_stopped: pool === "lfcp-stopped",
    }),
    knownStatement(`${pool}-3`, "sa-2", { compute_pool_id: pool, statement_name: "three", is_stopped: true }),
    knownStatement(`${pool}-4`, "sa-1", {
      compute_pool_id: pool,
      statement_name: "four",
      is_stopped: pool === "lfcp-stopped",
    }),
  ]),
];

const bytes = (
  name: "request" | "response",
  kafka_id: string,
  used: Readonly<Record<string, number>>,
): MinuteSeries[] =>
  Object.entries(used).map(([principal_id, value]) => ({
    name: `confluent_kafka_server_${name}_bytes`,
    labels: { kafka_id, principal_id },
    samples: { "2026-01-01T05:07:00Z": value },
  }));
const cfu = (
  compute_pool_id: string,
  flink_statement_name: string,
  value: number,
  name = "num_cfu",
): MinuteSeries => ({
  name: `confluent_flink_${name}`,
  labels: { compute_pool_id, flink_statement_name },
  samples: { "2026-01-01T05:07:00Z": value },
});

export const series = [
  ...bytes("request", "lkc-v1", { "sa-1": 20, "sa-2": 30, "sa-3": 20 }),
  ...bytes("response", "lkc-v1", { "sa-1": 30 }),
  ...bytes("request", "lkc-v2", { "sa-1": 50, "sa-2": 30, "sa-3": 20 }),
  ...bytes("request", "lkc-merge", { KEY: 1, "sa-1": 1, "sa-2": 2 }),
  ...bytes("request", "lkc-orphan", { KORPHAN: 2, KGONE: 1, "sa-1": 1 }),
  ...bytes("response", "lkc-zero", { "sa-1": 0, KEY: 0, "sa-2": 0 }),
  ...bytes("request", "lkc-refund", { "sa-1": 2, "sa-2": 1, "sa-3": 0 }),
  cfu("lfcp-p", "one", 3),
  cfu("lfcp-p", "two", 1),
  cfu("lfcp-p", "two", 100, "statement_utilization_cfu_minutes_consumed"),
  cfu("lfcp-f", "two", 1, "statement_utilization_cfu_minutes_consumed"),
  cfu("lfcp-u", "one", 1),
];

export const [ONE, TWO, THREE] = [day(1), day(2), day(3)];
export const charges: readonly AllocatedCharge[] = [
  [ONE, "KAFKA_NUM_CKUS", "lkc-v1", "100"],
  [ONE, "KAFKA_NUM_CKU", "lkc-v2", "0.0003"],
  [ONE, "KAFKA_NUM_CKU", "lkc-v3", "33.333333333333"],
  [THREE, "KAFKA_NUM_CKU", "lkc-v4", "100"],
  [THREE, "KAFKA_NETWORK_READ", "lkc-v5", "33.333333333333"],
  [ONE, "KAFKA_NETWORK_WRITE", "lkc-merge", "10"],
  [ONE, "KAFKA_NETWORK_WRITE", "lkc-orphan", "10"],
  [ONE, "KAFKA_STORAGE", "lkc-orphan", "2"],
  [ONE, "KAFKA_NETWORK_READ", "lkc-zero", "10"],
  [ONE, "KAFKA_NETWORK_WRITE", "lkc-active", "10"],
  [TWO, "KAFKA_NETWORK_WRITE", "lkc-active", "9"],
  [ONE, "KAFKA_PARTITION", "lkc-active", "10"],
  [ONE, "KAFKA_BASE", "lkc-none", "6"],
  [ONE, "KAFKA_NETWORK_WRITE", "lkc-none", "6"],
  [ONE, "KAFKA_NETWORK_WRITE", "lkc-refund", "-10"],
  [ONE, "PROMO_CREDIT_KAFKA", "lkc-active", "-3"],
  [ONE, "GOVERNANCE_BASE", "lsrc-1", "10"],
  [ONE, "SCHEMA_REGISTRY", "lsrc-2", "6"],
  [ONE, "SUPPORT", "no-resource", "6"],
  [THREE, "SUPPORT", "no-resource", "6"],
  [ONE, "PROMO_CREDIT", "no-resource", "-15"],
  ...[...Object.keys(connectors), "lcc-unknown"].map(
    (id): AllocatedCharge => [ONE, "CONNECT_NUM_TASKS", id, "1"],
  ),
  [ONE, "CONNECT_CAPACITY", "lcc-account", "2"],
  ...["lksqlc-1", "lksqlc-2", "lksqlc-3"].map((id): AllocatedCharge => [ONE, "KSQL_NUM_CSUS", id, "1"]),
  ...["p", "f", "s", "u", "stopped", "none"].map(
    (id): AllocatedCharge => [ONE, "FLINK_NUM_CFUS", `lfcp-${id}`, "6"],
  ),
  [THREE, "FLINK_NUM_CFU", "lfcp-none", "6"],
  [ONE, "CLUSTER_LINKING_READ", "lkc-active", "1"],
  [ONE, "TABLEFLOW_STORAGE", "lkc-active", "1"],
  [ONE, "PROMO_CREDIT_TABLEFLOW", "lkc-active", "-1"],
  [ONE, "TABLEFLOW_NUM_TOPICS", "lkc-none", "6"],
  [THREE, "CLUSTER_LINKING_PER_LINK", "lkc-none", "6"],
  [ONE, "MALFORMED", "malformed-1", "1"],
  [ONE, "NEVER_HEARD_OF", "lkc-active", "1"],
];

export const known = knownOf(identities, resources);
