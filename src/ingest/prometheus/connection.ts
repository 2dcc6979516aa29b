/** Connects to the Prometheus of one tenant for one run. */
import { type MetricsSettings, metricsAuth } from "../../config/settings/metrics.js";
import { createUpstreamClient } from "../../upstream/http/client.js";
import type { GatherContext } from "../ecosystem.js";
import { prometheusDetail } from "./response.js";
import { createPrometheusSource, type PrometheusSource } from "./source.js";

/** Concurrent requests to one Prometheus with one credential, for all tenants of the process that share them. */
const MOST_REQUESTS = 20;
/** About 5 s of retries for a query. What still fails is requested again in smaller pieces, and by the next run. */
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
