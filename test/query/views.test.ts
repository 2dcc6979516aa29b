/** Views for BI tools show what the API shows: the same rows and sums. */
import t, { type Test } from "tap";
import { healthyDetails, issueDetails } from "../../src/domain/allocation-rule.js";
import { copyNames } from "../../src/ingest/inventory/copy-names.js";
import { holds } from "../holds.js";
import { gatherInto } from "../http/gathered-inventory.js";
import { get } from "../http/service.js";
import { startApi } from "../http/start-api.js";
import { daysBefore, runContext, runDay, runOnce, runRows, shortTenants } from "../runner/runs.js";
import { clusterWithTopics, topicUpstream } from "../runner/topic-upstream.js";
import { openTestStores } from "../stores.js";

type Row = Record<string, unknown>;

t.test("views for BI tools show what the API shows", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
  const { upstream, ecosystems } = topicUpstream();
  upstream.bill.set(daysBefore(4), { "r-1": "10", "metered-1": "0.333333333333" });
  upstream.bill.set(daysBefore(3), { "r-1": "-2.5", "metered-1": "8", "metered-2": "1" });
  const withAttributions = clusterWithTopics(config);
  holds(t, await runOnce(runContext(stores, { ecosystems }), withAttributions, "acme"), {
    status: "completed",
  });
  const app = await startApi(t, { config: withAttributions, stores, now: new Date(`${runDay}T12:00:00Z`) });
  const read = async (path: string) => (await get(app, `/api/v1/tenants/acme/${path}`)).body;
  const view = (query: string) => runRows<Row>(stores, "acme", `SELECT ${query} ORDER BY ALL`);
  const sorted = (rows: readonly Row[]) =>
    rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
  const same = (t: Test, found: readonly Row[], wanted: readonly Row[]) => {
    t.ok(found.length > 1);
    t.same(sorted(found), sorted(wanted));
  };
  const sums = "toString(total_amount) AS total_amount, toString(row_count) AS row_count";
  const split = `toString(usage_amount) AS usage_amount, toString(shared_amount) AS shared_amount, toString(passed_amount) AS passed_amount, ${sums}`;
  interface Bucket {
    readonly dimensions: Row;
    readonly display_names: Row;
    readonly time_bucket: string;
    readonly currency: string;
    readonly row_count: number;
    readonly provisional: boolean;
  }
  const bucketsOf = async (path: string): Promise<Row[]> =>
    (await read(path)).buckets.map(
      ({ dimensions, display_names: _, time_bucket, row_count, provisional: __, ...amounts }: Bucket) => ({
        ...dimensions,
        date: time_bucket,
        ...amounts,
        row_count: String(row_count),
      }),
    );

  await t.test("views show costs per day by identity and by resource", async (t) => {
    same(
      t,
      await view(`date, identity_id, currency, ${split} FROM daily_cost_by_identity`),
      await bucketsOf("chargebacks/aggregate"),
    );
    const columns = ["environment_id", "resource_id", "product_category", "product_type"];
    same(
      t,
      await view(`date, ${columns.join(", ")}, currency, ${split} FROM daily_cost_by_resource`),
      await bucketsOf(`chargebacks/aggregate?${columns.map((each) => `group_by=${each}`).join("&")}`),
    );
  });

  await t.test("views show each part of the bill, and the bill", async (t) => {
    const shown = "resource_id, product_category, product_type";
    const pick = (row: Row, names: string) =>
      Object.fromEntries(names.split(", ").map((name) => [name, row[name]]));
    const parts = `${shown}, identity_id, cost_type, allocation_method, allocation_detail`;
    same(
      t,
      await view(`${parts}, toString(amount) AS amount FROM chargeback_details`),
      (await read("chargebacks")).items.map((row: Row) => pick(row, `${parts}, amount`)),
    );
    same(
      t,
      await view(`${shown}, toString(total_cost) AS total_cost, currency FROM billing_line_items`),
      (await read("billing")).items.map((row: Row) => pick(row, `${shown}, total_cost, currency`)),
    );
  });

  await t.test("a view shows usage in the unit of its metric", async (t) => {
    t.same(
      await view(`identity_id, toString(quantity) AS quantity FROM usage_quantities
        WHERE date = '${daysBefore(4)}' AND metric = 'work'`),
      [
        { identity_id: "ann", quantity: "1" },
        { identity_id: "bob", quantity: "3" },
      ],
    );
  });

  await t.test("a view shows costs by topic", async (t) => {
    const columns = "cluster_resource_id, topic_name";
    const path = "topic-attributions/aggregate?group_by=cluster_resource_id&group_by=topic_name";
    const buckets = (await bucketsOf(path)).map(({ usage_amount, shared_amount, ...bucket }) => bucket);
    same(t, await view(`date, ${columns}, currency, ${sums} FROM daily_cost_by_topic`), buckets);
    same(
      t,
      await view(`date, ${columns}, currency, toString(sum(amount)) AS total_amount, toString(count()) AS row_count
        FROM topic_attribution_details GROUP BY ALL`),
      buckets,
    );
    const { client } = await stores.tenant("acme");
    const clusters = [{ resource_id: "r-1", resource_type: "kafka_cluster", display_name: "orders" }];
    await gatherInto(stores, "acme", { at: `${runDay}T00:00:00Z`, resources: clusters, identities: [] });
    const { signal } = new AbortController();
    await copyNames({ client, postgres: stores.postgres, tenantName: "acme", signal });
    for (const name of ["daily_cost_by_topic", "topic_attribution_details"])
      t.strictSame(
        await view(`DISTINCT cluster_resource_id, cluster_name FROM ${name}`),
        [
          { cluster_resource_id: "metered-1", cluster_name: "" },
          { cluster_resource_id: "metered-2", cluster_name: "" },
          { cluster_resource_id: "r-1", cluster_name: "orders" },
        ],
        name,
      );
  });

  await t.test("the reconciliation view shows 0 for each day, or the amount that is missing", async (t) => {
    const proof = () =>
      view(
        "date, toString(billing) AS billing, toString(difference) AS difference FROM daily_reconciliation",
      );
    const whole = { date: daysBefore(4), billing: "10.333333333333", difference: "0" };
    t.same(await proof(), [whole, { date: daysBefore(3), billing: "6.5", difference: "0" }]);
    const { client } = await stores.tenant("acme");
    await client.command({ query: `ALTER TABLE chargebacks DROP PARTITION '${daysBefore(3)}'` });
    t.same(await proof(), [whole, { date: daysBefore(3), billing: "6.5", difference: "-6.5" }]);
  });

  await t.test("is_issue marks the rows in the list of allocation issues", async (t) => {
    const { client } = await stores.tenant("acme");
    await client.insert({
      table: "chargebacks",
      format: "JSONEachRow",
      values: [...healthyDetails, ...issueDetails].map((allocation_detail) => ({
        timestamp: `${daysBefore(2)}T00:00:00Z`,
        resource_id: "r",
        identity_id: "i",
        cost_type: "shared",
        allocation_detail,
        component_ratio: "1",
        amount_hi: "1",
        amount_lo: "0",
      })),
    });
    const marked = await view(
      `allocation_detail AS detail FROM chargeback_details WHERE is_issue AND date = '${daysBefore(2)}'`,
    );
    t.same(
      marked.map(({ detail }) => detail),
      [...issueDetails].sort(),
    );
  });
});
