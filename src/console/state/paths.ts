/** Paths of the console. The service serves the console only under these (`http/plugins/console.ts`). */
/** The views of a tenant, grouped by who needs them: those who pay, and those who run the service. */
export const viewGroups = [
  ["overview", "explorer", "topics", "statement", "worklist"],
  ["deliveries", "rules", "inventory", "runs", "tags"],
] as const;
const tenantViews = viewGroups.flat();
export type TenantView = (typeof tenantViews)[number];

export function viewPath(tenant: string, view: TenantView): string {
  return `/tenants/${encodeURIComponent(tenant)}/${view}`;
}

/** Undefined if the path is not one of the console's. */
export function viewOf(path: string): { readonly tenant?: string; readonly view?: TenantView } | undefined {
  if (path === "/") return {};
  const [, tenant = "", view = ""] = /^\/tenants\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const known = tenantViews.find((each) => each === view);
  return known && { tenant: decodeURIComponent(tenant), view: known };
}
