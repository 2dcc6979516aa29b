import t from "tap";
import type { AppOptions } from "../../src/http/app.js";
import { createServiceMetrics } from "../../src/http/metrics.js";
import { holds } from "../holds.js";
import { sumUp } from "../sum-up.js";
import { startService } from "./service.js";
import { clickHouseReads, eventually, postgresWaits } from "./store-processes.js";

/** /health has to respond this often while an endless aggregation runs. */
const HEALTHY = 200;

t.test("no query of a finished request keeps running in a store", async (t) => {
  const service = await startService(t, ["max_heavy_reads: 2", "max_waiting_reads: 2"]);
  const { stores, config } = service;
  const { postgres } = stores;
  const { client } = await stores.tenant("acme");
  const metrics = createServiceMetrics();
  const listening = async (own: Partial<typeof config.api>, more: Partial<AppOptions> = {}) => {
    const app = await service.build({ config: { ...config, api: { ...config.api, ...own } }, ...more });
    return await app.listen({ host: "127.0.0.1", port: 0 });
  };
  const patient = await listening({ request_timeout_seconds: 300 }, { metrics });
  const hasty = await listening({ request_timeout_seconds: 2, max_heavy_reads: 16 });
  const path = (rest: string) => `/api/v1/tenants/acme/${rest}`;
  const post = (body: object) => ({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

  await client.command({
    query: `INSERT INTO chargebacks (timestamp, ecosystem, tenant_id, resource_id, product_category, product_type, identity_id, cost_type,
        allocation_method, allocation_detail, component_ratio, amount_hi)
      SELECT toDateTime('2026-03-01 00:00:00', 'UTC') + INTERVAL number % 5 DAY, 'e', 'acme', concat('r-', toString(number % 100)), 'c', 'p',
        concat('sa-', toString(number)), 'usage', 'usage_ratio', if(number % 2 = 0, 'usage_ratio_allocation', 'no_identities_located'), '1', 0.01
      FROM numbers(1000)`,
  });
  await sumUp(client);
  await client.command({
    query: `INSERT INTO topic_attributions (timestamp, ecosystem, tenant_id, cluster_resource_id, product_category, product_type, topic_name,
        attribution_method, attribution_detail, amount_hi)
      SELECT toDateTime('2026-03-01 00:00:00', 'UTC'), 'e', 'acme', 'lkc-1', 'c', 'p', concat('topic-', toString(number)), 'even_split',
        'no_metrics_located', 0.01
      FROM numbers(1000)`,
  });
  const tables = ["chargebacks", "topic_attributions"] as const;
  for (const table of tables) await client.command({ query: `RENAME TABLE ${table} TO ${table}_stored` });
  /** Returns the same rows again and again, without end. */
  const endless = async (numbers: string) => {
    for (const table of tables)
      await client.command({
        query: `CREATE OR REPLACE VIEW ${table} AS SELECT c.* FROM (${numbers}) AS n CROSS JOIN ${table}_stored AS c`,
      });
  };
  const reads = async () => {
    const running = await Promise.all(tables.map((table) => clickHouseReads(client, table)));
    return running.reduce((sum, each) => sum + each, 0);
  };
  const runs = () => eventually("a statement runs", async () => (await reads()) > 0);
  const isFree = () => eventually("no statement runs", async () => (await reads()) === 0);

  const requests: readonly (readonly [string, string, RequestInit])[] = [
    ["a list", path("chargebacks"), {}],
    ["a list under filters", path("chargebacks?identity_id=sa-1&product_type=p"), {}],
    ["an aggregation", path("chargebacks/aggregate"), {}],
    ["a list of issues", path("chargebacks/allocation-issues"), {}],
    ["an export", path("export"), post({})],
    ["a list by topic", path("topic-attributions"), {}],
    ["an aggregation by topic", path("topic-attributions/aggregate"), {}],
    [
      "tags by filter",
      path("tags/bulk-by-filter"),
      post({ tag_key: "k", display_name: "d", created_by: "c", override_existing: false }),
    ],
  ];

  await endless("SELECT number FROM system.numbers WHERE sleep(0.1) = 0");
  // The requests run together, so that the test waits once for the time limit.
  const late = requests.map(([, url, init]) => fetch(hasty + url, init));
  await eventually("a statement of each runs", async () => (await reads()) >= requests.length);
  for (const [index, [name, url, init]] of requests.entries()) {
    await t.test(`${name} that takes too long is 504, and gone from the store`, async (t) => {
      const response = await late[index];
      t.equal(response?.status, 504);
      holds(t, await response?.json(), { code: "request_timeout" });
      await isFree();
    });

    await t.test(`${name} that is abandoned is gone from the store`, async (t) => {
      const gone = new AbortController();
      const slow = fetch(patient + url, { ...init, signal: gone.signal });
      await runs();
      gone.abort();
      await t.rejects(slow, { name: "AbortError" });
      await isFree();
    });
  }

  await t.test("a request that is aborted in the queue never reaches the store", async (t) => {
    const load = async (state: string) =>
      (await metrics.heavyReads.get()).values.find(({ labels }) => labels.state === state)?.value;
    const [first, second] = [new AbortController(), new AbortController()];
    const url = patient + path("chargebacks/aggregate");
    const running = fetch(url, { signal: first.signal });
    await runs();
    // The queue has two slots, of which another tenant gets one.
    const waiting = fetch(url, { signal: second.signal });
    await eventually("one waits", async () => (await load("waiting")) === 1);
    second.abort();
    await t.rejects(waiting, { name: "AbortError" });
    await eventually("none waits", async () => (await load("waiting")) === 0);
    t.equal(await load("running"), 1);
    t.equal(await reads(), 1, "only the statement of the first request runs");
    first.abort();
    await t.rejects(running, { name: "AbortError" });
    await isFree();
    await eventually("its place is free", async () => (await load("running")) === 0);
  });

  await t.test("a read of Postgres is cancelled, and its connection is used again", async (t) => {
    const holder = await postgres.connect();
    const waits = (wanted: number) =>
      eventually(`${wanted} statements wait`, async () => (await postgresWaits(postgres)) === wanted);
    try {
      await holder.query("BEGIN");
      await holder.query(
        "LOCK TABLE tags, tag_labels, resources, identities, resource_versions, identity_versions, runs IN ACCESS EXCLUSIVE MODE",
      );
      const urls = ["tags?search=a", "resources", "identities", "inventory/summary", "pipeline/runs"].map(
        path,
      );
      const slow = urls.map((url) => fetch(hasty + url));
      await waits(urls.length);
      for (const [index, response] of (await Promise.all(slow)).entries())
        t.equal(response.status, 504, urls[index] ?? "");
      await waits(0);

      const gone = new AbortController();
      const abandoned = urls.map((url) => fetch(patient + url, { signal: gone.signal }));
      await waits(urls.length);
      gone.abort();
      for (const each of abandoned) await t.rejects(each, { name: "AbortError" });
      await waits(0);
      // There are more requests than connections in the pool, so a leaked connection would show.
      const many = Array.from({ length: 30 }, () => fetch(hasty + path("tags?search=a")));
      for (const response of await Promise.all(many)) t.equal(response.status, 504);
      await waits(0);
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
    t.equal((await fetch(hasty + path("tags?search=a"))).status, 200);
  });

  await t.test(
    "/health and light reads of Postgres respond while an aggregation uses both cores",
    async (t) => {
      await endless("SELECT number FROM system.numbers WHERE NOT ignore(sipHash128(number))");
      const gone = new AbortController();
      const heavy = fetch(patient + path("chargebacks/aggregate"), { signal: gone.signal }).catch(
        () => undefined,
      );
      await runs();
      for (let time = 0; time < HEALTHY; time += 1) {
        const response = await fetch(`${patient}/health`);
        if (response.status !== 200) t.fail(`/health: ${response.status}`);
        await response.arrayBuffer();
      }
      t.equal((await fetch(patient + path("tags"))).status, 200);
      t.equal((await fetch(patient + path("pipeline/status"))).status, 200);
      t.ok((await reads()) > 0, `it still runs, and /health has returned ${HEALTHY} times`);
      gone.abort();
      await heavy;
      await isFree();
    },
  );
});
