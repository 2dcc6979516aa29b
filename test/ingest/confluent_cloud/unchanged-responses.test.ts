/** Checks whether the upstream's responses are unchanged, so that a window need not be read again. */
import t, { type Test } from "tap";
import type { GatheredResponses, Gatherer } from "../../../src/ingest/ecosystem.js";
import {
  readDigest,
  readEnvelope,
} from "../../../src/ingest/ecosystems/confluent_cloud/api/read-response.js";
import { knownDigest } from "../../../src/ingest/ecosystems/confluent_cloud/responses.js";
import type { KnownInventory } from "../../../src/ingest/known.js";
import { forever } from "../generic_metrics_only/tenant.js";
import { recordingSink } from "../recording-sink.js";
import { startBill, testCostRow } from "./bill.js";
import { knownAccount, knownConnector, knownKey, knownOf } from "./known.js";
import { type MinuteSeries, startMetrics } from "./metrics.js";
import { connectConfluentTenant } from "./tenant.js";

const window = { start: "2026-03-01", end: "2026-03-04" };
const rows = ["2026-03-01", "2026-03-02", "2026-03-03"].flatMap((day) => [
  testCostRow(day, { line_type: "KAFKA_NETWORK_WRITE" }),
  testCostRow(day, { id: "c-2", line_type: "KAFKA_STORAGE" }),
]);

const bytes = (samples: MinuteSeries["samples"]): MinuteSeries => ({
  name: "confluent_kafka_server_request_bytes",
  labels: { kafka_id: "lkc-aa11", principal_id: "sa-1" },
  samples,
});

async function started(t: Test) {
  const bill = await startBill(t, { rows, pageSize: 2 });
  const metrics = await startMetrics(t, [bytes({ "2026-03-01T05:30:00Z": 7 })]);
  let known = knownOf([knownAccount("sa-1")]);
  const connect = (days_per_query = 10) =>
    connectConfluentTenant(t, bill.url, {
      settings: { billing_api: { days_per_query }, metrics: { type: "prometheus", url: metrics.url } },
      context: { known: async () => known },
    });
  const { responses: allResponses } = await connect().gatherWindow(window, recordingSink(), forever);
  if (allResponses === undefined) throw new Error("the gathering lacked something");
  // The same text as after storing it.
  const kept: GatheredResponses = { ofWindow: JSON.parse(JSON.stringify(allResponses)), ofTopics: undefined };
  return {
    bill,
    metrics,
    connect,
    know: (next: KnownInventory) => {
      known = next;
    },
    same: async (gatherer: Gatherer = connect()) => gatherer.isUnchanged?.(window, kept, forever),
  };
}

t.test("unchanged responses are requested once each, and the window is unchanged", async (t) => {
  const { bill, metrics, same } = await started(t);
  const [pages, queries] = [bill.requested.length, metrics.queries.length];
  t.ok(pages === 3 && queries > 0);
  t.equal(await same(), true);
  t.same([bill.requested.length, metrics.queries.length], [2 * pages, 2 * queries]);
});

t.test("one row that differs is a difference, and nothing is requested after it", async (t) => {
  const { bill, same } = await started(t);
  const requested = bill.requested.length;
  for (const changed of [
    [{ ...rows[0], amount: 3 }, ...rows.slice(1)],
    [rows[1], rows[0], ...rows.slice(2)],
  ]) {
    bill.setRows(changed.filter((row) => row !== undefined));
    t.equal(await same(), false);
  }
  t.equal(bill.requested.length, requested + 2);
  bill.setRows(rows.slice(0, -1));
  t.equal(await same(), false, "a row is missing");
  bill.setRows(rows.slice(0, 4));
  t.equal(await same(), false, "a page is missing");
  bill.setRows([...rows, testCostRow("2026-03-03", { id: "c-3" })]);
  t.equal(await same(), false, "there is one page more");
  bill.setRows(rows);
  t.equal(await same(), true);
});

t.test("a different sample, a failure, other queries and another inventory are differences", async (t) => {
  const { bill, metrics, connect, know, same } = await started(t);
  const { series } = metrics;
  metrics.series = [bytes({ "2026-03-01T05:30:00Z": 7, "2026-03-02T05:30:00Z": 1 })];
  t.equal(await same(), false);
  metrics.series = series;
  t.equal(await same(), true);

  const requested = bill.requested.length;
  bill.setInstead((_query, _request, response) => {
    response.writeHead(503).end("{}");
    return true;
  });
  t.equal(await same(), false);
  t.equal(bill.requested.length, requested + 1, "the check sends one request, and does not retry");
  bill.setInstead(() => false);

  t.equal(await same(connect(2)), false, "the bill is read by other queries");
  know(knownOf([knownAccount("sa-1"), knownAccount("sa-2")]));
  t.equal(await same(), false, "an identity may have existed that did not before");
  know(knownOf([knownAccount("sa-1")]));
  t.equal(await same(), true);
});

