/** The last measured usage of each metric: one resource and step is enough to see whether a query counts replicas. */
import type { WindowSink } from "../../../ecosystem.js";
import type { SampledQuery } from "../../../metered/replica-notes.js";
import { isMeasured, usageQuery } from "./queries.js";

export interface LastUsed {
  /** Passes everything on. */
  readonly sink: WindowSink;
  queries(stepSeconds: number): SampledQuery[];
}

export function noteLastUsed(sink: WindowSink): LastUsed {
  const last = new Map<string, { readonly resource: string; readonly step: number }>();
  return {
    sink: {
      ...sink,
      async usageSeries(batch) {
        for (const { metric, resource_id: resource, starts } of batch) {
          const step = starts.at(-1) ?? 0;
          if (step > (last.get(metric)?.step ?? 0)) last.set(metric, { resource, step });
        }
        await sink.usageSeries(batch);
      },
    },
    queries: (stepSeconds) =>
      [...last].flatMap(([metric, { resource, step }]) => {
        if (!isMeasured(metric)) return [];
        const expression = usageQuery(metric, [resource], stepSeconds);
        return [{ name: `usage ${metric}`, expression, step }];
      }),
  };
}
