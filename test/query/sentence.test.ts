/** The sentence that says why an identity pays an amount. */
import t from "tap";
import type { AllocationDetail, AllocationMethod, SetOf } from "../../src/domain/allocation-rule.js";
import { type Explained, sentenceOf, weightUnit } from "../../src/query/chargebacks/explain/sentence.js";
import type { TriedTier } from "../../src/query/chargebacks/explain/tiers.js";

interface Case {
  readonly method: AllocationMethod;
  readonly detail?: AllocationDetail;
  readonly amount?: string;
  readonly whole?: string;
  readonly weight?: readonly [own: string, total: string, share: string];
  readonly recipients?: number;
  readonly tier: readonly [TriedTier["kind"], SetOf, ...string[]];
  readonly skipped?: TriedTier["outcome"];
  readonly rule?: string;
  readonly more?: Partial<Explained>;
}

const tierOf = ([kind, set_of, ...names]: Case["tier"], outcome: TriedTier["outcome"], tier: number) => ({
  tier,
  kind,
  set_of,
  outcome,
  allocation_detail: "usage_ratio_allocation" as const,
  sources: names.map((name) => ({ name, identities: null, gap: null })),
});

const hop = (step: number, identity_id: string) => ({
  step,
  identity_id,
  amount: "12.5",
  tier: 0,
  allocation_method: "line_identity" as const,
  allocation_detail: "line_identity_allocation" as const,
});

function explained(given: Case): Explained {
  const {
    method,
    detail = "usage_ratio_allocation",
    amount = "8.7406",
    whole = "21.945",
    weight,
    more,
  } = given;
  const key = { timestamp: "2026-11-12T00:00:00Z", component: 0, currency: "USD", line_id: 0, path_id: 0 };
  const unweighed = { weight: null, share: null, weight_up_to: null, ticks: null, has_residue: null };
  const [own, total, share] = weight ?? [];
  const identity = {
    identity_id: "sa-1",
    identity_name: "notifier-31",
    identity_type: null,
    team: "UNASSIGNED",
  };
  const tick = { decimal_places: 4, tick: "0.0001", line_ticks: "1", residue: "0", component_ticks: "1" };
  return {
    dimension_id: 1,
    ecosystem: "e",
    tenant_id: "t",
    env_id: "",
    resource_id: "lkc-1",
    resource_name: "payments-3",
    resource_type: null,
    product_category: "KAFKA",
    product_type: "KAFKA_NUM_CKUS",
    cost_type: "usage",
    ...identity,
    date: "2026-11-12",
    rows: [],
    total_rows: 1,
    row: {
      ...key,
      amount,
      component_ratio: "0.7",
      tier: 0,
      allocation_method: method,
      allocation_detail: detail,
      provisional: false,
    },
    path: [],
    giving: 0,
    taken: null,
    line: null,
    rule: {
      rules_hash: "h",
      product_type: "KAFKA_NUM_CKUS",
      rule: given.rule ?? "",
      given_up: false,
      rounding_offset: "0",
      residue_point: "0",
      components: [{ component: 0, ratio: "0.7", ticks: "1", amount: whole, has_residue: false }],
    },
    split:
      total === undefined ? null : { ...tick, total_weight: total, rounding_offset: "0", residue_point: "0" },
    tiers: [
      ...(given.skipped === undefined ? [] : [tierOf(["owner", "resource", "owner"], given.skipped, 0)]),
      tierOf(given.tier, "used", 1),
    ],
    weights_kept: total !== undefined,
    this: {
      ...identity,
      amount,
      ...unweighed,
      ...(own !== undefined && share !== undefined && { weight: own, share }),
    },
    recipients: { items: [], total: given.recipients ?? 3, page: 1, page_size: 20, pages: 1 },
    samples: [],
    owner: { owner_ids: [], identity: null, resource: null },
    published_at: null,
    input_hash: null,
    lacks: [],
    run: null,
    ...more,
  };
}

