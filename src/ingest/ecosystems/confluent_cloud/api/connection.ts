/** Connections of one tenant during a run: the Cloud API, a Flink API for each region, and Prometheus. */
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { PluginSettings } from "../../../../config/settings/plugin-settings.js";
import { createUpstreamClient, type UpstreamClientOptions } from "../../../../upstream/http/client.js";
import type { GatherContext } from "../../../ecosystem.js";
import { connectPrometheus } from "../../../prometheus/connection.js";
import type { PrometheusSource } from "../../../prometheus/source.js";
import type { ConfluentCloudSettings, FlinkRegionSettings } from "../settings.js";
import { type ConfluentApi, createConfluentApi } from "./client.js";
import { vendorDetail } from "./read-response.js";

const tenantsOf = new Map<string, Set<string>>();

/**
 * Warns once for each pair of tenants with the same Cloud key, because each of them is billed for the whole
 * organisation. That may be intended (a trial beside the real tenant), so it is not refused.
 */
function warnOfSharedKey(
  { base_url, key }: ConfluentCloudSettings["ccloud_api"],
  { tenantName, logger }: { readonly tenantName: string; readonly logger: Logger },
): void {
  const organisation = createHash("sha256")
    .update(JSON.stringify([base_url, key]))
    .digest("hex");
  const tenants = tenantsOf.get(organisation) ?? new Set();
  tenantsOf.set(organisation, tenants);
  if (tenants.has(tenantName)) return;
  if (tenants.size > 0) {
    logger.warn(
      { tenant: tenantName, others: [...tenants] },
      `Tenant ${tenantName}: has the same Confluent Cloud key as ${[...tenants].join(", ")}; each of them is billed the whole organisation`,
    );
  }
  tenants.add(tenantName);
}

export interface ConfluentConnection {
  readonly cloud: ConfluentApi;
  /** Undefined if there is no key for the region. `cloud` is that of the compute pool, such as `aws`. */
  flink(region: string, cloud: string): ConfluentApi | undefined;
  /** Undefined if the tenant has no `metrics`. */
  readonly prometheus: PrometheusSource | undefined;
  close(): Promise<void>;
}

type ConnectionSettings = ConfluentCloudSettings & Pick<PluginSettings, "metrics">;
type Context = Pick<GatherContext, "tenantName" | "logger">;

/** Settings that tests change to be fast. */
export type Tuning = Partial<
  Pick<UpstreamClientOptions, "pace" | "retry" | "connectTimeoutMs" | "attemptTimeoutMs">
>;

/**
 * The vendor limits requests per user and per organisation, by numbers that it does not publish and that change. Its
 * other clients keep to ten a second. A run of a small organisation ends before it reaches the limit.
 */
const PACE = { concurrency: 8, minIntervalMs: 100, burst: 20 };
/** Waits of about 2, 4, 8, 16 and 32 s, or what the vendor requests. At least 1 s, because the vendor rounds down. */
const RETRY = { attempts: 6, baseDelayMs: 2000, maxDelayMs: 60_000, minRequestedWaitMs: 1000 };
/** A page of the bill is some 5 MB. */
const ATTEMPT_TIMEOUT_MS = 60_000;

export function connectConfluent(
  settings: ConnectionSettings,
  context: Context,
  tuning: Tuning = {},
): ConfluentConnection {
  const { ccloud_api: ccloud } = settings;
  warnOfSharedKey(ccloud, context);
  const api = (baseUrl: string, { key, secret }: { readonly key: string; readonly secret: string }) =>
    createConfluentApi(
      createUpstreamClient({
        baseUrl,
        auth: { kind: "basic", username: key, password: secret },
        logger: context.logger,
        pace: PACE,
        retry: RETRY,
        attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
        explain: vendorDetail,
        ...tuning,
      }),
      baseUrl,
    );
  const cloud = api(ccloud.base_url, ccloud);
  const regions = new Map<string, ConfluentApi>();
  const { metrics } = settings;
  const prometheus = metrics === undefined ? undefined : connectPrometheus(metrics, context);
  return {
    cloud,
    prometheus,
    flink(region, cloudName) {
      const regionSettings = settings.flink.find(
        ({ region_id }) => region_id === region.trim().toLowerCase(),
      );
      const baseUrl =
        regionSettings === undefined
          ? undefined
          : (regionSettings.base_url ?? vendorAddress(regionSettings, cloudName));
      if (regionSettings === undefined || baseUrl === undefined) return undefined;
      const opened = regions.get(baseUrl) ?? api(baseUrl, regionSettings);
      regions.set(baseUrl, opened);
      return opened;
    },
    async close() {
      prometheus?.close();
      await Promise.all([cloud, ...regions.values()].map((each) => each.close()));
    },
  };
}

/**
 * Returns the vendor's address of a region. The cloud comes from a response and becomes part of a host that a key is
 * sent to, so only a plain word is accepted.
 */
function vendorAddress({ region_id: region }: FlinkRegionSettings, cloud: string): string | undefined {
  const name = cloud.trim().toLowerCase();
  return /^[a-z]{1,20}$/.test(name) ? `https://flink.${region}.${name}.confluent.cloud` : undefined;
}