t.test("a gathering with missing data records no responses to compare", async (t) => {
  const { bill, connect } = await started(t);
  bill.setInstead((query, _request, response) => {
    if (query.get("start_date") !== "2026-03-02") return false;
    response.writeHead(500).end("{}");
    return true;
  });
  const report = await connect(1).gatherWindow(window, recordingSink(), forever);
  t.equal(report.errors.length, 1);
  t.equal(report.responses, undefined);
});

t.test("a request that failed is unchanged while it fails, and is sent once", async (t) => {
  const { metrics, connect } = await started(t);
  const gathered = async () => {
    const { responses: allResponses, failures } = await connect().gatherWindow(
      window,
      recordingSink(),
      forever,
    );
    const kept: GatheredResponses = {
      ofWindow: JSON.parse(JSON.stringify(allResponses)),
      ofTopics: undefined,
    };
    const same = async () => await connect().isUnchanged?.(window, kept, forever);
    return { failures, same };
  };
  metrics.failing.push({ day: "2026-03-02", match: "request_bytes", status: 422 });
  const { failures, same } = await gathered();
  t.equal(failures, 1, "one metric fails on one day");
  metrics.queries.length = 0;
  t.equal(await same(), true);
  t.equal(metrics.queries.length, 4, "the check queries the day, its neighbours and the other metric");
  metrics.failing.push({ match: "response_bytes", status: 422 });
  t.equal(await same(), false, "another metric fails");
  metrics.failing.pop();
  metrics.failing.length = 0;
  t.equal(await same(), false, "the query succeeds again");

  metrics.failing.push({ match: "_bytes", status: 422 });
  const all = await gathered();
  t.equal(await all.same(), true);
  t.equal(all.failures, 6, "two metrics fail on three days each");
  metrics.failing.length = 0;
  t.equal(await all.same(), false);

  metrics.failing.push({ match: "request_bytes", status: 401 });
  const hopeless = await gathered();
  t.equal(hopeless.failures, 1, "the whole query fails");
  t.equal(await hopeless.same(), true);
  metrics.failing.length = 0;
  t.equal(await hopeless.same(), false);
});

t.test("entities that are created or deleted after a window do not change it", async (t) => {
  const base = [knownAccount("sa-1"), knownKey("K1", "sa-1", "lkc-1")];
  const digest = (...identities: Parameters<typeof knownOf>) => knownDigest(knownOf(...identities), window);
  const before = digest(base);
  t.equal(digest([...base, knownAccount("sa-9", { created: "2026-03-04T00:00:00Z" })]), before);
  t.equal(digest([knownAccount("sa-1", { deleted: "2026-03-04T00:00:00Z" }), ...base.slice(1)]), before);
  t.not(digest([...base, knownAccount("sa-9", { created: "2026-03-03T23:59:59Z" })]), before);
  t.not(digest([knownAccount("sa-1", { deleted: "2026-03-03T23:59:59Z" }), ...base.slice(1)]), before);
  t.not(digest([base[0] ?? knownAccount("sa-1"), knownKey("K1", "sa-2", "lkc-1")]), before);
  const connectors = [knownConnector("lcc-1", { kafka_auth_mode: "KAFKA_API_KEY", kafka_api_key: "K9" })];
  const late = knownKey("K9", "sa-1", null, { created: "2026-03-10T00:00:00Z" });
  t.not(
    digest([...base, late], connectors),
    digest(base, connectors),
    "a key changes the owner of a connector",
  );
});

t.test("a page is identified by its items, whatever surrounds them", async (t) => {
  const sealed = (text: string) => readDigest(Buffer.from(text));
  const items = '{"id":"a","note":"x\\"data\\":[y"},{"ids":[1,[2]],"metadata":{"next":"no"}}';
  const page = (before: string, after: string) => sealed(`{${before}"data":[${items}]${after}}`);
  const { digest } = page("", "");
  t.same(page('"metadata":{"next":"http://x/?page_token=2"},', ""), {
    digest,
    isEmpty: false,
    next: "http://x/?page_token=2",
  });
  t.same(page("", ',"kind":"CostList","metadata":{"next":"n"}'), { digest, isEmpty: false, next: "n" });
  t.not(sealed(`{"data":[${items.replace("[2]", "[3]")}]}`).digest, digest);

  for (const unusual of [
    `{ "data" : [${items}], "metadata": {"next": "n"} }`,
    `{"metadata":{"data":[1],"next":"n"},"data":[${items}]}`,
    `{"data":[${items}],"metadata":{"next":"n","more":[1]}}`,
  ]) {
    const found = sealed(unusual);
    t.equal(found.next, readEnvelope(unusual).next, unusual.slice(0, 30));
    t.not(found.digest, sealed(unusual.replace("[2]", "[3]")).digest, "a page with other items is different");
  }
  for (const empty of ['{"data":[]}', '{"data":[ ]}', '{ "data": [], "metadata":{} }'])
    t.ok(sealed(empty).isEmpty);
  t.throws(() => sealed('{"data":null}'), { code: "bad_body" });
  t.throws(() => sealed('{"data":[1,'), { code: "bad_body" });
  t.throws(() => sealed('{"errors":[]}'), { code: "bad_body" });
});
