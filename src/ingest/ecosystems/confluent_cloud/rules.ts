/**
 * How each product of the vendor's bill is allocated, as data. The same table for people is in
 * docs/reference/ecosystems/confluent-cloud.md.
 */
import type {
  AllocationDetail,
  AllocationRule,
  RuleComponent,
  RuleTier,
} from "../../../config/allocation-rule.js";
import { type ProductFamily, productTypes } from "./costs/product-types.js";
import type { ConfluentCloudSettings } from "./settings.js";

/** Bytes that clients sent to a Kafka cluster, and that they got from it. */
export const BYTES_IN = "bytes_in";
export const BYTES_OUT = "bytes_out";
/** CFU-minutes of a statement's owner in a compute pool, by either of the vendor's two metrics. */
export const FLINK_CFU = "flink_cfu";
export const FLINK_CFU_MINUTES = "flink_cfu_minutes";
/** Stands in for measured usage: how many statements of an owner ran. */
export const FLINK_STATEMENTS = "flink_statements";
/** Usage of compute pools: each metric stands in where there is nothing of those before it. */
export const flinkUsage = [FLINK_CFU, FLINK_CFU_MINUTES, FLINK_STATEMENTS] as const;

type AllocationSettings = Pick<ConfluentCloudSettings, "allocator_params">;

const nobody: RuleTier = { kind: "terminal", detail: "no_identities_located" };

function measured(...metrics: readonly string[]): RuleTier {
  return { kind: "usage", metrics, detail: "usage_ratio_allocation" };
}

/** Everybody who holds a key of the resource, or shows in its metrics. */
function active(detail: AllocationDetail): RuleTier {
  return { kind: "even", scopes: ["resource_active", "metrics_derived"], of: "resource", detail };
}

/** Everybody in the organisation. */
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

/** A part by measured bytes, the rest evenly. A part of nothing is left out, since nobody ever shares it. */
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

/** The shared ratio is what the usage ratio leaves: the two may be configured to miss 1 by a ten-thousandth, a line may not. */
function restOf(ratio: string): string {
  const rest = 1_000_000 - millionths(ratio);
  return rest === 1_000_000 ? "1" : `0.${String(rest).padStart(6, "0")}`.replace(/\.?0+$/, "");
}

function millionths(ratio: string): number {
  const [int = "0", fraction = ""] = ratio.split(".");
  return Number(int) * 1_000_000 + Number(fraction.padEnd(6, "0"));
}

export function allocationRules(settings: AllocationSettings): AllocationRule[] {
  const known = Object.entries(productTypes).map(([product_type, family]) => ({
    product_type,
    components: families[family](settings),
  }));
  return [...known, { product_type: "*", components: terminal("no_allocator_for_product_type") }];
}

/** Their identities were active on the cluster, also with usage 0. They are owners: keys are translated when gathered. */
export function derivingMetrics(): string[] {
  return [BYTES_IN, BYTES_OUT];
}
