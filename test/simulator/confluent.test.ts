/** The simulated Confluent Cloud follows the vendor's contract, and each seed is one organisation. */
import t from "tap";
import { decimalText } from "../../src/common/exact-decimal.js";
import { lineTypes } from "../../src/simulator/confluent/line-types.js";
import { holds } from "../holds.js";
import { basic, clientOf, now, readCosts, simulated } from "./confluent-client.js";

const lists = (environment: string, provider: string) => [
  "/org/v2/organizations",
  "/org/v2/environments",
  `/cmk/v2/clusters?environment=${environment}`,
  `/srcm/v3/clusters?environment=${environment}`,
  `/ksqldbcm/v2/clusters?environment=${environment}`,
  `/fcpm/v2/compute-pools?environment=${environment}`,
  "/iam/v2/service-accounts",
  "/iam/v2/users",
  "/iam/v2/api-keys",
  "/iam/v2/identity-providers",
  `/iam/v2/identity-providers/${provider}/identity-pools`,
];

t.test(
  "every list has the vendor's envelope and rate limit headers, and returns 401 without the key",
  async (t) => {
    const { cloud, get, page } = await simulated(t);
    const { environments, providers, clusters } = cloud.organisation;
    for (const path of [
      ...lists(environments[0]?.id ?? "", providers[0]?.id ?? ""),
      readCosts("2026-03-01", "2026-03-02"),
    ]) {
      const { api_version, kind, metadata, data } = await page(path);
      t.match(path, new RegExp(`^/${api_version}/`));
      t.match(kind, /List$/);
      t.ok(metadata.first.startsWith(cloud.url), path);
      t.ok(data.length > 0, path);
      const headers = (await get(path)).headers;
      t.ok(Number(headers.get("x-ratelimit-reset")) <= 60, "the reset is in relative seconds");
      t.ok(headers.get("x-ratelimit-limit") && headers.get("x-ratelimit-remaining"));
      for (const authorization of ["", "Basic d3Jvbmc6a2V5", "Bearer token"]) {
        const refused = await clientOf(cloud, cloud.url, authorization).error(path);
        holds(t, refused, { http: 401, status: "401", code: "unauthorized" });
      }
    }
    const [cluster] = clusters;
    const connectors = `/connect/v1/environments/${cluster?.environment.id}/clusters/${cluster?.id}/connectors`;
    const { text } = await get(`${connectors}?expand=info,status,id`);
    const [[name, connector]] = Object.entries(JSON.parse(text)) as [[string, { info: { name: string } }]];
    t.equal(connector.info.name, name, "connectors are an object by name, without pages");
  },
);

t.test("the Flink API of a region requires its own key, and filters by pool", async (t) => {
  const { cloud, all } = await simulated(t);
  const { environments, id } = cloud.organisation;
  const pools = await all(`/fcpm/v2/compute-pools?environment=${environments[0]?.id}`);
  const path = `/sql/v1/organizations/${id}/environments/${environments[0]?.id}/statements`;
  for (const [region, server] of Object.entries(cloud.flink)) {
    const flink = clientOf(cloud, server.url, basic(server));
    const statements = await flink.all(`${path}?page_size=2`);
    const here = pools
      .filter(({ spec }) => Object.values(spec ?? {}).includes(region))
      .map((pool) => pool.id);
    const attached = statements.map(({ spec }) => (spec as { compute_pool_id: string }).compute_pool_id);
    t.strictSame([...new Set(attached)].sort(), here.sort(), region);
    t.equal((await flink.all(`${path}?spec.compute_pool_id=${here[0]}`)).length, 4);
    t.equal((await clientOf(cloud, server.url, basic(cloud.credentials)).error(path)).http, 401);
  }
  const names = cloud.organisation.pools.flatMap(({ statements }) => statements.map(({ name }) => name));
  t.ok(new Set(names).size < names.length, "statement names are reused");
});

t.test("page tokens contain the first request; pages have 10 items by default and at most 100", async (t) => {
  const { all, page, error } = await simulated(t);
  const keys = await all("/iam/v2/api-keys?page_size=100");
  t.ok(keys.length > 20);
  const first = await page("/iam/v2/api-keys");
  t.equal(first.data.length, 10);
  t.equal(first.metadata.total_size, keys.length);
  t.strictSame(await all("/iam/v2/api-keys?page_size=7"), keys, "the page size of the first request applies");
  const token = new URL(first.metadata.next ?? "").searchParams.get("page_token") ?? "";
  t.ok(token.length > 0 && token.length <= 255);
  t.equal((await page(`/iam/v2/api-keys?page_token=${token}&page_size=3`)).data.length, 10);
  for (const size of ["0", "101", "ten", "-1"]) {
    holds(t, await error(`/iam/v2/api-keys?page_size=${size}`), {
      http: 400,
      source: { parameter: "page_size" },
    });
  }
  for (const path of ["/iam/v2/api-keys?page_token=x", `/iam/v2/users?page_token=${token}`]) {
    holds(t, await error(path), { http: 400, code: "invalid_page_token" });
  }
});

