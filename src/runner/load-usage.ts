/** Takes usage that somebody sends, for a tenant whose ecosystem has a place for it. */
import type { Readable } from "node:stream";
import type { TenantConfig } from "../config/config.js";
import { ecosystems } from "../ingest/ecosystems/registry.js";
import { RefusedUploadError, type UploadProblem } from "../ingest/usage-uploads/columns.js";
import { UploadTooLargeError } from "../ingest/usage-uploads/load.js";
import type { StoredUpload } from "../ingest/usage-uploads/records.js";
import { KeyReusedError, takeUpload, UploadTookTooLongError } from "../ingest/usage-uploads/take-upload.js";
import type { Interruption } from "../store/postgres/transaction.js";
import type { Stores, TenantStore } from "../store/stores.js";
import { gatherWindow } from "./window.js";

export interface SentUsage {
  readonly tenant: TenantConfig;
  readonly postgres: Stores["postgres"];
  /** Called once it is known that the tenant takes usage. */
  readonly openStore: () => Promise<TenantStore>;
  /** The same upload again has the same. */
  readonly key: string;
  /** CSV; read to its end, or destroyed. */
  readonly body: Readable;
  /** Today, in UTC. */
  readonly today: string;
  readonly stop: Interruption;
}

export type SentOutcome =
  | { readonly kind: "taken"; readonly upload: StoredUpload }
  | { readonly kind: "refused"; readonly problems: readonly UploadProblem[] }
  | { readonly kind: "too_large"; readonly maxMib: number }
  /** `not_configured`: no metrics are uploaded; `key_reused`: the key stands for other bytes; `too_late`: to be sent again. */
  | { readonly kind: "not_configured" | "key_reused" | "too_late" };

/** Nothing is kept but of what is `taken`. Throws what the stream and the stores throw. */
export async function takeUsage({ tenant, ...sent }: SentUsage): Promise<SentOutcome> {
  const limits = ecosystems.get(tenant.ecosystem)?.usageUploads?.(tenant.plugin_settings);
  if (limits === undefined || limits.metrics.length === 0) return { kind: "not_configured" };
  const { postgres, openStore, key, body, today, stop } = sent;
  const { client, tenantName } = await openStore();
  const { start: gatheredFrom } = gatherWindow(today, tenant.lookback_days, tenant.cutoff_days);
  const upload = { key, origin: "api" as const, body, gatheredFrom };
  try {
    const taken = await takeUpload({ client, tenantName, postgres }, upload, limits, stop);
    return { kind: "taken", upload: taken };
  } catch (error) {
    if (error instanceof RefusedUploadError) return { kind: "refused", problems: error.problems };
    if (error instanceof UploadTooLargeError)
      return { kind: "too_large", maxMib: limits.maxBytes / 1_048_576 };
    if (error instanceof KeyReusedError) return { kind: "key_reused" };
    if (error instanceof UploadTookTooLongError) return { kind: "too_late" };
    throw error;
  }
}
