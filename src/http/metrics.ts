/** What Prometheus may know of the service. Labels have few values: route patterns, statuses, configured tenants. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { RunListener } from "../runner/run-events.js";
import type { ControlSum } from "../runner/sql/published.js";
import { midnightSeconds } from "../time/days.js";

export interface ServiceMetrics {
  readonly registry: Registry;
  readonly requests: Histogram<"method" | "route" | "status">;
  readonly heavyReads: Gauge<"state">;
  /** To be told of runs. */
  readonly runs: PipelineMetrics;
}

export type PipelineMetrics = Required<Pick<RunListener, "finished" | "skipped" | "suspended">> & {
  /** The tenant is not suspended, or no longer: at a start, for every tenant, so that each has its series. */
  resumed(tenantName: string): void;
};

export function createServiceMetrics(): ServiceMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "chargehouse_" });
  // Gauges that are named as counters; the same is there by type, under names without `_total`.
  for (const what of ["handles", "requests", "resources"])
    registry.removeSingleMetric(`chargehouse_nodejs_active_${what}_total`);
  const requests = new Histogram({
    name: "chargehouse_http_request_duration_seconds",
    help: "Time from a request's arrival to the end of its response.",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 120, 600],
    registers: [registry],
  });
  const heavyReads = new Gauge({
    name: "chargehouse_heavy_reads",
    help: "Heavy reads (aggregations, exports and the like) that are running, and that wait for a place.",
    labelNames: ["state"] as const,
    registers: [registry],
  });
  return { registry, requests, heavyReads, runs: pipelineMetrics(registry) };
}

function pipelineMetrics(registry: Registry): PipelineMetrics {
  const registers = [registry];
  const ofTenant = { labelNames: ["tenant"] as const, registers };
  const runs = new Counter({
    name: "chargehouse_runs_total",
    help: "Finished pipeline runs, by outcome.",
    labelNames: ["tenant", "status"] as const,
    registers,
  });
  const rows = new Counter({
    name: "chargehouse_chargeback_rows_written_total",
    help: "Chargeback rows published.",
    ...ofTenant,
  });
  const failed = new Counter({
    name: "chargehouse_dates_failed_total",
    help: "Days whose calculation failed.",
    ...ofTenant,
  });
  const broken = new Counter({
    name: "chargehouse_conservation_failures_total",
    help: "Days not published because chargebacks and billing did not add up to the same. Alert on any.",
    ...ofTenant,
  });
  const skipped = new Counter({
    name: "chargehouse_runs_skipped_total",
    help: "Scheduled runs skipped because the tenant's previous one was still going.",
    ...ofTenant,
  });
  const suspended = new Gauge({
    name: "chargehouse_tenant_suspended",
    help: "1 while the tenant is suspended; a restart lifts suspensions.",
    ...ofTenant,
  });
  const success = new Gauge({
    name: "chargehouse_last_success_timestamp_seconds",
    help: "When a run of the tenant last ended in which a day came out well, whatever failed beside it.",
    ...ofTenant,
  });
  const newest = new Gauge({
    name: "chargehouse_newest_published_day_timestamp_seconds",
    help: "Start of the newest UTC day of the tenant with published chargebacks, as of its last run.",
    ...ofTenant,
  });
  const lost = new Gauge({
    name: "chargehouse_lost_dates",
    help: "Days that were published, that the tenant's store has lost, and that have not been recalculated yet. Alert on any.",
    ...ofTenant,
  });
  const provisional = new Gauge({
    name: "chargehouse_provisional_dates",
    help: "Days whose published chargebacks lack something that may still come, after the tenant's last run.",
    ...ofTenant,
  });
  const delivered = deliveredRows(registers);
  const duration = new Gauge({
    name: "chargehouse_last_run_duration_seconds",
    help: "How long the tenant's last run took.",
    ...ofTenant,
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

/** Control totals: the class `delivered` equals the sum of all other classes but `published_only`. */
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
    /** Series of classes that have no rows any more go. */
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
