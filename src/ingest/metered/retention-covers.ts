/** Returns the days that the tenant's Prometheus still has all samples of, by metric or product. */
import type { Gatherer } from "../ecosystem.js";
import { retainedDays } from "../prometheus/retention-covers.js";
import type { MeteredTenant } from "./metered-tenant.js";

export async function retentionCovers(
  { source, products, usage }: Pick<MeteredTenant, "source" | "products" | "usage">,
  { metric, days }: Parameters<NonNullable<Gatherer["retentionCovers"]>>[0],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const quantity = products.find(({ name }) => name === metric)?.quantity;
  const ofProduct = quantity === undefined || quantity.type === "fixed" ? undefined : quantity.query;
  const expression = ofProduct ?? usage.find((each) => each.metric === metric)?.expression;
  // Nothing is read for a query that was removed from the configuration, so nothing was dropped.
  if (expression === undefined || source === undefined) return days;
  return await retainedDays(source, expression, days, signal);
}
