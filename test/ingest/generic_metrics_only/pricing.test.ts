/** The ecosystem `generic_metrics_only` without an upstream: prices to the last digit, and rules. */
import t from "tap";
import { type Exact, parseExact } from "../../../src/common/exact-decimal.js";
import { genericMetricsOnly } from "../../../src/ingest/ecosystems/generic_metrics_only/index.js";
import { ecosystems } from "../../../src/ingest/ecosystems/registry.js";
import { dayRanges } from "../../../src/ingest/metered/day-ranges.js";
import { type MeteredProduct, priceDay } from "../../../src/ingest/metered/price-day.js";
import { holds } from "../../holds.js";
import fc from "../../property.js";
import { pluginSettings } from "./tenant.js";

const even = { name: "X", product_category: "c", allocation_strategy: "even_split" } as const;
const fixed = { ...even, rate: "0.10", cost_quantity: { type: "fixed", count: 3 } } as const;
const staticSource = {
  source: "static",
  static_identities: [{ identity_id: "a", identity_type: "team", team: "red" }, { identity_id: "b" }],
};

const sums = (...texts: string[]): Map<number, Exact> =>
  new Map(texts.map((text, index) => [index, parseExact(text) ?? { units: 0n, scale: 0 }]));

t.test("a day is priced by its quantity and rate", async (t) => {
  const gib = String(2 ** 30);
  const named = { name: "X", category: "c" };
  const threeForTenCents: MeteredProduct = { ...named, rate: "0.10", quantity: { type: "fixed", count: 3 } };
  const storage = (rate: string): MeteredProduct => ({
    ...named,
    rate,
    quantity: { type: "storage_gib", query: "q" },
  });
  const network = (rate: string): MeteredProduct => ({
    ...named,
    rate,
    quantity: { type: "network_gib", query: "q" },
  });
  const cases: [string, MeteredProduct, Map<number, Exact>, [quantity: string, cost: string]][] = [
    ["a fixed count is for 24 hours", threeForTenCents, sums(), ["72", "7.2"]],
    ["storage is the mean", storage("0.0001"), sums(String(50 * 2 ** 30)), ["1200", "0.12"]],
    ["of the points there are", storage("1"), sums(gib, String(3 * 2 ** 30)), ["48", "48"]],
    ["network is the sum", network("0.01"), sums(...Array(20).fill(gib)), ["20", "0.2"]],
    ["zero bytes cost nothing", network("5"), sums("0"), ["0", "0"]],
    ["a free rate costs nothing", storage("0"), sums(gib), ["24", "0"]],
    // 1 byte is 1/2^30 GiB = 0.000000000931322574615…; times 3 it is 0.0000000027939677…
    ["the cost is rounded once, at the end", network("3"), sums("1"), ["0.000000000931", "0.000000002794"]],
    ["exponents are exact", network("1"), sums("1.073741824e+9"), ["1", "1"]],
    // (1 + 2) / 2 bytes x 24 h / 2^30 x 10^6: 0.033527612686157…
    ["means are not rounded", storage("1000000"), sums("1", "2"), ["0.000000033528", "0.033527612686"]],
    // Half a unit of the 12th place, away from zero: 2^-30 x 2^29 x 0.000000000001.
    ["halves go away from zero", network("0.000000000001"), sums(String(2 ** 29)), ["0.5", "0.000000000001"]],
  ];
  for (const [name, product, day, [quantity, total_cost]] of cases) {
    const line = priceDay({
      resourceId: "c1",
      currency: "EUR",
      day: "2026-01-01",
      product,
      sums: day,
      expectedSamples: 24,
      onlyMeasured: false,
    });
    holds(
      t,
      line,
      { quantity, total_cost, currency: "EUR", unit_price: product.rate, timestamp: "2026-01-01T00:00:00Z" },
      name,
    );
  }
  const nothing = {
    resourceId: "c1",
    currency: "EUR",
    day: "2026-01-01",
    product: storage("1"),
    sums: sums(),
    expectedSamples: 24,
    onlyMeasured: false,
  };
  t.equal(priceDay(nothing), undefined, "without samples there is no price");
  t.equal(
    priceDay({ ...nothing, onlyMeasured: true }),
    undefined,
    "without samples there is no price on the first day either",
  );
});

