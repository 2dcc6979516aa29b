/** Every chain of the allocation rules of a Confluent Cloud bill, on the real engine. */
import t from "tap";
import { buildRuleSet } from "../../../src/allocate/rules.js";
import { productTypes } from "../../../src/ingest/ecosystems/confluent_cloud/costs/product-types.js";
import { confluentRules } from "../../../src/ingest/ecosystems/confluent_cloud/rules.js";
import { holds } from "../../holds.js";
import { openAllocation } from "./allocated.js";
import { startMetrics } from "./metrics.js";
import { charges, connectors, known, ONE, series, THREE, TWO } from "./scenarios.js";

const tenant = (detail: string, amount = "1") =>
  ["pool-1", "sa-1", "sa-2", "sa-3", "sa-gone", "u-1"].map(
    (id) => `${id} ${amount} shared even_split ${detail}`,
  );

t.test("every product type has a rule, whatever the ratios of CKUs are", async (t) => {
  for (const ratio of ["0.7", "0", "1", "0.333333", "0.000001", "0.99995"]) {
    const allocator_params = { kafka_cku_usage_ratio: ratio, kafka_cku_shared_ratio: "0.3" };
    const { rows, combinesMetrics } = buildRuleSet(confluentRules({ allocator_params }));
    const named = new Set(rows.map((row) => row.product_type));
    t.same(
      Object.keys(productTypes).filter((type) => !named.has(type)),
      [],
    );
    t.ok(named.has("*"));
    t.equal(combinesMetrics, ratio !== "0");
    const cku = rows.filter((row) => row.product_type === "KAFKA_NUM_CKUS").map((row) => row.component_ratio);
    t.equal(new Set(cku).size, ["0", "1"].includes(ratio) ? 1 : 2);
  }
});

