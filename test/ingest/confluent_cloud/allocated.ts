/**
 * Lines of a Confluent Cloud bill, allocated by the real engine from metrics and an inventory as they would be
 * gathered.
 */
import type { Test } from "tap";
import { calculateDays } from "../../../src/allocate/calculate.js";
import { chargebackLedger } from "../../../src/allocate/ledger.js";
import { buildRuleSet, storeRuleSet } from "../../../src/allocate/rules.js";
import { stagedTable } from "../../../src/clickhouse/staging.js";
import type { BillingLine, Gatherer } from "../../../src/ingest/ecosystem.js";
import { collectBilled } from "../../../src/ingest/ecosystems/confluent_cloud/billed.js";
import { familyOf } from "../../../src/ingest/ecosystems/confluent_cloud/costs/product-types.js";
import { writeIdentitySets } from "../../../src/ingest/ecosystems/confluent_cloud/identity-sets.js";
import {
  confluentDerivingMetrics,
  confluentRules,
} from "../../../src/ingest/ecosystems/confluent_cloud/rules.js";
import { gatherConfluentUsage } from "../../../src/ingest/ecosystems/confluent_cloud/usage.js";
import type { KnownInventory } from "../../../src/ingest/known.js";
import type { PrometheusSource } from "../../../src/ingest/prometheus/source.js";
import { EPOCH } from "../gathering-stores.js";
import { forever } from "../generic_metrics_only/tenant.js";
import { DAYS, line, openStaging } from "../staging-script.js";

/** Day, product type, resource, cost. */
export type AllocatedCharge = readonly [day: string, product: string, resource: string, cost: string];

export interface Allocation {
  readonly charges: readonly AllocatedCharge[];
  readonly known: KnownInventory;
  readonly prometheus: PrometheusSource | undefined;
  readonly usageRatio?: string;
}

export const day = (index: 1 | 2 | 3): string => DAYS[index - 1] ?? "";

/** Returns the rows of a line, `identity amount cost_type method detail`, by component and identity. */
export async function openAllocation(t: Test) {
  const { store, stage } = await openStaging(t);
  const { client } = store;
  return async (allocation: Allocation) => {
    const ratio = allocation.usageRatio ?? "0.7";
    const params = { kafka_cku_usage_ratio: ratio, kafka_cku_shared_ratio: "0.3" };
    const rules = buildRuleSet(confluentRules({ allocator_params: params }));
    await storeRuleSet(client, rules);
    const result = await stage(
      {},
      {
        gatherer: gathererOf(allocation),
        derivingMetrics: confluentDerivingMetrics(),
        unknownOwnersAreActive: true,
        rulesHash: rules.hash,
        force: true,
      },
    );
    const checks = await calculateDays(
      {
        ledger: chargebackLedger,
        client,
        epoch: EPOCH,
        rules,
        decimalPlaces: 4,
        signal: forever,
        maxMemoryBytes: 2 ** 30,
      },
      result.staged,
    );
    const rows = await client.query({
      query: `
        SELECT toString(day) AS day, product_type, resource_id, identity_id, toString(amount) AS amount, cost_type, allocation_method, allocation_detail
        FROM ${stagedTable("chargebacks", EPOCH)} ORDER BY component, CAST(identity_id AS String)`,
      format: "JSONEachRow",
    });
    const all = await rows.json<Record<string, string>>();
    return {
      checks,
      of: (on: string, product: string, resource: string) =>
        all
          .filter((row) => row.day === on && row.product_type === product && row.resource_id === resource)
          .map(
            (r) =>
              `${r.identity_id} ${r.amount} ${r.cost_type} ${r.allocation_method} ${r.allocation_detail}`,
          ),
    };
  };
}

function gathererOf({ charges, known, prometheus }: Allocation): Gatherer {
  return {
    daysPerWindow: 31,
    gatherInventory: async () => ({ completeResourceTypes: [], completeIdentityTypes: [], errors: [] }),
    async gatherWindow(window, sink, signal) {
      const collector = collectBilled();
      const lines = charges.map(([on, product_type, resource_id, total_cost]): BillingLine => {
        const family = familyOf(product_type);
        if (family !== undefined) collector.add(on, family, resource_id);
        return line(on, { product_type, resource_id, total_cost });
      });
      await sink.billing(lines);
      const { billed } = collector;
      const settings = { metrics_step_seconds: 3600 };
      const connection = { prometheus };
      await gatherConfluentUsage(
        { settings, connection, billed, window, known, parallelQueries: 4 },
        sink,
        signal,
      );
      await writeIdentitySets({ billed, window, known }, sink, signal);
      return { completeDays: DAYS, dropped: {}, errors: [] };
    },
    close: async () => undefined,
  };
}
