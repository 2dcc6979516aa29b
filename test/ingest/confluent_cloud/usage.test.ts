/** Usage of a Confluent Cloud tenant: from the vendor's minutes in a Prometheus to hourly facts of owners. */
import t, { type Test } from "tap";
import { collectBilled } from "../../../src/ingest/ecosystems/confluent_cloud/billed.js";
import type { ProductFamily } from "../../../src/ingest/ecosystems/confluent_cloud/costs/product-types.js";
import { gatherConfluentUsage } from "../../../src/ingest/ecosystems/confluent_cloud/usage.js";
import type { KnownInventory } from "../../../src/ingest/known.js";
import { holds } from "../../holds.js";
import { forever } from "../generic_metrics_only/tenant.js";
import { recordingSink } from "../recording-sink.js";
import { knownAccount, knownKey, knownOf, knownResource, knownStatement } from "./known.js";
import { type Metrics, type MinuteSeries, startMetrics } from "./metrics.js";

const window = { start: "2026-01-01", end: "2026-01-04" };
const [ONE, TWO, THREE] = ["2026-01-01", "2026-01-02", "2026-01-03"] as const;

type Billed = readonly (readonly [day: string, family: ProductFamily, resource: string])[];

interface Case {
  readonly billed: Billed;
  readonly known?: KnownInventory;
  readonly largestAnswerBytes?: number;
}

async function gather(
  metrics: Metrics | undefined,
  { billed, known = knownOf([]), largestAnswerBytes }: Case,
) {
  const collector = collectBilled();
  for (const entry of billed) collector.add(...entry);
  const sink = recordingSink();
  const connection = { prometheus: metrics?.source(largestAnswerBytes) };
  const settings = { metrics_step_seconds: 3600 };
  const report = await gatherConfluentUsage(
    { settings, connection, billed: collector.billed, window, known, parallelQueries: 4 },
    sink,
    forever,
  );
  const { usage, usageGaps } = sink.recorded;
  const facts = usage
    .map(
      (f) =>
        `${f.metric} ${f.timestamp.slice(5, 13)} ${f.resource_id} ${f.identity_id} ${Number(f.micro_units) / 1e6}`,
    )
    .sort();
  return { report, facts, gaps: usageGaps.map(({ metric, day }) => `${metric} ${day}`).sort() };
}

const bytesIn = (
  principal_id: string,
  samples: MinuteSeries["samples"],
  kafka_id = "lkc-1",
): MinuteSeries => ({
  name: "confluent_kafka_server_request_bytes",
  labels: { kafka_id, ...(principal_id === "" ? {} : { principal_id }), type: "Produce" },
  samples,
});

const cfu = (
  labels: MinuteSeries["labels"],
  samples: MinuteSeries["samples"],
  name = "confluent_flink_num_cfu",
) => ({
  name,
  labels: { compute_pool_id: "lfcp-1", ...labels },
  samples,
});

const written = (day: string, resource = "lkc-1") => [day, "kafka_network_write", resource] as const;

t.test("each hour is the sum of all its minutes, and midnight belongs to the day that ends", async (t) => {
  const metrics = await startMetrics(t, [
    bytesIn("sa-bursty", { "2026-01-01T05:07:00Z": 200, "2026-01-01T05:08:00Z": 0 }),
    bytesIn("sa-steady", {
      "2026-01-01T00:00:00Z": 7,
      "2026-01-01T00:01:00Z": 1,
      "2026-01-02T00:00:00Z": 3.5,
    }),
    bytesIn("sa-steady", { "2026-01-01T00:30:00Z": 2 }),
  ]);
  const { facts, gaps, report } = await gather(metrics, { billed: [written(ONE)] });
  t.same(facts, [
    "bytes_in 01-01T00 lkc-1 sa-steady 3",
    "bytes_in 01-01T05 lkc-1 sa-bursty 200",
    "bytes_in 01-01T23 lkc-1 sa-steady 3.5",
  ]);
  t.same(gaps, []);
  holds(t, report, { dropped: {}, errors: [] });
});

t.test("usage of a key is that of its owner, and usage without an owner is UNALLOCATED", async (t) => {
  const samples = { "2026-01-01T05:07:00Z": 1 };
  const principals = ["KEY1", "sa-1", "KEY2", "KEYGONE", "sa-unheard", "User:u-3", "op-1", "pool-7", ""];
  const metrics = await startMetrics(
    t,
    principals.map((id) => bytesIn(id, samples)),
  );
  const known = knownOf([
    knownAccount("sa-1"),
    knownKey("KEY1", "sa-1", "lkc-1"),
    knownKey("KEY2", null, "lkc-1"),
    { ...knownAccount("op-1"), identity_type: "identity_provider" },
  ]);
  const { facts, report } = await gather(metrics, { billed: [written(ONE)], known });
  t.same(facts, [
    "bytes_in 01-01T05 lkc-1 UNALLOCATED 1",
    "bytes_in 01-01T05 lkc-1 UNALLOCATED 3",
    "bytes_in 01-01T05 lkc-1 pool-7 1",
    "bytes_in 01-01T05 lkc-1 sa-1 2",
    "bytes_in 01-01T05 lkc-1 sa-unheard 1",
    "bytes_in 01-01T05 lkc-1 u-3 1",
  ]);
  t.strictSame(report.dropped, {}, "bytes of a series without a principal are UNALLOCATED");
});

