/** Prometheus metrics of the service. Labels have few values: route patterns, statuses, configured tenants. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { midnightSeconds } from "../common/days.js";
import type { RunListener } from "../runner/run-events.js";
import type { ControlSum } from "../runner/sql/published.js";

export interface ServiceMetrics {
  readonly registry: Registry;
  readonly requests: Histogram<"method" | "route" | "status">;
  readonly heavyReads: Gauge<"state">;
  /** Receives the events of pipeline runs. */
  readonly runs: PipelineMetrics;
}

export type PipelineMetrics = Required<Pick<RunListener, "finished" | "skipped" | "suspended">> & {
  /**
   * Records that the tenant is not suspended. It is called for every tenant at startup, so that each has its series.
   */
  resumed(tenantName: string): void;
};

/**
 * How often the delay of the event loop is sampled. Each sample wakes the process, so the usual 10 ms took half of the
 * processor time of an idle service. The delays include this time.
 */
const LAG_MS = 100;

export function createServiceMetrics(): ServiceMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "chargehouse_", eventLoopMonitoringPrecision: LAG_MS });
  // prom-client names these gauges like counters. Other gauges, without `_total`, report the same values by type.
  for (const kind of ["handles", "requests", "resources"])
    registry.removeSingleMetric(`chargehouse_nodejs_active_${kind}_total`);
  const requests = new Histogram({
    name: "chargehouse_http_request_duration_seconds",
    help: "Time from a request's arrival to the end of its response.",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 120, 600],
    registers: [registry],
  });
  const heavyReads = new Gauge({
    name: "chargehouse_heavy_reads",
    help: "Heavy reads (aggregations, exports and the like) that are running, and that wait for a slot.",
    labelNames: ["state"] as const,
    registers: [registry],
  });
  return { registry, requests, heavyReads, runs: pipelineMetrics(registry) };
}

function pipelineMetrics(registry: Registry): PipelineMetrics {
  const registers = [registry];
  const byTenant = { labelNames: ["tenant"] as const, registers };
  const runs = new Counter({
    name: "chargehouse_runs_total",
    help: "Finished pipeline runs, by outcome.",
    labelNames: ["tenant", "status"] as const,
    registers,
  });
  const rows = new Counter({
    name: "chargehouse_chargeback_rows_written_total",
    help: "Chargeback rows published.",
    ...byTenant,
  });
  const failed = new Counter({
    name: "chargehouse_dates_failed_total",
    help: "Days whose calculation failed.",
    ...byTenant,
  });
  const broken = new Counter({
    name: "chargehouse_conservation_failures_total",
    help: "Days not published because chargebacks and billing did not add up to the same. Alert on any.",
    ...byTenant,
  });
  const skipped = new Counter({
    name: "chargehouse_runs_skipped_total",
    help: "Scheduled runs skipped because the tenant's previous one was still going.",
    ...byTenant,
  });
  const suspended = new Gauge({
    name: "chargehouse_tenant_suspended",
    help: "1 while the tenant is suspended; a restart lifts suspensions.",
    ...byTenant,
  });
  const success = new Gauge({
    name: "chargehouse_last_success_timestamp_seconds",
    help: "End of the tenant's last run in which at least one day succeeded, whatever else failed.",
    ...byTenant,
  });
  const newest = new Gauge({
    name: "chargehouse_newest_published_day_timestamp_seconds",
    help: "Start of the newest UTC day of the tenant with published chargebacks, as of its last run.",
    ...byTenant,
  });
  const lost = new Gauge({
    name: "chargehouse_lost_dates",
    help: "Days that were published, that the tenant's store has lost, and that have not been recalculated yet. Alert on any.",
    ...byTenant,
  });
  const provisional = new Gauge({
    name: "chargehouse_provisional_dates",
    help:
      "Provisional days after the tenant's last run: their published chargebacks have missing data that may still " +
      "arrive.",
    ...byTenant,
  });
  const delivered = deliveredRows(registers);
  const duration = new Gauge({
    name: "chargehouse_last_run_duration_seconds",
    help: "How long the tenant's last run took.",
    ...byTenant,
  });
  return {
    finished(tenant, outcome) {
      runs.inc({ tenant, status: outcome.status });
      rows.inc({ tenant }, outcome.rows);
      failed.inc({ tenant }, outcome.failedDays);
      broken.inc({ tenant }, outcome.conservationFailures);
      duration.set({ tenant }, outcome.seconds);
      if (outcome.status !== "failed") success.setToCurrentTime({ tenant });
      const { newestDay = null, lostDays, provisionalDays } = outcome.published ?? {};
      if (newestDay !== null) newest.set({ tenant }, midnightSeconds(newestDay));
      if (lostDays !== undefined) lost.set({ tenant }, lostDays);
      if (provisionalDays !== undefined) provisional.set({ tenant }, provisionalDays);
      if (outcome.published !== undefined) delivered.set(tenant, outcome.published.control);
    },
    skipped: (tenant) => skipped.inc({ tenant }),
    suspended: (tenant) => suspended.set({ tenant }, 1),
    resumed: (tenant) => suspended.set({ tenant }, 0),
  };
}

/** Control totals. The class `delivered` equals the sum of all other classes except `published_only`. */
function deliveredRows(registers: Registry[]) {
  const labelNames = ["tenant", "currency", "class", "reason"] as const;
  const rows = new Gauge({
    name: "chargehouse_delivered_rows",
    help: "Rows that the tenant's upstreams delivered, by what became of them, as of its last run.",
    labelNames,
    registers,
  });
  const cost = new Gauge({
    name: "chargehouse_delivered_cost",
    help: "Cost of the rows that the tenant's upstreams delivered, by what became of them, as of its last run.",
    labelNames,
    registers,
  });
  const shown = new Map<string, readonly Record<(typeof labelNames)[number], string>[]>();
  return {
    /** Sets the series of a tenant, and removes those of classes that no longer have rows. */
    set(tenant: string, totals: readonly ControlSum[]) {
      for (const labels of shown.get(tenant) ?? []) {
        rows.remove(labels);
        cost.remove(labels);
      }
      const labelled = totals.map((total) => ({
        labels: { tenant, currency: total.currency, class: total.class, reason: total.reason },
        total,
      }));
      for (const { labels, total } of labelled) {
        rows.set(labels, Number(total.rows));
        cost.set(labels, Number(total.cost));
      }
      shown.set(
        tenant,
        labelled.map(({ labels }) => labels),
      );
    },
  };
}
