/** Connects to a tenant's upstream with the settings of each period of its configuration. */
import type { Logger } from "pino";
import { digestOf } from "../common/digest.js";
import { mapHashes } from "../config/allocation/identity-map.js";
import type { AnyEcosystem, Gatherer, GatherStore } from "../ingest/ecosystem.js";
import type { KnownInventoryReader } from "../ingest/inventory/known-inventory.js";
import { settingsDigest } from "../ingest/settings-digest.js";
import type { PeriodRules } from "./tenant-rules.js";

export interface PeriodUpstream {
  readonly gatherer: Gatherer;
  /** Digest of the settings that decide what is gathered. */
  readonly settingsDigest: string;
}

export interface PeriodUpstreams {
  on(period: PeriodRules): PeriodUpstream;
  close(): Promise<void>;
}

interface ConnectionInput {
  readonly known: KnownInventoryReader;
  readonly logger: Logger;
  readonly store: GatherStore;
}

/** Periods with equal settings and maps share a connection. */
export function connectPeriods(
  ecosystem: AnyEcosystem,
  { known, logger, store }: ConnectionInput,
): PeriodUpstreams {
  const gatherers = new Map<string, Gatherer>();
  const upstreams = new Map<PeriodRules, PeriodUpstream>();
  const connect = ({ tenant }: PeriodRules): Gatherer =>
    ecosystem.connect(tenant.plugin_settings, {
      tenantName: tenant.tenant_name,
      tenantId: tenant.tenant_id,
      logger,
      parallelQueries: tenant.metrics_prefetch_workers,
      known: known.read,
      maps: tenant.identity_maps,
      store,
    });
  const upstreamOf = (period: PeriodRules): PeriodUpstream => {
    const { plugin_settings: settings, identity_maps: maps } = period.tenant;
    const key = digestOf([settings, mapHashes(maps)]);
    const gatherer = gatherers.get(key) ?? connect(period);
    gatherers.set(key, gatherer);
    return { gatherer, settingsDigest: settingsDigest(ecosystem, settings) };
  };
  return {
    on(period) {
      const upstream = upstreams.get(period) ?? upstreamOf(period);
      upstreams.set(period, upstream);
      return upstream;
    },
    async close() {
      for (const gatherer of gatherers.values()) await gatherer.close();
    },
  };
}