t.test("a sample of 0 shows an active identity once a day, and NaN shows nothing", async (t) => {
  const metrics = await startMetrics(t, [
    bytesIn("sa-idle", { "2026-01-01T05:00:00Z": 0, "2026-01-01T09:00:00Z": 0, "2026-01-02T09:00:00Z": 0 }),
    bytesIn("sa-later", { "2026-01-01T05:00:00Z": 0, "2026-01-01T09:00:00Z": 1 }),
    bytesIn("sa-broken", { "2026-01-01T05:00:00Z": "NaN" }),
  ]);
  const wanted = ["bytes_in 01-01T00 lkc-1 sa-idle 0", "bytes_in 01-01T08 lkc-1 sa-later 1"];
  const { facts, report } = await gather(metrics, { billed: [written(ONE)] });
  t.same(facts, wanted);
  t.same(report.dropped, { not_finite: 1 });
  const pieces = await gather(metrics, { billed: [written(ONE)], largestAnswerBytes: 500 });
  t.same(pieces.facts, wanted, "facts do not depend on the size of the pieces");
  t.ok(metrics.queries.length > 3, "the queries were cut into pieces");
});

t.test("only billed resources are queried, day by day", async (t) => {
  const samples = { "2026-01-01T05:07:00Z": 1, "2026-01-02T05:07:00Z": 2, "2026-01-03T05:07:00Z": 3 };
  const odd = 'lkc-"}]) or\\|.*ü';
  const metrics = await startMetrics(t, [
    ...["lkc-1", "lkc-2", "lkc-3", odd].map((id) => bytesIn("sa-1", samples, id)),
  ]);
  const { facts } = await gather(metrics, {
    billed: [written(ONE), written(TWO, "lkc-2"), written(TWO, odd), [THREE, "schema_registry", "lkc-1"]],
  });
  t.same(facts, [
    `bytes_in 01-01T05 lkc-1 sa-1 1`,
    `bytes_in 01-02T05 ${odd} sa-1 2`,
    `bytes_in 01-02T05 lkc-2 sa-1 2`,
  ]);
  t.equal(metrics.queries.length, 2, "each metric has one query");
  t.equal((await gather(metrics, { billed: [[ONE, "org_wide", "no-resource"]] })).facts.length, 0);
  t.equal(metrics.queries.length, 2, "resources without usage are not queried");
  const many = Array.from({ length: 250 }, (_, i) => written(ONE, `lkc-${i + 1}`));
  t.equal((await gather(metrics, { billed: many })).facts.length, 3);
  t.equal(metrics.queries.length, 2 + 2 * 3);
});

const statements = knownOf(
  [],
  [
    knownStatement("uid-a", "sa-a", { compute_pool_id: "lfcp-1", statement_name: "a" }),
    knownStatement("uid-b", "sa-b", { compute_pool_id: "lfcp-1", statement_name: "b" }),
    knownStatement(
      "uid-old",
      "sa-old",
      { compute_pool_id: "lfcp-1", statement_name: "again" },
      { deleted: "2026-01-01T12:00:00Z" },
    ),
    knownStatement(
      "uid-new",
      "sa-new",
      { compute_pool_id: "lfcp-1", statement_name: "again" },
      { created: "2026-01-01T12:00:00Z" },
    ),
    knownStatement("uid-other", "sa-other", { compute_pool_id: "lfcp-2", statement_name: "elsewhere" }),
    knownStatement("uid-orphan", null, { compute_pool_id: "lfcp-1", statement_name: "orphan" }),
    knownResource("lfcp-1", "flink_compute_pool"),
  ],
);
const pool = (day: string, id = "lfcp-1") => [day, "flink", id] as const;

t.test(
  "CFUs belong to the statement's owner, found by its id, or by its name in its pool at that time",
  async (t) => {
    const metrics = await startMetrics(t, [
      cfu({ flink_statement_uid: "uid-a", flink_statement_name: "b" }, { "2026-01-01T05:07:00Z": 1 }),
      cfu({ flink_statement_name: "b" }, { "2026-01-01T05:07:00Z": 2, "2026-01-01T05:08:00Z": 2 }),
      cfu({ flink_statement_name: "again" }, { "2026-01-01T05:07:00Z": 8, "2026-01-01T15:07:00Z": 16 }),
      cfu({ flink_statement_name: "elsewhere" }, { "2026-01-01T05:07:00Z": 32 }),
      cfu({ flink_statement_name: "orphan" }, { "2026-01-01T05:07:00Z": 64 }),
      cfu({ flink_statement_name: "a" }, { "2026-01-01T06:07:00Z": 0 }),
      cfu({}, { "2026-01-01T06:07:00Z": 1 }),
    ]);
    const { facts, report } = await gather(metrics, { billed: [pool(ONE)], known: statements });
    t.same(facts, [
      "flink_cfu 01-01T05 lfcp-1 UNALLOCATED 96",
      "flink_cfu 01-01T05 lfcp-1 sa-a 1",
      "flink_cfu 01-01T05 lfcp-1 sa-b 4",
      "flink_cfu 01-01T05 lfcp-1 sa-old 8",
      "flink_cfu 01-01T06 lfcp-1 UNALLOCATED 1",
      "flink_cfu 01-01T15 lfcp-1 sa-new 16",
    ]);
    t.strictSame(
      report.dropped,
      {},
      "CFUs of a series without a statement are UNALLOCATED, and do not change those of others",
    );
    t.equal(metrics.queries.length, 1, "the second metric is not queried if the first has all data");
  },
);

