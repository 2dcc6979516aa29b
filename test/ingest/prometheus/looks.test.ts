/** Remarks of `check-config --connect` on queries that succeed but may be mistakes. */
import t, { type Test } from "tap";
import { connectGeneric, daysAgo, forever } from "../generic_metrics_only/tenant.js";
import { type ScriptedSeries, startScriptedPrometheus } from "./scripted-prometheus.js";

const window = { start: daysAgo(4), end: daysAgo(2) };

async function remarks(
  test: Test,
  series: readonly Readonly<Record<string, string>>[],
  { usage = "sum by (user) (increase(sent[$step]))", cost = "sum(increase(sent[$step]))" } = {},
) {
  const response = series.map((labels): ScriptedSeries => ({ labels, at: () => 1 }));
  const prometheus = await startScriptedPrometheus(test, () => response);
  const gatherer = connectGeneric({
    metrics: { type: "prometheus", url: prometheus.url, auth_type: "none" },
    cluster_id: "c",
    identity_source: { source: "prometheus", label: "user", discovery_query: "group by (user) (up[30d])" },
    cost_types: [
      {
        name: "N",
        product_category: "n",
        rate: "1",
        cost_quantity: { type: "network_gib", query: cost },
        allocation_strategy: "usage_ratio",
        allocation_label: "user",
        allocation_query: usage,
      },
    ],
  });
  test.teardown(() => gatherer.close());
  const probes = (await gatherer.probe?.(window, { resources: [], identities: [] } as never, forever)) ?? [];
  return Object.fromEntries(probes.map(({ name, remark }) => [name, remark]));
}

const named = [{ user: "a" }, { user: "b" }];
const ranges = (shown: string) =>
  `it looks back over ${shown} at each step of 3600 s, so that time is left out or counted twice: use [$step]`;

t.test("a range that differs from the step is reported if samples are added up", async (t) => {
  t.strictSame(await remarks(t, named), {
    "cost N": undefined,
    "usage discovery": undefined,
    "usage alloc_N": undefined,
  });
  const other = { usage: "increase(sent[5m]) + rate(got[1h30m])", cost: "sum(increase(sent[60m]))" };
  const found = await remarks(t, named, other);
  t.equal(found["usage alloc_N"], ranges("[5m], [1h30m]"));
  t.equal(found["cost N"], undefined, "the same length in another notation is not reported");
  const quoted = await remarks(t, named, { usage: 'increase(sent{note="[5m]"}[60m])' });
  t.equal(quoted["usage alloc_N"], undefined, "brackets in a label's value are no range");
  const subquery = await remarks(t, named, { usage: "sum_over_time((rate(sent[5m]))[$step:5m])" });
  t.equal(subquery["usage alloc_N"], undefined, "a subquery has times of its own");
  const millisecond = await remarks(t, named, { usage: "increase(sent[3599999ms])" });
  t.equal(millisecond["usage alloc_N"], undefined);
});

t.test("series without the label are reported", async (t) => {
  const unnamed = await remarks(t, [{ user: "a" }, { host: "h" }, { user: "" }]);
  t.equal(unnamed["usage alloc_N"], "2 of 3 series have no label user: their usage goes to UNALLOCATED");
});