t.test("unknown paths, methods and objects are rejected", async (t) => {
  const { cloud, error } = await simulated(t);
  holds(t, await error("/cmk/v2/clusters"), { http: 400, source: { parameter: "environment" } });
  holds(t, await error("/cmk/v2/clusters?environment=env-none"), { http: 404 });
  holds(t, await error("/iam/v3/users"), { http: 404, code: "not_found" });
  const without = cloud.organisation.clusters.find(({ hasConnect }) => !hasConnect);
  const path = `/connect/v1/environments/${without?.environment.id}/clusters/${without?.id}/connectors`;
  holds(t, await error(path), { http: 404 }, "a cluster without Connect");
  const posted = await fetch(`${cloud.url}/iam/v2/users`, {
    method: "POST",
    headers: { authorization: basic(cloud.credentials) },
  });
  t.equal(posted.status, 405);
});

t.test("costs include the start day, exclude the end day, and exclude today", async (t) => {
  const { all, cloud } = await simulated(t);
  const daysOf = async (start: string, end: string) =>
    [...new Set((await all(readCosts(start, end))).map(({ start_date: day }) => day))].sort();
  t.strictSame(await daysOf("2026-03-04", "2026-03-06"), ["2026-03-04", "2026-03-05"]);
  t.strictSame(await daysOf("2026-03-09", "2026-03-11"), ["2026-03-09"], "today is not billed yet");
  t.strictSame(await daysOf("2026-01-20", "2026-02-10"), ["2026-02-08", "2026-02-09"], "30 days of history");
  const rows = await all(readCosts("2026-03-04", "2026-03-06", "&page_size=17"));
  const wanted = ["2026-03-04", "2026-03-05"].flatMap((day) => cloud.bill.rows(day).map(({ id }) => id));
  t.strictSame(
    rows.map(({ id }) => id).sort(),
    wanted.sort(),
    "each row is returned once, whatever the page size is",
  );
});

t.test("costs of invalid windows are rejected", async (t) => {
  const { error, page } = await simulated(t);
  const refused: readonly (readonly [string, string])[] = [
    ["/billing/v1/costs?end_date=2026-03-02", "start_date"],
    ["/billing/v1/costs?start_date=2026-03-02", "end_date"],
    [readCosts("2026-03-02", "2026-03-02"), "end_date"],
    [readCosts("2026-02-30", "2026-03-02"), "start_date"],
    [readCosts("2026-3-1", "2026-03-02"), "start_date"],
    [readCosts("2026-02-01", "2026-03-02"), "end_date"],
    [readCosts("2025-03-09", "2025-03-20"), "start_date"],
    [readCosts("2026-03-01", "2026-03-02", "&page_size=10001"), "page_size"],
  ];
  for (const [path, parameter] of refused)
    holds(t, await error(path), { http: 400, source: { parameter } }, path);
  for (const [start, end] of [
    ["2026-02-01", "2026-03-01"],
    ["2026-01-31", "2026-02-28"],
    ["2025-03-10", "2025-04-10"],
  ] as const) {
    t.ok(await page(readCosts(start, end)), `${start} to ${end}`);
  }
});

t.test(
  "the bill has all line types, tiers, refunds, credits without a resource, and numbers as text",
  async (t) => {
    const { all, cloud } = await simulated(t);
    const rows = await all(readCosts("2026-02-10", "2026-03-10"));
    t.strictSame([...new Set(rows.map((row) => row.line_type))].sort(), Object.keys(lineTypes).sort());
    t.equal(Object.keys(lineTypes).length, 29);
    t.ok(rows.some((row) => row.tier_dimensions && row.line_type === "NUM_RULES"));
    t.ok(
      rows.some((row) => row.line_type === "KAFKA_NETWORK_WRITE" && Number(row.amount) < 0),
      "a refund",
    );
    const credits = rows.filter((row) => row.line_type === "PROMO_CREDIT");
    t.ok(
      credits.some((row) => !("resource" in row) && !("unit" in row)) && credits.some((row) => row.resource),
    );
    t.ok(rows.some((row) => row.resource === null));
    t.ok(
      rows.some((row) => typeof row.amount === "string") &&
        rows.some((row) => typeof row.amount === "number"),
    );
    t.equal(new Set(rows.map((row) => row.id)).size, rows.length);
    for (const { charge, original, discount, amount } of cloud.bill.rows("2026-03-01")) {
      t.equal(amount, original - discount, charge.lineType);
    }
    t.equal(decimalText(-12_500n, 3), "-12.5");
    t.equal(decimalText(5n, 12), "0.000000000005");
  },
);

t.test("each window has its rows in another order", async (t) => {
  const { all } = await simulated(t);
  const orders = await Promise.all(
    ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"].map(async (start) =>
      (await all(readCosts(start, "2026-03-06")))
        .filter(({ start_date: day }) => day === "2026-03-05")
        .map(({ id }) => id),
    ),
  );
  t.equal(new Set(orders.map((order) => order.join())).size, orders.length);
  t.equal(new Set(orders.map((order) => order.sort().join())).size, 1);
});

