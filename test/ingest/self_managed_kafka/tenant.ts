/**
 * Settings of a `self_managed_kafka` tenant as the configuration returns them, for tests without a configuration file.
 */
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Logger } from "pino";
import type { IdentityMaps } from "../../../src/config/allocation/identity-map.js";
import { commonPluginProperties, type PluginSettings } from "../../../src/config/settings/plugin-settings.js";
import type { Gatherer } from "../../../src/ingest/ecosystem.js";
import { selfManagedKafka } from "../../../src/ingest/ecosystems/self_managed_kafka/index.js";
import { selfManagedKafkaSettings } from "../../../src/ingest/ecosystems/self_managed_kafka/settings.js";
import { silent } from "../generic_metrics_only/tenant.js";

const schema = Type.Object({ ...commonPluginProperties, ...selfManagedKafkaSettings.settings.properties });

/** Three brokers, and rates at which 50 GiB stored, 20 GiB in and 40 GiB out cost 8.32 a day. */
export const kafkaBasics = {
  cluster_id: "orders",
  broker_count: 3,
  cost_model: {
    compute_hourly_rate: "0.1",
    storage_per_gib_hourly: "0.0001",
    network_ingress_per_gib: "0.01",
    network_egress_per_gib: "0.02",
  },
};

/** Fills in the defaults, and fails if the configuration would not allow the result. */
export function kafkaSettings(written: Readonly<Record<string, unknown>>): PluginSettings {
  const filled: unknown = Value.Default(schema, structuredClone({ ...kafkaBasics, ...written }));
  const [problem] = [...Value.Errors(schema, filled)];
  if (problem !== undefined)
    throw new Error(`the settings of the test are wrong: ${problem.path} ${problem.message}`);
  return filled as PluginSettings;
}

export function connectKafka(
  written: Readonly<Record<string, unknown>>,
  logger: Logger = silent,
  maps: IdentityMaps = new Map(),
): Gatherer {
  return selfManagedKafka.connect(kafkaSettings(written), {
    tenantName: "acme",
    tenantId: "acme-id",
    logger,
    maps,
    known: async () => ({ resources: [], identities: [] }),
  });
}
