/** Loads uploaded usage for a tenant whose ecosystem accepts uploads. */
import type { Readable } from "node:stream";
import type { TenantConfig } from "../config/config.js";
import { ecosystems } from "../ingest/ecosystems/registry.js";
import { RefusedUploadError, type UploadProblem } from "../ingest/usage-uploads/columns.js";
import { UploadTooLargeError } from "../ingest/usage-uploads/load.js";
import type { StoredUpload } from "../ingest/usage-uploads/records.js";
import { KeyReusedError, takeUpload, UploadTookTooLongError } from "../ingest/usage-uploads/take-upload.js";
import type { Interruption } from "../postgres/transaction.js";
import type { Stores, TenantStore } from "../stores/stores.js";
import { gatherWindow } from "./window.js";

export interface UsageUploadInput {
  readonly tenant: TenantConfig;
  readonly postgres: Stores["postgres"];
  /** Called after the tenant is known to accept usage. */
  readonly openStore: () => Promise<TenantStore>;
  /** Idempotency key: a repeated upload has the same key. */
  readonly key: string;
  /** A CSV stream, which is read to its end or destroyed. */
  readonly body: Readable;
  /** The current UTC day. */
  readonly today: string;
  readonly stop: Interruption;
}

export type UsageUploadOutcome =
  | { readonly kind: "taken"; readonly upload: StoredUpload }
  | { readonly kind: "refused"; readonly problems: readonly UploadProblem[] }
  | { readonly kind: "too_large"; readonly maxMib: number }
  /**
   * `not_configured`: no uploaded metrics are configured. `key_reused`: the key was used with other bytes. `too_late`:
   * the upload took too long and must be sent again.
   */
  | { readonly kind: "not_configured" | "key_reused" | "too_late" };

/** Returns the limits of uploads; undefined if the tenant takes none. */
export function acceptedUsage({ ecosystem, plugin_settings }: TenantConfig) {
  const limits = ecosystems.get(ecosystem)?.usageUploads?.(plugin_settings);
  return limits?.metrics.length === 0 ? undefined : limits;
}

/** Stores usage only if the result is `taken`. Throws errors of the stream and the stores. */
export async function loadUsage({ tenant, ...sent }: UsageUploadInput): Promise<UsageUploadOutcome> {
  const limits = acceptedUsage(tenant);
  if (limits === undefined) return { kind: "not_configured" };
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
