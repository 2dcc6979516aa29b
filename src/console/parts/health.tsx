/** The health of a tenant, in words. */
import { useEffect } from "preact/hooks";
import type { Schemas } from "../api/client.js";
import { get } from "../api/use-api.js";
import { type Data, useLoaded } from "../state/use-data.js";
import { en } from "../text/en.js";

const text = en.health;
export type TenantReadiness = Schemas["TenantReadiness"];

/** How often in a row a store has not responded, by tenant. A busy store misses one probe and responds to reads. */
const misses = new Map<string, number>();
const MAX_MISSES = 3;
const RETRY_MS = 2_500;

/** Loads the readiness of tenants, again and again while a store does not respond. */
export function useReadiness(): Data<readonly TenantReadiness[]> {
  const data = useLoaded(loadReadiness, {});
  const { value: tenants } = data;
  useEffect(() => {
    if (tenants?.every((tenant) => tenant.tables_ready) ?? true) return;
    const timer = setTimeout(data.reload, RETRY_MS);
    return () => clearTimeout(timer);
  }, [tenants]);
  return data;
}

async function loadReadiness(_: object, signal: AbortSignal): Promise<readonly TenantReadiness[]> {
  const { tenants } = await get("/api/v1/readiness", {}, signal);
  for (const { tenant_name: name, tables_ready: responds } of tenants)
    misses.set(name, responds ? 0 : (misses.get(name) ?? 0) + 1);
  return tenants;
}

/** Shows the most urgent state of the tenant. */
export function HealthBadge({ tenant }: { readonly tenant: TenantReadiness }) {
  const [kind, words] = verdictOf(tenant);
  return <span class={`health ${kind}`}>{words}</span>;
}

function verdictOf(tenant: TenantReadiness): readonly [kind: "good" | "warn" | "bad", words: string] {
  const { permanent_failure: suspended, last_run_status: last, days_lost: lost } = tenant;
  if (suspended !== null) return ["bad", text.suspended(suspended)];
  if (tenant.store_state === "other") return ["bad", text.otherStore];
  if (!tenant.tables_ready)
    return (misses.get(tenant.tenant_name) ?? 0) < MAX_MISSES
      ? ["warn", text.waiting]
      : ["bad", text.noStore];
  if (tenant.pipeline_running) return ["good", text.running(tenant.pipeline_stage)];
  if (lost > 0) return ["warn", text.lost(lost)];
  if (last === null) return ["warn", en.overview.neverRan];
  if (last === "failed") return ["bad", text.failed];
  if (last === "completed_with_errors") return ["warn", text.hadErrors];
  return tenant.has_data ? ["good", text.good] : ["warn", text.noData];
}
