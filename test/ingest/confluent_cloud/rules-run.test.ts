/** Whole runs of a Confluent Cloud tenant: what changes its days, and what must not change them. */
import t from "tap";
import { holds } from "../../holds.js";
import { chargedOn, reconciled, runContext, runOnce, trackingDate } from "../../runner/runs.js";
import { openTestStores } from "../../stores.js";
import { daysAgo } from "../generic_metrics_only/tenant.js";
import { resource, testCostRow } from "./bill.js";
import { startMetrics } from "./metrics.js";
import { apiKey, connector, connectorsOf, person, pool, small, startOrganisation } from "./organisation.js";

const days = [5, 4, 3].map((days) => daysAgo(days));
const [ONE = "", TWO = "", THREE = ""] = days;
const none = (product: string) => ({ resource: undefined, product, line_type: product });

const rowsOf = (day: string, stored: string) => [
  testCostRow(day, { amount: stored, resource: resource("lkc-aa11") }),
  testCostRow(day, {
    id: `n-${day}`,
    line_type: "KAFKA_NETWORK_WRITE",
    amount: "4",
    resource: resource("lkc-aa11"),
  }),
  testCostRow(day, {
    id: `c-${day}`,
    product: "CONNECT",
    line_type: "CONNECT_NUM_TASKS",
    amount: "1",
    resource: resource("lcc-9x"),
  }),
  testCostRow(day, { id: `s-${day}`, ...none("SUPPORT"), amount: "9" }),
];

const yaml = (url: string, metrics: string) => `
tenants:
  acme:
    ecosystem: confluent_cloud
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      ccloud_api: { key: CLOUDKEY, secret: s3cret-word, base_url: "${url}" }
      flink: [{ region_id: eu-west-1, key: FLINKKEY, secret: flink-secret, base_url: "${url}/flink" }]
      metrics: { url: "${metrics}" }`;