const nobody = { identity_id: "UNALLOCATED", identity_name: null };
const all = { amount: "21.945" };
const bytes = ["10030000000", "25201005025", "0.398"] as const;

const sentences: readonly (readonly [name: string, given: Case, sentence: string])[] = [
  [
    "by usage in bytes",
    { method: "usage_ratio", weight: bytes, tier: ["usage", "resource", "bytes_in", "bytes_out"] },
    "notifier-31 pays 8.74 of the 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because it moved 39.8 % of its bytes, 10.0 of 25.2 GB.",
  ],
  [
    "by stored bytes, all of them",
    {
      ...all,
      method: "usage_ratio",
      weight: ["999", "999", "1"],
      tier: ["usage", "resource", "retained_bytes"],
    },
    "notifier-31 pays 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because it stored all of its bytes, 999 bytes.",
  ],
  [
    "by usage in another unit",
    {
      method: "usage_ratio",
      amount: "0.0005",
      weight: ["0.5", "9999999", "0"],
      tier: ["usage", "resource", "cpu_core_seconds"],
    },
    "notifier-31 pays less than 0.01 of the 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because it used < 0.1 % of its CPU core seconds, < 0.1 of 10.0 million.",
  ],
  [
    "by usage that is no longer stored",
    { method: "usage_ratio", tier: ["usage", "resource", "requests"] },
    "notifier-31 pays 8.74 of the 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because it used a part of its requests.",
  ],
  [
    "a refund by usage",
    {
      method: "usage_ratio",
      amount: "-8.7406",
      whole: "-21.945",
      weight: bytes,
      tier: ["usage", "resource", "bytes"],
    },
    "notifier-31 gets back 8.74 of the 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because it moved 39.8 % of its bytes, 10.0 of 25.2 GB.",
  ],
  [
    "the usage of an unknown owner",
    { method: "usage_ratio", weight: bytes, tier: ["usage", "resource", "bytes"], more: nobody },
    "Nobody pays 8.74 of the 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because what moved 39.8 % of its bytes, 10.0 of 25.2 GB, has no known owner.",
  ],
  [
    "to the owner",
    {
      ...all,
      method: "direct_owner",
      tier: ["owner", "resource", "owner"],
      more: { product_type: "SUPPORT", resource_id: "no_resource::SUPPORT" },
    },
    "notifier-31 pays 21.95 USD for Support on 12 Nov 2026 because it owns the resource.",
  ],
  [
    "evenly among those with access",
    { method: "even_split", recipients: 12, tier: ["even", "resource", "resource_active"] },
    "notifier-31 pays 8.74 of the 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because 12 identities with access to it share the cost evenly.",
  ],
  [
    "evenly, as no usage was measured, to the only one of a list",
    {
      ...all,
      method: "even_split",
      detail: "no_metrics_located",
      recipients: 1,
      tier: ["even", "tenant", "list:shared/0"],
    },
    "notifier-31 pays 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because it is the only identity that the rule lists, as no usage was measured.",
  ],
  [
    "evenly in the tenant, for an unknown owner",
    { method: "even_split", recipients: 4000, tier: ["even", "tenant", "tenant_period"], more: nobody },
    "Nobody pays 8.74 of the 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because one of those that share the cost (4,000 identities of the tenant share the cost evenly) has no known owner.",
  ],
  [
    "named on the line",
    { ...all, method: "line_identity", tier: ["line", "resource"], more: { product_type: "AmazonEC2" } },
    "notifier-31 pays 21.95 USD for AmazonEC2 of payments-3 on 12 Nov 2026 because the bill names it.",
  ],
  [
    "by costs of the tenant",
    { method: "cost_ratio", weight: ["3", "25", "0.12"], tier: ["cost", "currency", "allocated/3"] },
    "notifier-31 pays 8.74 of the 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because it has 12.0 % of the other costs of the tenant, 3.00 of 25.00 USD.",
  ],
  [
    "by a fixed share of a rule",
    {
      method: "fixed_ratio",
      weight: ["0.25", "1", "0.25"],
      tier: ["fixed", "tenant", "fixed:shared/0"],
      rule: "shared",
    },
    "notifier-31 pays 8.74 of the 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because the rule “shared” gives it a fixed share of 25.0 %.",
  ],
  [
    "to nobody, as the owner is unknown",
    {
      ...all,
      method: "terminal",
      detail: "owner_unknown",
      skipped: "no_owner",
      tier: ["terminal", "resource"],
      more: nobody,
    },
    "Nobody pays 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because the owner of payments-3 is unknown (the rule for KAFKA_NUM_CKUS).",
  ],
  [
    "to nobody, as there are several owners",
    {
      ...all,
      method: "terminal",
      detail: "owner_unknown",
      skipped: "several_owners",
      tier: ["terminal", "resource"],
      rule: "by owner",
      more: nobody,
    },
    "Nobody pays 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because payments-3 has several owners (the rule “by owner”).",
  ],
  [
    "by costs of the resource, passed on by two steps",
    {
      method: "cost_ratio",
      amount: "2",
      whole: "12.5",
      weight: ["4", "25", "0.16"],
      tier: ["cost", "currency@resource_id", "allocated/step-2@resource_id"],
      rule: "pass_on/shared",
      more: { path: [hop(1, "idle"), hop(2, "shared")], giving: 2, taken: "12.5" },
    },
    "notifier-31 pays 2.00 of the 12.50 USD that step 2 took from shared for Kafka CKUs of payments-3 on 12 Nov 2026 because it has 16.0 % of the other costs of the resource, 4.00 of 25.00 USD. It was first given to idle, then passed on to shared by step 1.",
  ],
  [
    "named on the line, before a step took it",
    {
      ...all,
      method: "line_identity",
      tier: ["line", "resource"],
      more: { path: [hop(1, "sa-1"), hop(2, "shared")], giving: 0 },
    },
    "notifier-31 was given 21.95 USD for Kafka CKUs of payments-3 on 12 Nov 2026 because the bill names it. Step 1 then passed it on.",
  ],
];

