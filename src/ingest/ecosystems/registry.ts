/** All ecosystems, by the name in `tenants.T.ecosystem`. A new one is one folder and one line here. */
import type { AnyEcosystem } from "../ecosystem.js";
import { confluentCloud } from "./confluent_cloud/index.js";
import { focus } from "./focus/index.js";
import { genericMetricsOnly } from "./generic_metrics_only/index.js";
import { selfManagedKafka } from "./self_managed_kafka/index.js";

const all: readonly AnyEcosystem[] = [confluentCloud, focus, genericMetricsOnly, selfManagedKafka];

export const ecosystems: ReadonlyMap<string, AnyEcosystem> = new Map(
  all.map((ecosystem) => [ecosystem.name, ecosystem]),
);
