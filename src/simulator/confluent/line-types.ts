/** The vendor's 29 line types with product, unit, and list price in billionths of a dollar. */

export interface LineTypeFacts {
  readonly product: string;
  readonly unit: string;
  readonly price: bigint;
}

const kafka = (unit: string, price: bigint): LineTypeFacts => ({ product: "KAFKA", unit, price });
const connect = (unit: string, price: bigint): LineTypeFacts => ({ product: "CONNECT", unit, price });
const custom = (unit: string, price: bigint): LineTypeFacts => ({ product: "CUSTOM_CONNECT", unit, price });
const linking = (unit: string, price: bigint): LineTypeFacts => ({ product: "CLUSTER_LINK", unit, price });
const governance = (unit: string, price: bigint) => ({ product: "STREAM_GOVERNANCE", unit, price });
const tableflow = (unit: string, price: bigint): LineTypeFacts => ({ product: "TABLEFLOW", unit, price });

export const lineTypes = {
  KAFKA_STORAGE: kafka("GB-hour", 109_589n),
  KAFKA_PARTITION: kafka("Partition-hour", 1_500_000n),
  KAFKA_NETWORK_READ: kafka("GB", 50_000_000n),
  KAFKA_NETWORK_WRITE: kafka("GB", 50_000_000n),
  KAFKA_BASE: kafka("Hour", 600_000_000n),
  KAFKA_NUM_CKUS: kafka("CKU-hour", 1_375_000_000n),
  KAFKA_REST_PRODUCE: kafka("GB", 25_000_000n),
  KAFKA_STREAMS: kafka("Hour", 90_000_000n),
  KSQL_NUM_CSUS: { product: "KSQL", unit: "CSU-hour", price: 230_000_000n },
  CONNECT_CAPACITY: connect("Hour", 310_000_000n),
  CONNECT_NUM_TASKS: connect("Task-hour", 34_722_222n),
  CONNECT_THROUGHPUT: connect("GB", 25_000_000n),
  CONNECT_NUM_RECORDS: connect("Record", 1_337n),
  SUPPORT: { product: "SUPPORT_CLOUD_BUSINESS", unit: "Hour", price: 1_388_888_889n },
  CLUSTER_LINKING_PER_LINK: linking("Link-hour", 400_000_000n),
  CLUSTER_LINKING_WRITE: linking("GB", 60_000_000n),
  CLUSTER_LINKING_READ: linking("GB", 60_000_000n),
  AUDIT_LOG_READ: { product: "AUDIT_LOG", unit: "GB", price: 50_000_000n },
  GOVERNANCE_BASE: governance("Hour", 1_000_000_000n),
  SCHEMA_REGISTRY: governance("Schema-hour", 2_000_000n),
  NUM_RULES: governance("Rule", 4_000_000n),
  PROMO_CREDIT: kafka("", 0n),
  CUSTOM_CONNECT_NUM_TASKS: custom("Task-hour", 100_000_000n),
  CUSTOM_CONNECT_THROUGHPUT: custom("GB", 5_000_000n),
  FLINK_NUM_CFUS: { product: "FLINK", unit: "CFU-minute", price: 3_500_000n },
  TABLEFLOW_DATA_PROCESSED: tableflow("GB", 40_000_000n),
  TABLEFLOW_NUM_TOPICS: tableflow("Topic-hour", 100_000_000n),
  TABLEFLOW_STORAGE: tableflow("GB-hour", 55_000n),
  USM_CONNECTED_NODE: { product: "USM", unit: "Node-hour", price: 270_000_000n },
} as const satisfies Readonly<Record<string, LineTypeFacts>>;

export type LineType = keyof typeof lineTypes;
