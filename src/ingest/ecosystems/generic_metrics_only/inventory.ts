/**
 * The one resource of a `generic_metrics_only` tenant, and its identities: those that are discovered now, and those
 * named in the configuration.
 */
import { UpstreamError } from "../../../upstream/http/upstream-error.js";
import type { IdentityRecord, InventorySink } from "../../ecosystem.js";
import {
  labelValues,
  namedIdentities,
  PRINCIPAL,
  PRINCIPAL_GRACE_SECONDS,
  principalRecord,
} from "../../metered/identities.js";
import { discovers, type MeteredIdentitySource } from "../../metered/identity-source.js";
import type { PrometheusSource } from "../../prometheus/source.js";
import type { InventoryReport } from "../../reports.js";
import type { GenericMetricsOnlySettings } from "./settings.js";

export async function gatherGenericInventory(
  settings: GenericMetricsOnlySettings,
  { source, stepSeconds }: { readonly source: PrometheusSource | undefined; readonly stepSeconds: number },
  sink: InventorySink,
  signal: AbortSignal,
): Promise<InventoryReport> {
  await sink.resources([
    {
      resource_id: settings.cluster_id,
      resource_type: "cluster",
      display_name: settings.display_name ?? null,
      parent_id: null,
      owner_id: null,
      created_at: null,
      metadata: {},
    },
  ]);
  const identitySource = settings.identity_source;
  const named = namedIdentities(identitySource);
  await sink.identities(named);
  const completeTypes = new Set(named.map((identity) => identity.identity_type));
  const errors: string[] = [];
  if (discovers(identitySource) && source !== undefined) {
    try {
      const known = new Set(named.map((identity) => identity.identity_id));
      const discovered = await discover(source, identitySource, stepSeconds, signal);
      await sink.identities(discovered.filter((identity) => !known.has(identity.identity_id)));
      completeTypes.add(PRINCIPAL);
    } catch (error) {
      if (!(error instanceof UpstreamError) || signal.aborted) throw error;
      completeTypes.delete(PRINCIPAL);
      errors.push(`discovery of identities failed: ${error.message}`);
    }
  }
  return {
    completeResourceTypes: ["cluster"],
    completeIdentityTypes: [...completeTypes],
    absenceGraceSeconds: { [PRINCIPAL]: PRINCIPAL_GRACE_SECONDS },
    errors,
    // Days can be calculated without the inventory: their identities come from metrics and from the configuration.
    requiredForDays: false,
  };
}

async function discover(
  source: PrometheusSource,
  identitySource: MeteredIdentitySource,
  stepSeconds: number,
  signal: AbortSignal,
): Promise<IdentityRecord[]> {
  const { label, discovery_query: query } = identitySource;
  if (query === undefined) throw new Error("bug: the identity source was not validated");
  const series = await source.labelsNow(query, stepSeconds, signal);
  return labelValues(series, label).map((id) => principalRecord(identitySource, id));
}
