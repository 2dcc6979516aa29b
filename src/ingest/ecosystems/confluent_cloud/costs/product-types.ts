/**
 * The line types of the vendor's bill, each with the family that its allocation rule is written for.
 *
 * The vendor lists 29 and says that there may be more. An unknown type gets the rule `*`, with one warning.
 */
export const productFamilies = [
  "kafka_network_read",
  "kafka_network_write",
  "kafka_partition",
  "kafka_base",
  "kafka_cku",
  "schema_registry",
  "connector_tasks",
  "connector_capacity",
  "ksqldb",
  "flink",
  "org_wide",
  "cluster_extra",
  "malformed",
] as const;
export type ProductFamily = (typeof productFamilies)[number];

/** As listed in the vendor's documentation. */
const vendorTypes = {
  KAFKA_STORAGE: "kafka_base",
  KAFKA_PARTITION: "kafka_partition",
  KAFKA_NETWORK_READ: "kafka_network_read",
  KAFKA_NETWORK_WRITE: "kafka_network_write",
  KAFKA_BASE: "kafka_base",
  KAFKA_NUM_CKUS: "kafka_cku",
  KAFKA_REST_PRODUCE: "kafka_network_write",
  KAFKA_STREAMS: "kafka_base",
  KSQL_NUM_CSUS: "ksqldb",
  CONNECT_CAPACITY: "connector_capacity",
  CONNECT_NUM_TASKS: "connector_tasks",
  CONNECT_THROUGHPUT: "connector_tasks",
  CONNECT_NUM_RECORDS: "connector_tasks",
  SUPPORT: "org_wide",
  CLUSTER_LINKING_PER_LINK: "cluster_extra",
  CLUSTER_LINKING_WRITE: "cluster_extra",
  CLUSTER_LINKING_READ: "cluster_extra",
  AUDIT_LOG_READ: "org_wide",
  GOVERNANCE_BASE: "schema_registry",
  SCHEMA_REGISTRY: "schema_registry",
  PROMO_CREDIT: "org_wide",
  CUSTOM_CONNECT_NUM_TASKS: "connector_tasks",
  CUSTOM_CONNECT_THROUGHPUT: "connector_tasks",
  NUM_RULES: "schema_registry",
  FLINK_NUM_CFUS: "flink",
  TABLEFLOW_DATA_PROCESSED: "cluster_extra",
  TABLEFLOW_NUM_TOPICS: "cluster_extra",
  TABLEFLOW_STORAGE: "cluster_extra",
  USM_CONNECTED_NODE: "org_wide",
} as const satisfies Record<string, ProductFamily>;

/** Spellings that the vendor does not list but uses: older or singular forms. */
const aliases = {
  KAFKA_NUM_CKU: "kafka_cku",
  KSQL_NUM_CSU: "ksqldb",
  FLINK_NUM_CFU: "flink",
  CUSTOM_CONNECT_PLUGIN: "connector_capacity",
} as const satisfies Record<string, ProductFamily>;

/**
 * A credit for a resource is allocated like the charges of that resource. The vendor's line type does not name the
 * product, and rules match only the product type, so such a credit gets a product type of its own. Credits without a
 * resource, and for products of the whole organisation, stay `PROMO_CREDIT`.
 */
const credits = {
  PROMO_CREDIT_KAFKA: "kafka_base",
  PROMO_CREDIT_CONNECT: "connector_tasks",
  PROMO_CREDIT_CUSTOM_CONNECT: "connector_tasks",
  PROMO_CREDIT_KSQL: "ksqldb",
  PROMO_CREDIT_STREAM_GOVERNANCE: "schema_registry",
  PROMO_CREDIT_FLINK: "flink",
  PROMO_CREDIT_CLUSTER_LINK: "cluster_extra",
  PROMO_CREDIT_TABLEFLOW: "cluster_extra",
} as const satisfies Record<string, ProductFamily>;

/** Product type of a row of the bill that cannot be read. It is charged to UNALLOCATED. */
export const MALFORMED_LINE_TYPE = "MALFORMED";
/** Product type of a row that has no line type. */
const UNNAMED = "UNNAMED";

export const vendorLineTypes: readonly string[] = Object.keys(vendorTypes);

export const productTypes: Readonly<Record<string, ProductFamily>> = {
  ...vendorTypes,
  ...aliases,
  ...credits,
  [MALFORMED_LINE_TYPE]: "malformed",
};

/** Undefined for an unknown product type. */
export function familyOf(productType: string): ProductFamily | undefined {
  return Object.hasOwn(productTypes, productType) ? productTypes[productType] : undefined;
}

/** Returns the product type of a billed row: its line type, except for a credit of a resource. */
export function productTypeOf(lineType: string, product: string, hasResource: boolean): string {
  if (lineType === "") return UNNAMED;
  if (lineType !== "PROMO_CREDIT" || !hasResource) return lineType;
  const ofProduct = `PROMO_CREDIT_${product}`;
  return Object.hasOwn(credits, ofProduct) ? ofProduct : lineType;
}
