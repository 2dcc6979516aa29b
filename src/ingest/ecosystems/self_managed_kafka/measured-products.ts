/** The products of a self-managed cluster: compute, whose quantity is fixed, and those that queries measure. */
import type { MeteredQuantity } from "../../metered/price-day.js";
import type { TopicQuery } from "./presets.js";

export const COMPUTE = "SELF_KAFKA_COMPUTE";
export const STORAGE = "SELF_KAFKA_STORAGE";
export const NETWORK_INGRESS = "SELF_KAFKA_NETWORK_INGRESS";
export const NETWORK_EGRESS = "SELF_KAFKA_NETWORK_EGRESS";
export const PARTITIONS = "SELF_KAFKA_PARTITIONS";

/** Queries of the whole cluster. */
export type ClusterQuery = "cluster_bytes_in" | "cluster_bytes_out" | "cluster_storage_bytes";

export interface MeasuredProduct {
  readonly name: string;
  /** The key of its rate in the cost model. */
  readonly rate:
    | "storage_per_gib_hourly"
    | "network_ingress_per_gib"
    | "network_egress_per_gib"
    | "partition_hourly_rate";
  readonly type: Exclude<MeteredQuantity["type"], "fixed">;
  /** The query of the whole cluster. Undefined for a product that is measured by topic only. */
  readonly cluster?: ClusterQuery;
  readonly perTopic: TopicQuery;
}

/** The products that are measured, with the names of the queries that measure them. */
export const measuredProducts: readonly MeasuredProduct[] = [
  {
    name: STORAGE,
    rate: "storage_per_gib_hourly",
    type: "storage_gib",
    cluster: "cluster_storage_bytes",
    perTopic: "storage_bytes_per_topic",
  },
  {
    name: NETWORK_INGRESS,
    rate: "network_ingress_per_gib",
    type: "network_gib",
    cluster: "cluster_bytes_in",
    perTopic: "bytes_in_per_topic",
  },
  {
    name: NETWORK_EGRESS,
    rate: "network_egress_per_gib",
    type: "network_gib",
    cluster: "cluster_bytes_out",
    perTopic: "bytes_out_per_topic",
  },
  {
    name: PARTITIONS,
    rate: "partition_hourly_rate",
    type: "unit_hours",
    perTopic: "partitions_per_topic",
  },
];
