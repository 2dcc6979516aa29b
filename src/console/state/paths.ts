/** Paths of the console. The service serves the console only under these (`http/plugins/console.ts`). */
/** The views of a tenant, grouped by who needs them: those who pay, and those who run the service. */
export const viewGroups = [
  ["overview", "explorer", "topics", "statement", "worklist"],
  ["deliveries", "rules", "inventory", "runs", "tags", "settings"],
] as const;
const tenantViews = viewGroups.flat();
export type TenantView = (typeof tenantViews)[number];

export function viewPath(tenant: string, view: TenantView): string {
  return `/tenants/${encodeURIComponent(tenant)}/${view}`;
}

/** Pages that concern all tenants, for administrators. */
const adminPages = ["access", "audit"] as const;
export type AdminPage = (typeof adminPages)[number];

interface Route {
  readonly tenant?: string;
  readonly view?: TenantView;
  readonly page?: AdminPage;
}

/** Undefined if the path is not one of the console's. */
export function viewOf(path: string): Route | undefined {
  if (path === "/") return {};
  const page = adminPages.find((each) => path === `/${each}`);
  if (page !== undefined) return { page };
  const [, tenant = "", view = ""] = /^\/tenants\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const known = tenantViews.find((each) => each === view);
  return known && { tenant: decodeURIComponent(tenant), view: known };
}