t.test(
  "the second metric, and then running statements, stand in only where nothing was measured",
  async (t) => {
    const FALLBACK = "confluent_flink_statement_utilization_cfu_minutes_consumed";
    const metrics = await startMetrics(t, [
      cfu({ flink_statement_name: "a" }, { "2026-01-01T05:07:00Z": 1 }),
      cfu({ flink_statement_name: "b" }, { "2026-01-01T05:07:00Z": 9, "2026-01-02T05:07:00Z": 9 }, FALLBACK),
    ]);
    const known = knownOf(
      [],
      [
        ...statements.resources,
        knownStatement("uid-a2", "sa-a", { compute_pool_id: "lfcp-1" }),
        knownStatement("uid-c", "sa-c", {
          compute_pool_id: "lfcp-1",
          is_stopped: true,
          stopped_at: "2026-01-02T23:00:00.000Z",
        }),
        knownStatement("uid-d", "sa-d", {
          compute_pool_id: "lfcp-1",
          is_stopped: true,
          stopped_at: "2026-01-03T01:00:00.000Z",
        }),
        knownStatement("uid-e", "sa-e", { compute_pool_id: "lfcp-1", is_stopped: true, stopped_at: null }),
      ],
    );
    const billed = [pool(ONE), pool(TWO), pool(THREE), pool(THREE, "lfcp-9")];
    const { facts } = await gather(metrics, { billed, known });
    t.same(facts, [
      "flink_cfu 01-01T05 lfcp-1 sa-a 1",
      "flink_cfu_minutes 01-02T05 lfcp-1 sa-b 9",
      "flink_statements 01-03T00 lfcp-1 UNALLOCATED 1",
      "flink_statements 01-03T00 lfcp-1 sa-a 2",
      "flink_statements 01-03T00 lfcp-1 sa-b 1",
      "flink_statements 01-03T00 lfcp-1 sa-d 1",
      "flink_statements 01-03T00 lfcp-1 sa-new 1",
    ]);
    const unmeasured = await gather(undefined, { billed: [pool(THREE)], known });
    t.same(unmeasured.facts, facts.slice(2), "statements are used without a Prometheus as well");
  },
);

t.test("a failure is a gap of its metric and of the billed days", async (t) => {
  const metrics = await startMetrics(t, [
    bytesIn("sa-1", { "2026-01-01T05:07:00Z": 1, "2026-01-02T05:07:00Z": 1, "2026-01-03T05:07:00Z": 1 }),
  ]);
  const billed = [written(ONE), written(TWO), pool(THREE)];
  metrics.failing.push({ match: "request_bytes", day: TWO, status: 503 });
  const outage = await gather(metrics, { billed });
  t.same(outage.gaps, ["bytes_in 2026-01-02"]);
  t.same(outage.facts, ["bytes_in 01-01T05 lkc-1 sa-1 1"]);
  t.same(outage.report.errors, []);
  metrics.failing.push({ match: "", status: 401 });
  const refused = await gather(metrics, { billed, known: statements });
  t.same(refused.gaps, [
    "bytes_in 2026-01-01",
    "bytes_in 2026-01-02",
    "bytes_out 2026-01-01",
    "bytes_out 2026-01-02",
    "flink_cfu 2026-01-03",
    "flink_cfu_minutes 2026-01-03",
  ]);
  t.equal(refused.facts.length, 4, "running statements are used until then");
});

t.test("a sink that fails ends the gathering with its error", async (t: Test) => {
  const metrics = await startMetrics(t, [bytesIn("sa-1", { "2026-01-01T05:07:00Z": 1 })]);
  const collector = collectBilled();
  collector.add(...written(ONE));
  const gathering = gatherConfluentUsage(
    {
      settings: { metrics_step_seconds: 3600 },
      connection: { prometheus: metrics.source() },
      billed: collector.billed,
      window,
      known: knownOf([]),
      parallelQueries: 1,
    },
    {
      usage: async () => undefined,
      usageSeries: async () => {
        throw new Error("the store is away");
      },
      usageGaps: async () => undefined,
    },
    forever,
  );
  await t.rejects(gathering, { message: "the store is away" });
});