t.test("the same seed produces the same organisation, another seed another one", async (t) => {
  const described = async (seed: number) => {
    const { all, cloud } = await simulated(t, { seed });
    const environment = cloud.organisation.environments[0]?.id;
    return Promise.all([
      all("/iam/v2/api-keys?page_size=100"),
      all(`/cmk/v2/clusters?environment=${environment}`),
      all(readCosts("2026-03-01", "2026-03-04")),
    ]);
  };
  const [first, second, other] = await Promise.all([described(7), described(7), described(8)]);
  t.strictSame(first, second);
  t.notSame(first, other);
});

t.test("objects that were deleted within the history are on the bill, but not in lists", async (t) => {
  const { all, cloud } = await simulated(t);
  const { clusters, start } = cloud.organisation;
  const gone = clusters.filter(({ deleted }) => deleted !== undefined);
  const young = clusters.filter(({ created }) => created > start);
  t.ok(gone.length > 0 && young.length > 0);
  const rows = await all(readCosts("2026-02-10", "2026-03-10"));
  for (const { id, environment } of gone) {
    t.ok(
      rows.some(({ resource }) => (resource as { id: string } | undefined)?.id === id),
      "billed",
    );
    const listed = await all(`/cmk/v2/clusters?environment=${environment.id}`);
    t.notOk(listed.some((cluster) => cluster.id === id));
  }
  const [deleted] = clusters;
  cloud.setGone([deleted?.id ?? ""]);
  const left = await all(`/cmk/v2/clusters?environment=${deleted?.environment.id}`);
  t.notOk(left.some((cluster) => cluster.id === deleted?.id));
});

t.test("the largest organisation has 5,000 lines a day and 2,000 identities on 200 days", async (t) => {
  const { all, cloud, page } = await simulated(t, { size: "huge", days: 200 });
  const { identities } = cloud.organisation;
  t.equal(identities.length, 2000);
  const rows = await all(readCosts("2026-03-06", "2026-03-09", "&page_size=10000"));
  t.ok(rows.length > 3 * 4750 && rows.length < 3 * 5500, `${rows.length / 3} lines a day`);
  t.ok(
    (await page(readCosts("2025-08-23", "2025-08-24"))).data.length > 4000,
    "the first day is complete, too",
  );
});

t.test("metrics of a minute add up to the hour, by principals and topics of clusters", async (t) => {
  const { cloud } = await simulated(t);
  const runQuery = async (query: string) => {
    const form = new URLSearchParams({ query, start: "1772330400", end: "1772413200", step: "3600" });
    const response = await fetch(`${cloud.metrics.url}/api/v1/query_range`, { method: "POST", body: form });
    const { data } = (await response.json()) as {
      data: { result: { metric: Record<string, string>; values: [number, string][] }[] };
    };
    return data.result;
  };
  const [one, two] = cloud.organisation.clusters;
  const moved = "confluent_kafka_server_request_bytes";
  const both = await runQuery(
    `sum by (kafka_id, principal_id) (sum_over_time(${moved}{kafka_id=~"${one?.id}|${two?.id}"}[3600s]))`,
  );
  t.strictSame(new Set(both.map(({ metric }) => metric.kafka_id)), new Set([one?.id, two?.id]));
  const principals = both.map(({ metric }) => metric.principal_id ?? "");
  t.ok(principals.some((id) => id.startsWith("KEY")) && principals.some((id) => id.startsWith("sa-")));
  t.ok(principals.some((id) => id.startsWith("u-")));
  const [minute] = await runQuery(`${moved}{kafka_id="${one?.id}",type="Produce"}`);
  const [hour] = await runQuery(`sum_over_time(${moved}{kafka_id="${one?.id}",type="Produce"}[1h])`);
  t.equal(Number(minute?.values[0]?.[1]), Math.floor(Number(hour?.values[0]?.[1]) / 60));
  const retained = await runQuery(
    `avg by (topic) (avg_over_time(confluent_kafka_server_retained_bytes{kafka_id="${one?.id}"}[1h]))`,
  );
  t.strictSame(retained.map(({ metric }) => metric.topic).sort(), [...(one?.topics ?? [])].sort());
  const cfu = await runQuery(
    "sum by (compute_pool_id, flink_statement_uid) (sum_over_time(confluent_flink_num_cfu[1h]))",
  );
  const used = "confluent_flink_statement_utilization_cfu_minutes_consumed";
  const minutes = await runQuery(
    `sum by (compute_pool_id, flink_statement_name) (sum_over_time(${used}[1h]))`,
  );
  t.ok(cfu.length > 0 && cfu.every(({ values }) => Number(values[0]?.[1]) % 60 === 0), "CFU-minutes");
  const pools = (result: typeof cfu) => new Set(result.map(({ metric }) => metric.compute_pool_id));
  t.ok(pools(minutes).size > pools(cfu).size, "some pools have only the older metric");
});

t.test("the simulator uses the caller's clock", async (t) => {
  const { cloud } = await simulated(t);
  t.equal(cloud.organisation.end, Date.parse("2026-03-10T00:00:00Z"));
  t.ok(cloud.organisation.end < now());
});
