/** Runs every query of a metered tenant once. */
import pLimit from "p-limit";
import type { DayRange } from "../../common/days.js";
import { type ProbedQuery, probeQuery } from "../prometheus/probe.js";
import type { Probe } from "../reports.js";
import type { MeteredTenant } from "./metered-tenant.js";

export async function probeMetered(
  {
    source,
    products,
    usage,
    stepSeconds,
    parallelQueries,
  }: Pick<MeteredTenant, "source" | "products" | "usage" | "stepSeconds" | "parallelQueries">,
  window: DayRange,
  signal: AbortSignal,
): Promise<Probe[]> {
  if (source === undefined) return [];
  const range = { window, stepSeconds };
  const queries: ProbedQuery[] = [
    ...products.flatMap(({ name, quantity }) =>
      quantity.type === "fixed"
        ? []
        : [
            {
              ...range,
              name: `cost ${name}`,
              expression: quantity.query,
              isSum: quantity.type === "network_gib",
              addsSeries: true,
            },
          ],
    ),
    ...usage.map(({ metric, expression, label, measure }) => ({
      ...range,
      isSum: measure === "value",
      addsSeries: measure === "value",
      name: `usage ${metric}`,
      expression,
      label,
    })),
  ];
  const limit = pLimit(parallelQueries);
  return await Promise.all(queries.map((query) => limit(() => probeQuery(source, query, signal))));
}
