/** The Prometheus of one tenant during one run. */
import { type MetricsSettings, metricsAuth } from "../../config/metrics.js";
import { createUpstreamClient } from "../../upstream-http/client.js";
import type { GatherContext } from "../ecosystem.js";
import { prometheusDetail } from "./response.js";
import { createPrometheusSource, type PrometheusSource } from "./source.js";

/** Requests to one Prometheus with one credential, for all tenants of the process that share them. */
const MOST_REQUESTS = 20;
/** Some 5 s of patience with a query: what still fails then is asked again in smaller pieces, and in the next run. */
const ATTEMPTS = 4;

export function connectPrometheus(
  metrics: MetricsSettings,
  { logger }: Pick<GatherContext, "logger">,
): PrometheusSource {
  const client = createUpstreamClient({
    baseUrl: metrics.url,
    auth: metricsAuth(metrics),
    headers: metrics.headers,
    logger,
    pace: { concurrency: MOST_REQUESTS, minIntervalMs: 0 },
    retry: { attempts: ATTEMPTS },
    explain: prometheusDetail,
  });
  return createPrometheusSource(client, logger);
}