t.test("runs charge a Confluent Cloud tenant", async (t) => {
  const organisation = await startOrganisation(t, small);
  const bill = (stored: Readonly<Record<string, string>> = {}) =>
    organisation.lists.set(
      "/billing/v1/costs",
      days.flatMap((day) => rowsOf(day, stored[day] ?? "2")),
    );
  bill();
  organisation.objects.set(connectorsOf("lkc-aa11"), {
    "sink-one": connector("lcc-9x", {
      "kafka.auth.mode": "SERVICE_ACCOUNT",
      "kafka.service.account.id": "sa-10",
    }),
  });
  const metrics = await startMetrics(t, [
    {
      name: "confluent_kafka_server_request_bytes",
      labels: { kafka_id: "lkc-aa11", principal_id: "KEY0001" },
      samples: Object.fromEntries(days.map((day) => [`${day}T05:07:00Z`, 3])),
    },
    {
      name: "confluent_kafka_server_request_bytes",
      labels: { kafka_id: "lkc-aa11", principal_id: "u-3" },
      samples: Object.fromEntries(days.map((day) => [`${day}T07:07:00Z`, 1])),
    },
  ]);
  const { config, stores } = await openTestStores(t, yaml(organisation.url, metrics.url));
  const context = runContext(stores, { now: () => new Date() });
  const run = () => runOnce(context, config, "acme");
  const identity = async (id: string) =>
    (await stores.postgres.query("SELECT deleted_at FROM identities WHERE identity_id = $1", [id])).rows[0];

  await t.test("the first run charges every day", async (t) => {
    holds(t, await run(), { status: "completed", errors: [], dates_calculated: 3 });
    t.same(await chargedOn(stores, "acme", ONE), [
      "sa-10: 1 direct_owner_allocation",
      "sa-10: 1 shared_by_design",
      "sa-10: 3",
      "u-3: 1",
      "u-3: 1 shared_by_design",
      ...["pool-1", "sa-10", "sa-11", "sa-12", "u-3"].map((id) => `${id}: 1.8 shared_by_design`),
    ]);
    holds(t, await reconciled(stores, "acme"), { days: 3, off: [], billing: "48", staged: 0 });
  });

  await t.test("the next run changes nothing", async (t) => {
    holds(t, await run(), { status: "completed", errors: [], dates_calculated: 0 });
  });

  await t.test(
    "after a connector changes its owner today, earlier days keep the owner of then",
    async (t) => {
      organisation.objects.set(connectorsOf("lkc-aa11"), {
        "sink-one": connector("lcc-9x", {
          "kafka.auth.mode": "SERVICE_ACCOUNT",
          "kafka.service.account.id": "sa-11",
        }),
      });
      holds(t, await run(), { status: "completed", errors: [], dates_calculated: 0 });
      bill({ [ONE]: "3" });
      holds(t, await run(), { status: "completed", errors: [], dates_calculated: 1 });
      t.equal((await chargedOn(stores, "acme", ONE))[0], "sa-10: 1 direct_owner_allocation");
      bill();
      await run();
    },
  );

  await t.test(
    "an account, a key and a connector that are deleted today do not change the days before",
    async (t) => {
      organisation.lists.set("/iam/v2/service-accounts", [person("sa-11"), person("sa-12")]);
      organisation.lists.set("/iam/v2/api-keys", [apiKey("KEY0002", "u-3", null)]);
      organisation.objects.set(connectorsOf("lkc-aa11"), { other: connector("lcc-7", {}) });
      holds(t, await run(), { status: "completed", errors: [], dates_calculated: 0 });
      t.type((await identity("sa-10"))?.deleted_at, Date);
      t.type((await identity("KEY0001"))?.deleted_at, Date);
    },
  );

  await t.test(
    "if a source fails, none of its entities are deleted, and changed days are provisional",
    async (t) => {
      organisation.lists.set("/iam/v2/service-accounts", [person("sa-11")]);
      organisation.failing.set("/iam/v2/service-accounts", 403);
      bill({ [TWO]: "8" });
      const run1 = await run();
      holds(t, run1, { status: "completed_with_errors", dates_calculated: 1 });
      t.match(run1.errors[0]?.message, /^service accounts: .*403/);
      t.match(
        run1.errors[1]?.message,
        /^the chargebacks are provisional: the inventory is incomplete: service accounts: /,
      );
      t.same(await identity("sa-12"), { deleted_at: null });
      const flags = { billing_gathered: true, resources_gathered: false, provisional: true };
      holds(t, await trackingDate(stores, "acme", TWO), flags);
      const charged = [
        "sa-10: 1 direct_owner_allocation",
        "sa-10: 3",
        "sa-10: 4 shared_by_design",
        "u-3: 1",
        "u-3: 4 shared_by_design",
      ];
      t.same((await chargedOn(stores, "acme", TWO)).slice(0, 5), charged);
      organisation.failing.clear();
      holds(t, await run(), { status: "completed", errors: [], dates_calculated: 1 });
      t.type((await identity("sa-12"))?.deleted_at, Date);
      holds(t, await trackingDate(stores, "acme", TWO), { resources_gathered: true, provisional: false });
      t.same((await chargedOn(stores, "acme", TWO)).slice(0, 5), charged);
      holds(t, await reconciled(stores, "acme"), { days: 3, off: [], billing: "54" });
    },
  );

  await t.test("a new entity that existed before changes the days on which it existed", async (t) => {
    organisation.lists.set("/fcpm/v2/compute-pools?environment=env-2", [pool("lfcp-9")]);
    const born = { metadata: { created_at: `${THREE}T00:00:00Z` } };
    organisation.lists.set("/iam/v2/users", [...small["/iam/v2/users"], { id: "u-new", ...born }]);
    holds(t, await run(), { status: "completed", errors: [], dates_calculated: 1 });
    t.ok((await chargedOn(stores, "acme", THREE)).includes("u-new: 1.5 shared_by_design"));
  });
});