for (const [name, given, sentence] of sentences)
  t.test(`the sentence is right for a cost that is allocated ${name}`, async (t) => {
    t.equal(sentenceOf(explained(given)), sentence);
  });

t.test("every allocation method has a sentence in the table", async (t) => {
  const methods = new Set(sentences.map(([, { method }]) => method));
  const wanted: Readonly<Record<AllocationMethod, true>> = {
    usage_ratio: true,
    direct_owner: true,
    even_split: true,
    line_identity: true,
    cost_ratio: true,
    fixed_ratio: true,
    terminal: true,
  };
  t.strictSame([...methods].sort(), Object.keys(wanted).sort());
});

t.test("a provisional amount says so, in the currency's minor unit", async (t) => {
  const given = explained({ method: "line_identity", amount: "21.945", tier: ["line", "resource"] });
  const row = { ...given.row, provisional: true, currency: "JPY" };
  t.equal(
    sentenceOf({ ...given, row }),
    "notifier-31 pays 22 JPY for Kafka CKUs of payments-3 on 12 Nov 2026 because the bill names it. The amount is provisional, because data of the day is missing.",
  );
});

t.test("weights have the unit of their metrics, or the currency of costs", async (t) => {
  const unit = (...tier: Case["tier"]) => weightUnit(explained({ method: "usage_ratio", tier }));
  t.strictSame(
    [
      unit("usage", "resource", "bytes_in", "log_bytes"),
      unit("usage", "resource", "bytes_in", "requests"),
      unit("usage", "resource", "kilobytes"),
      unit("cost", "currency", "allocated/2"),
      unit("even", "resource", "resource_active"),
    ],
    ["bytes", null, null, "USD", null],
  );
});
