/**
 * Allocation of each product of the vendor's bill, as data. docs/reference/ecosystems/confluent-cloud.md has the same
 * table for people.
 */
import type {
  AllocationDetail,
  AllocationRule,
  RuleComponent,
  RuleTier,
} from "../../../domain/allocation-rule.js";
import { type ProductFamily, productTypes } from "./costs/product-types.js";
import type { ConfluentCloudSettings } from "./settings.js";

/** Bytes that clients sent to a Kafka cluster, and bytes that they received. */
export const BYTES_IN = "bytes_in";
export const BYTES_OUT = "bytes_out";
/** CFU-minutes of a statement's owner in a compute pool, by either of the vendor's two metrics. */
export const FLINK_CFU = "flink_cfu";
export const FLINK_CFU_MINUTES = "flink_cfu_minutes";
/** Stands in for measured usage: the number of an owner's statements that ran. */
export const FLINK_STATEMENTS = "flink_statements";
/** Usage of compute pools. Each metric stands in if the ones before it have no data. */
export const flinkUsage = [FLINK_CFU, FLINK_CFU_MINUTES, FLINK_STATEMENTS] as const;

type AllocationSettings = Pick<ConfluentCloudSettings, "allocator_params">;

const nobody: RuleTier = { kind: "terminal", detail: "no_identities_located" };

function measured(...metrics: readonly string[]): RuleTier {
  return { kind: "usage", metrics, detail: "usage_ratio_allocation" };
}

/** All identities that have a key of the resource, or are in its metrics. */
function active(detail: AllocationDetail): RuleTier {
  return { kind: "even", scopes: ["resource_active", "metrics_derived"], of: "resource", detail };
}

/** All identities of the organisation. */
function everybody(detail: AllocationDetail): RuleTier {
  return { kind: "even", scopes: ["tenant_period"], of: "tenant", detail };
}

function whole(...tiers: readonly RuleTier[]): RuleComponent[] {
  return [{ ratio: "1", tiers }];
}

function terminal(detail: AllocationDetail): RuleComponent[] {
  return whole({ kind: "terminal", detail });
}

const thenEverybody = [everybody("no_active_identities_located"), nobody] as const;
const network = (metric: string) => whole(measured(metric), active("no_metrics_located"), ...thenEverybody);
const unmeasured = whole(active("shared_by_design"), ...thenEverybody);
const owned = whole(
  { kind: "owner", detail: "direct_owner_allocation" },
  { kind: "terminal", detail: "owner_unknown" },
);

const families: Readonly<Record<ProductFamily, (settings: AllocationSettings) => readonly RuleComponent[]>> =
  {
    kafka_network_read: () => network(BYTES_OUT),
    kafka_network_write: () => network(BYTES_IN),
    kafka_partition: () => unmeasured,
    kafka_base: () => unmeasured,
    kafka_cku: cku,
    schema_registry: () => unmeasured,
    connector_tasks: () => owned,
    connector_capacity: () => owned,
    ksqldb: () => owned,
    flink: () =>
      whole(
        measured(FLINK_CFU),
        measured(FLINK_CFU_MINUTES),
        { kind: "usage", metrics: [FLINK_STATEMENTS], detail: "no_usage_for_active_identities" },
        active("no_usage_for_active_identities"),
        ...thenEverybody,
      ),
    org_wide: () => whole(everybody("shared_by_design"), nobody),
    cluster_extra: () => unmeasured,
    malformed: () => terminal("allocation_failed"),
  };

/** One part by measured bytes, the rest evenly. A part of 0 is left out, because nobody would get it. */
function cku({ allocator_params: { kafka_cku_usage_ratio: ratio } }: AllocationSettings): RuleComponent[] {
  const rest = restOf(ratio);
  const parts = [
    {
      ratio,
      tiers: [measured(BYTES_IN, BYTES_OUT), active("no_usage_for_active_identities"), ...thenEverybody],
    },
    { ratio: rest, tiers: [active("even_split_allocation"), ...thenEverybody] },
  ];
  return parts.filter((part) => millionths(part.ratio) > 0);
}

/**
 * The shared ratio is the rest of the usage ratio: the configured ratios may miss 1 by a ten-thousandth, but a line
 * must not.
 */
function restOf(ratio: string): string {
  const rest = 1_000_000 - millionths(ratio);
  return rest === 1_000_000 ? "1" : `0.${String(rest).padStart(6, "0")}`.replace(/\.?0+$/, "");
}

function millionths(ratio: string): number {
  const [int = "0", fraction = ""] = ratio.split(".");
  return Number(int) * 1_000_000 + Number(fraction.padEnd(6, "0"));
}

export function confluentRules(settings: AllocationSettings): AllocationRule[] {
  const known = Object.entries(productTypes).map(([product_type, family]) => ({
    product_type,
    components: families[family](settings),
  }));
  return [...known, { product_type: "*", components: terminal("no_allocator_for_product_type") }];
}

/**
 * Identities in these metrics were active on the cluster, even with usage 0. They are owners, because keys are resolved
 * when usage is gathered.
 */
export function confluentDerivingMetrics(): string[] {
  return [BYTES_IN, BYTES_OUT];
}