t.test("connectors that may not be listed hold no day back: their owners are unknown", async (t) => {
  const organisation = await startOrganisation(t, small);
  organisation.lists.set(
    "/billing/v1/costs",
    days.flatMap((day) => rowsOf(day, "2")),
  );
  organisation.failing.set(connectorsOf("lkc-aa11"), 403);
  const metrics = await startMetrics(t, []);
  const { config, stores } = await openTestStores(t, yaml(organisation.url, metrics.url));
  const run = () => runOnce(runContext(stores, { now: () => new Date() }), config, "acme");
  const connectorRow = async () =>
    (await chargedOn(stores, "acme", ONE)).filter((row) => row.includes("owner"));
  const refused = await run();
  holds(t, refused, { status: "completed_with_errors", dates_calculated: 3 });
  t.same(await connectorRow(), ["UNALLOCATED: 1 owner_unknown"]);
  holds(t, await trackingDate(stores, "acme", ONE), { provisional: true, resources_gathered: false });
  t.match(
    refused.errors.at(-1)?.message,
    /^3 days from .*: the chargebacks are provisional: the inventory is incomplete: connectors: .*403/,
  );
  holds(t, await reconciled(stores, "acme"), { days: 3, off: [], billing: "48", staged: 0 });
  organisation.failing.clear();
  organisation.objects.set(connectorsOf("lkc-aa11"), {
    "sink-one": connector("lcc-9x", {
      "kafka.auth.mode": "SERVICE_ACCOUNT",
      "kafka.service.account.id": "sa-10",
    }),
  });
  holds(t, await run(), { status: "completed", errors: [], dates_calculated: 3 });
  t.same(await connectorRow(), ["sa-10: 1 direct_owner_allocation"]);
  holds(t, await trackingDate(stores, "acme", ONE), { provisional: false, resources_gathered: true });
});

t.test("a rule may divide the costs of connectors and new products among everybody", async (t) => {
  const organisation = await startOrganisation(t, small);
  organisation.lists.set(
    "/billing/v1/costs",
    days.map((day, index) => {
      const [product, id] = index === 0 ? ["CONNECT", "lcc-9x"] : ["NEW_THING", "new-1"];
      const line_type = `${product}_NUM_TASKS`;
      return testCostRow(day, {
        id: `r-${day}`,
        product,
        line_type,
        amount: "5",
        resource: resource(id ?? ""),
      });
    }),
  );
  const metrics = await startMetrics(t, []);
  const rules = `
    allocation: { rules: [{ name: all, split: [{ by: even, among: tenant_period }] }] }`;
  const { config, stores } = await openTestStores(t, yaml(organisation.url, metrics.url) + rules);
  const result = await runOnce(runContext(stores, { now: () => new Date() }), config, "acme");
  holds(t, result, { status: "completed", errors: [], dates_calculated: 3 });
  const everybody = ["pool-1", "sa-10", "sa-11", "sa-12", "u-3"].map((id) => `${id}: 1`);
  for (const day of days) t.strictSame(await chargedOn(stores, "acme", day), everybody);
});

t.test("an owner whose id cannot be stored holds no other line of the day back", async (t) => {
  const organisation = await startOrganisation(t, small);
  organisation.lists.set("/billing/v1/costs", rowsOf(ONE, "2"));
  organisation.objects.set(connectorsOf("lkc-aa11"), {
    "sink-one": connector("lcc-9x", {
      "kafka.auth.mode": "SERVICE_ACCOUNT",
      "kafka.service.account.id": "sa-\u0007",
    }),
  });
  const metrics = await startMetrics(t, []);
  const { config, stores } = await openTestStores(t, yaml(organisation.url, metrics.url));
  const { status, errors } = await runOnce(runContext(stores, { now: () => new Date() }), config, "acme");
  const lack =
    'owner of lcc-9x could not be fetched: its member "sa-?" cannot be stored: its identity_id has control characters';
  t.strictSame(
    [status, errors],
    [
      "completed_with_errors",
      [{ date: ONE, source: "gather", message: `the chargebacks are provisional: ${lack}` }],
    ],
  );
  t.equal((await chargedOn(stores, "acme", ONE))[0], "UNALLOCATED: 1 metrics_fetch_failed");
  holds(t, await reconciled(stores, "acme"), { days: 1, off: [], billing: "16", staged: 0 });
});
