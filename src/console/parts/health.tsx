/** The health of a tenant, in words. */
import { api, bodyOf, type Schemas } from "../api/client.js";
import { type Data, useData } from "../state/use-data.js";
import { en } from "../text/en.js";

const text = en.health;
export type TenantReadiness = Schemas["TenantReadiness"];

export function useReadiness(): Data<readonly TenantReadiness[]> {
  return useData("readiness", async (signal) => {
    const { tenants } = await bodyOf(api.GET("/api/v1/readiness", { signal }));
    return tenants;
  });
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
  if (!tenant.tables_ready) return ["bad", text.noStore];
  if (tenant.pipeline_running) return ["good", text.running(tenant.pipeline_stage)];
  if (lost > 0) return ["warn", text.lost(lost)];
  if (last === null) return ["warn", en.overview.neverRan];
  if (last === "failed") return ["bad", text.failed];
  if (last === "completed_with_errors") return ["warn", text.hadErrors];
  return tenant.has_data ? ["good", text.good] : ["warn", text.noData];
}