t.test("a bill of Confluent Cloud is allocated by its rules", async (t) => {
  const allocate = await openAllocation(t);
  const metrics = await startMetrics(t, series);
  metrics.failing.push({ match: "request_bytes", day: TWO, status: 503 });
  const allocated = await allocate({ charges, known, prometheus: metrics.source() });
  const { of } = allocated;

  await t.test("the parts of every line add up to the line", async (t) => {
    t.equal(allocated.checks.length, 3);
    for (const check of allocated.checks) holds(t, check, { lines_off: 0, billed: check.charged });
  });

  await t.test("CKUs are divided in part by bytes in and out, and the rest evenly", async (t) => {
    t.same(of(ONE, "KAFKA_NUM_CKUS", "lkc-v1"), [
      "sa-1 35 usage usage_ratio usage_ratio_allocation",
      "sa-2 21 usage usage_ratio usage_ratio_allocation",
      "sa-3 14 usage usage_ratio usage_ratio_allocation",
      ...["sa-1", "sa-2", "sa-3"].map((id) => `${id} 10 shared even_split even_split_allocation`),
    ]);
    t.same(of(ONE, "KAFKA_NUM_CKU", "lkc-v2"), [
      "sa-1 0.0001 usage usage_ratio usage_ratio_allocation",
      "sa-3 0.0001 usage usage_ratio usage_ratio_allocation",
      "sa-3 0.0001 shared even_split even_split_allocation",
    ]);
    t.same(of(ONE, "KAFKA_NUM_CKU", "lkc-v3"), [
      "sa-1 11.6667 shared even_split no_usage_for_active_identities",
      "sa-2 11.6667 shared even_split no_usage_for_active_identities",
      "sa-1 5.000033333333 shared even_split even_split_allocation",
      "sa-2 4.9999 shared even_split even_split_allocation",
    ]);
    t.same(of(THREE, "KAFKA_NUM_CKU", "lkc-v4"), [
      "UNALLOCATED 70 shared terminal no_identities_located",
      "UNALLOCATED 30 shared terminal no_identities_located",
    ]);
  });

  await t.test(
    "network costs are divided by bytes with a key counted as its owner, else among owners of keys, else everybody",
    async (t) => {
      t.same(of(ONE, "KAFKA_NETWORK_WRITE", "lkc-merge"), [
        "sa-1 5 usage usage_ratio usage_ratio_allocation",
        "sa-2 5 usage usage_ratio usage_ratio_allocation",
      ]);
      t.same(of(ONE, "KAFKA_NETWORK_READ", "lkc-zero"), [
        "sa-1 5 shared even_split no_metrics_located",
        "sa-2 5 shared even_split no_metrics_located",
      ]);
      t.same(of(ONE, "KAFKA_NETWORK_WRITE", "lkc-active"), [
        "sa-1 5 shared even_split no_metrics_located",
        "sa-2 5 shared even_split no_metrics_located",
      ]);
      t.same(of(ONE, "KAFKA_NETWORK_WRITE", "lkc-none"), tenant("no_active_identities_located"));
      t.same(of(THREE, "KAFKA_NETWORK_READ", "lkc-v5"), [
        "UNALLOCATED 33.333333333333 shared terminal no_identities_located",
      ]);
    },
  );

  await t.test("the part of a key without an owner is UNALLOCATED, with its reason", async (t) => {
    t.same(of(ONE, "KAFKA_NETWORK_WRITE", "lkc-orphan"), [
      "UNALLOCATED 7.5 usage usage_ratio owner_unknown",
      "sa-1 2.5 usage usage_ratio usage_ratio_allocation",
    ]);
    t.same(of(ONE, "KAFKA_STORAGE", "lkc-orphan"), [
      "UNALLOCATED 1 shared even_split owner_unknown",
      "sa-1 1 shared even_split shared_by_design",
    ]);
  });

  await t.test("an outage of the metric is distinguished from no usage", async (t) => {
    t.same(of(TWO, "KAFKA_NETWORK_WRITE", "lkc-active"), [
      "sa-1 3 shared even_split metrics_fetch_failed",
      "sa-2 3 shared even_split metrics_fetch_failed",
      "sa-late 3 shared even_split metrics_fetch_failed",
    ]);
  });

  await t.test(
    "partitions, storage and base are divided evenly among active identities, or everybody",
    async (t) => {
      t.same(of(ONE, "KAFKA_PARTITION", "lkc-active"), [
        "sa-1 5 shared even_split shared_by_design",
        "sa-2 5 shared even_split shared_by_design",
      ]);
      t.same(of(ONE, "KAFKA_BASE", "lkc-none"), tenant("no_active_identities_located"));
    },
  );

  await t.test(
    "cluster linking and Tableflow are divided evenly among active identities of their cluster, or are an issue",
    async (t) => {
      const each = (amount: string) => [
        `sa-1 ${amount} shared even_split shared_by_design`,
        `sa-2 ${amount} shared even_split shared_by_design`,
      ];
      t.strictSame(of(ONE, "CLUSTER_LINKING_READ", "lkc-active"), each("0.5"));
      t.strictSame(of(ONE, "TABLEFLOW_STORAGE", "lkc-active"), each("0.5"));
      t.strictSame(of(ONE, "PROMO_CREDIT_TABLEFLOW", "lkc-active"), each("-0.5"));
      t.strictSame(of(ONE, "TABLEFLOW_NUM_TOPICS", "lkc-none"), tenant("no_active_identities_located"));
      t.strictSame(of(THREE, "CLUSTER_LINKING_PER_LINK", "lkc-none"), [
        "UNALLOCATED 6 shared terminal no_identities_located",
      ]);
    },
  );

  await t.test("refunds and credits are allocated like the charges", async (t) => {
    t.same(of(ONE, "KAFKA_NETWORK_WRITE", "lkc-refund"), [
      "sa-1 -6.6667 usage usage_ratio usage_ratio_allocation",
      "sa-2 -3.3333 usage usage_ratio usage_ratio_allocation",
    ]);
    t.same(of(ONE, "PROMO_CREDIT_KAFKA", "lkc-active"), [
      "sa-1 -1.5 shared even_split shared_by_design",
      "sa-2 -1.5 shared even_split shared_by_design",
    ]);
    t.same(of(ONE, "PROMO_CREDIT", "no-resource"), tenant("shared_by_design", "-2.5"));
  });

  await t.test(
    "schema registry costs go to owners of its keys, or to everybody except keys, providers and principals",
    async (t) => {
      t.same(of(ONE, "GOVERNANCE_BASE", "lsrc-1"), ["sa-3 10 shared even_split shared_by_design"]);
      t.same(of(ONE, "SCHEMA_REGISTRY", "lsrc-2"), tenant("no_active_identities_located"));
    },
  );

  await t.test("costs of the whole organisation are divided among everybody by design", async (t) => {
    t.same(of(ONE, "SUPPORT", "no-resource"), tenant("shared_by_design"));
    t.same(of(THREE, "SUPPORT", "no-resource"), ["UNALLOCATED 6 shared terminal no_identities_located"]);
  });

  await t.test(
    "a connector is charged to its account, to the owner of its key, or to UNALLOCATED",
    async (t) => {
      const owners: Readonly<Record<string, string | undefined>> = {
        "lcc-account": "sa-1",
        "lcc-unheard": "sa-unheard",
        "lcc-key": "sa-1",
      };
      for (const id of [...Object.keys(connectors), "lcc-unknown"]) {
        const owner = owners[id];
        const wanted =
          owner === undefined
            ? "UNALLOCATED 1 shared terminal owner_unknown"
            : `${owner} 1 usage direct_owner direct_owner_allocation`;
        t.same(of(ONE, "CONNECT_NUM_TASKS", id), [wanted], id);
      }
      t.same(of(ONE, "CONNECT_CAPACITY", "lcc-account"), [
        "sa-1 2 usage direct_owner direct_owner_allocation",
      ]);
    },
  );

  await t.test("ksqlDB is charged to the owner of its credentials, or to UNALLOCATED", async (t) => {
    t.same(of(ONE, "KSQL_NUM_CSUS", "lksqlc-1"), ["u-1 1 usage direct_owner direct_owner_allocation"]);
    for (const id of ["lksqlc-2", "lksqlc-3"])
      t.same(of(ONE, "KSQL_NUM_CSUS", id), ["UNALLOCATED 1 shared terminal owner_unknown"], id);
  });

  await t.test(
    "Flink is divided by CFUs of either metric, then running statements, all statements, everybody, or UNALLOCATED",
    async (t) => {
      t.same(of(ONE, "FLINK_NUM_CFUS", "lfcp-p"), [
        "sa-1 4.5 usage usage_ratio usage_ratio_allocation",
        "sa-2 1.5 usage usage_ratio usage_ratio_allocation",
      ]);
      t.same(of(ONE, "FLINK_NUM_CFUS", "lfcp-f"), ["sa-2 6 usage usage_ratio usage_ratio_allocation"]);
      t.same(of(ONE, "FLINK_NUM_CFUS", "lfcp-s"), [
        "sa-1 4 usage usage_ratio no_usage_for_active_identities",
        "sa-2 2 usage usage_ratio no_usage_for_active_identities",
      ]);
      t.same(of(ONE, "FLINK_NUM_CFUS", "lfcp-u"), ["UNALLOCATED 6 usage usage_ratio owner_unknown"]);
      t.same(of(ONE, "FLINK_NUM_CFUS", "lfcp-stopped"), [
        "sa-1 3 shared even_split no_usage_for_active_identities",
        "sa-2 3 shared even_split no_usage_for_active_identities",
      ]);
      t.same(of(ONE, "FLINK_NUM_CFUS", "lfcp-none"), tenant("no_active_identities_located"));
      t.same(of(THREE, "FLINK_NUM_CFU", "lfcp-none"), [
        "UNALLOCATED 6 shared terminal no_identities_located",
      ]);
    },
  );

  await t.test("costs without a known identity are UNALLOCATED, with the reason", async (t) => {
    const terminal = (detail: string) => [`UNALLOCATED 1 shared terminal ${detail}`];
    t.same(of(ONE, "MALFORMED", "malformed-1"), terminal("allocation_failed"));
    t.same(of(ONE, "NEVER_HEARD_OF", "lkc-active"), terminal("no_allocator_for_product_type"));
  });

  await t.test("other ratios of CKUs and a missing Prometheus are respected", async (t) => {
    const cku = charges.filter(([, product]) => product.startsWith("KAFKA_NUM_CKU"));
    const half = await allocate({ charges: cku, known, prometheus: metrics.source(), usageRatio: "0.5" });
    t.same(half.of(ONE, "KAFKA_NUM_CKUS", "lkc-v1"), [
      "sa-1 25 usage usage_ratio usage_ratio_allocation",
      "sa-2 15 usage usage_ratio usage_ratio_allocation",
      "sa-3 10 usage usage_ratio usage_ratio_allocation",
      "sa-1 16.6666 shared even_split even_split_allocation",
      "sa-2 16.6667 shared even_split even_split_allocation",
      "sa-3 16.6667 shared even_split even_split_allocation",
    ]);
    const none = await allocate({ charges: cku, known, prometheus: undefined, usageRatio: "1" });
    t.same(none.of(ONE, "KAFKA_NUM_CKU", "lkc-v3"), [
      "sa-1 16.666733333333 shared even_split no_usage_for_active_identities",
      "sa-2 16.6666 shared even_split no_usage_for_active_identities",
    ]);
  });
});