t.test("storage of a first day costs the sum of its measured hours, whatever the step is", async (t) => {
  const quantity = { type: "storage_gib", query: "q" } as const;
  const product: MeteredProduct = { name: "X", category: "c", rate: "1", quantity };
  const seen = { whole: 0, partly: 0, shorter: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(24, 48, 288),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      fc.array(fc.nat(1000), { minLength: 288, maxLength: 288 }),
      (expectedSamples, share, gibs) => {
        const measured = gibs.slice(0, Math.max(1, Math.floor(share * expectedSamples)));
        const sumsOfDay = sums(...measured.map((gib) => String(gib * 2 ** 30)));
        const day = { resourceId: "c", currency: "EUR", day: "2026-01-01", product, expectedSamples };
        const first = priceDay({ ...day, sums: sumsOfDay, onlyMeasured: true });
        // In twelfths of an hour, which all three steps are whole numbers of.
        const total = measured.reduce((sum, gib) => sum + gib * (288 / expectedSamples), 0);
        t.equal(Number(first?.total_cost).toFixed(9), (total / 12).toFixed(9));
        const isWhole = measured.length === expectedSamples;
        if (isWhole) {
          t.strictSame(first, priceDay({ ...day, sums: sumsOfDay, onlyMeasured: false }));
        }
        seen[isWhole ? "whole" : "partly"] += 1;
        if (expectedSamples > 24) seen.shorter += 1;
      },
    ),
    { examples: [[24, 1, Array(288).fill(3)]] },
  );
  for (const [kind, count] of Object.entries(seen)) t.ok(count > 0, kind);
});

t.test("each strategy has a chain of tiers, and the last tier always applies", async (t) => {
  const ratio = {
    ...even,
    name: "Y",
    rate: "1",
    cost_quantity: { type: "network_gib", query: "q" },
    allocation_strategy: "usage_ratio",
    allocation_query: "q",
    allocation_label: "principal",
  };
  const settings = pluginSettings({
    cluster_id: "c1",
    metrics: { url: "http://127.0.0.1:9" },
    identity_source: { source: "both", discovery_query: "q", static_identities: [{ identity_id: "a" }] },
    cost_types: [fixed, ratio, { ...ratio, name: "Z", allocation_label: "other" }],
  });
  const scopes = ["resource_active", "metrics_derived"];
  const nobody = { kind: "terminal", detail: "no_identities_located" };
  const rules = genericMetricsOnly.rules(settings);
  t.same(rules[0], {
    product_type: "X",
    components: [
      {
        ratio: "1",
        tiers: [{ kind: "even", scopes, of: "resource", detail: "even_split_allocation" }, nobody],
      },
    ],
  });
  t.same(rules[1]?.components[0]?.tiers, [
    { kind: "usage", metrics: ["alloc_Y"], detail: "usage_ratio_allocation" },
    { kind: "even", scopes, of: "resource", detail: "no_metrics_located" },
    nobody,
  ]);
  t.same(
    genericMetricsOnly.derivingMetrics(settings),
    ["discovery", "alloc_Y"],
    "the allocation of the other label is not included",
  );
  const named = pluginSettings({ cluster_id: "c1", cost_types: [fixed], identity_source: staticSource });
  t.same(genericMetricsOnly.derivingMetrics(named), []);
  t.equal(ecosystems.get("generic_metrics_only"), genericMetricsOnly);
});

t.test("consecutive days with one reason make one sentence", async (t) => {
  const missing = ["01", "02", "03", "05"].map((day) => ({ day: `2026-02-${day}`, reason: "x" }));
  t.same(dayRanges([...missing, { day: "2026-02-05", reason: "y" }]), [
    "2026-02-01 to 2026-02-03: x",
    "2026-02-05: x",
    "2026-02-05: y",
  ]);
});
