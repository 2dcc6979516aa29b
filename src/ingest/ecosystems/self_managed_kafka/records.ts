/**
 * Resources and identities of a Kafka cluster as records. Ids of brokers and topics begin with that of their cluster:
 * `orders:topic:events`.
 */
import type { ResourceRecord } from "../../ecosystem.js";
import { quotedValue } from "../../staging/staged-row.js";
import type { BrokerMetadata } from "./kafka/metadata-request.js";
import type { SelfManagedKafkaSettings } from "./settings.js";
import type { OwnerOf } from "./topic-owners.js";

/** Names that the discovery query found. */
export interface DiscoveredNames {
  readonly brokers: readonly string[];
  readonly topics: readonly string[];
  /** Or the owners of the topics, with `usage_by: topic`. */
  readonly principals: readonly string[];
}

export function clusterRecord(
  { cluster_id, broker_count, region, resource_source }: SelfManagedKafkaSettings,
  described: BrokerMetadata | undefined,
): ResourceRecord {
  const kafkaClusterId = described?.clusterId ?? resource_source.kafka_cluster_id;
  return {
    resource_id: cluster_id,
    resource_type: "cluster",
    display_name: cluster_id,
    parent_id: null,
    owner_id: null,
    created_at: null,
    metadata: {
      broker_count,
      ...(region === undefined ? {} : { region }),
      ...(kafkaClusterId === undefined ? {} : { kafka_cluster_id: kafkaClusterId }),
    },
  };
}

interface Part {
  readonly type: "broker" | "topic";
  /** Name of the part within the cluster. */
  readonly id: string;
  readonly name: string;
  readonly owner?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

function partRecord(cluster_id: string, { type, id, name, owner, metadata = {} }: Part): ResourceRecord {
  return {
    resource_id: `${cluster_id}:${type}:${id}`,
    resource_type: type,
    display_name: name,
    parent_id: cluster_id,
    owner_id: owner ?? null,
    created_at: null,
    metadata: { cluster_id, ...metadata },
  };
}

export function discoveredResources(
  { cluster_id }: SelfManagedKafkaSettings,
  { brokers, topics }: DiscoveredNames,
  ownerOf: OwnerOf,
): ResourceRecord[] {
  return [
    ...brokers.map((id) => partRecord(cluster_id, { type: "broker", id, name: id })),
    ...topics.map((id) => partRecord(cluster_id, { type: "topic", id, name: id, owner: ownerOf(id) })),
  ];
}

export function describedResources(
  { cluster_id }: SelfManagedKafkaSettings,
  { brokers, topics }: BrokerMetadata,
  ownerOf: OwnerOf,
): ResourceRecord[] {
  return [
    ...brokers.map(({ id, host, port, rack }) =>
      partRecord(cluster_id, {
        type: "broker",
        id: String(id),
        name: `${host}:${port}`,
        metadata: { broker_id: id, ...(rack === null ? {} : { rack }) },
      }),
    ),
    ...topics.map(({ name, partitions, internal }) =>
      partRecord(cluster_id, {
        type: "topic",
        id: name,
        name,
        owner: ownerOf(name),
        metadata: { partitions, ...(internal ? { internal } : {}) },
      }),
    ),
  ];
}

const MOST_SHOWN = 3;

/** Returns a sentence about topics without an owner, if there are any. */
export function ownerlessTopics(
  { usage_by }: SelfManagedKafkaSettings,
  resources: readonly ResourceRecord[],
): string | undefined {
  const topics = resources.filter(({ resource_type }) => resource_type === "topic");
  const names = topics.flatMap(({ owner_id, display_name }) =>
    owner_id === null ? [display_name ?? ""] : [],
  );
  if (usage_by !== "topic" || names.length === 0) return undefined;
  const shown = names.slice(0, MOST_SHOWN).map(quotedValue).join(", ");
  return `${names.length} of ${topics.length} topics have no owner, such as ${shown}: their usage goes to UNALLOCATED`;
}
