/**
 * Aggregates on the engine, compared with sums made by hand, with luxon's calendar, and with the statement that
 * computes all buckets.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { DateTime } from "luxon";
import t from "tap";
import { readTuples } from "../../src/clickhouse/statement.js";
import { aggregateBuckets, readAggregate } from "../../src/query/chargebacks/aggregate.js";
import { type Aggregate, type StoredBucket, totalsOf } from "../../src/query/chargebacks/aggregate-result.js";
import { readBucketLimit } from "../../src/query/chargebacks/bucket-limit.js";
import type { AggregateInput } from "../../src/query/chargebacks/summed-rows.js";
import { type TimeBucket, timeBuckets } from "../../src/query/time/bucket.js";
import { dateWindow } from "../../src/query/time/date-window.js";
import { holds } from "../holds.js";
import { insertChargebacks, startService } from "../http/service.js";
import fc from "../property.js";
import { sumUp } from "../sum-up.js";

const zones = [
  "UTC",
  "America/Denver",
  "Europe/Berlin",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "America/St_Johns",
  "Pacific/Kiritimati",
  "Africa/Casablanca",
  "Atlantic/Azores",
];

/** The label of a bucket, computed by luxon. */
function label(timestamp: number, bucket: TimeBucket, zone: string): string {
  const at = DateTime.fromSeconds(timestamp, { zone });
  if (bucket === "day") return at.toFormat("yyyy-MM-dd");
  if (bucket === "month") return at.toFormat("yyyy-MM");
  if (bucket === "week") return at.toFormat("kkkk-'W'WW");
  const hour = at.startOf("hour");
  return hour.toFormat(zone === "UTC" ? "yyyy-MM-dd'T'HH:mm:ss'Z'" : "yyyy-MM-dd'T'HH:mm:ssZZ");
}

t.test("aggregates run on the engine", async (t) => {
  const { stores } = await startService(t);
  const { client } = await stores.tenant("acme");
  const send = (
    input: Partial<AggregateInput>,
    dates = { start_date: "2025-01-01", end_date: "2026-12-31" },
    timezone = "UTC",
  ) => ({
    window: dateWindow({ ...dates, timezone }, 30, new Date()),
    filters: {},
    groupBy: ["identity_id" as const],
    timeBucket: "day" as const,
    ...input,
  });

  await t.test(
    "each row is in the bucket of its zone's calendar, also on days on which clocks change",
    async (t) => {
      // Instants around clock changes, the new year and month ends, a quarter of an hour apart.
      const around = [
        "2025-03-09T09:00Z",
        "2025-03-30T01:00Z",
        "2025-10-26T01:00Z",
        "2025-11-02T08:00Z",
        "2025-10-04T15:30Z",
        "2025-10-26T00:30Z",
        "2024-12-30T00:00Z",
        "2026-01-01T00:00Z",
        "2025-02-28T23:00Z",
      ];
      const instant = fc
        .tuple(fc.constantFrom(...around), fc.integer({ min: -200, max: 200 }))
        .map(([start, quarters]) => DateTime.fromISO(start).toUnixInteger() + quarters * 900);
      const row = fc.record({
        instant,
        ticks: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
        identity: fc.constantFrom("a", "b"),
        shared: fc.boolean(),
      });
      // One half hour is skipped and another one repeats: every quarter of an hour around both changes.
      const halfHours = ["2025-10-04T15:30Z", "2025-04-05T15:00Z"].map((change) =>
        [-4, -3, -2, -1, 0, 1, 2, 3, 4].map((quarter) => ({
          instant: DateTime.fromISO(change).toUnixInteger() + quarter * 900,
          ticks: 1n,
          identity: "a",
          shared: false,
        })),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { minLength: 1, maxLength: 60 }),
          fc.constantFrom(...zones),
          fc.constantFrom(...timeBuckets),
          async (rows, zone, timeBucket) => {
            await client.command({ query: "TRUNCATE TABLE chargebacks" });
            await insertChargebacks(
              stores,
              "acme",
              rows.map(({ instant, ticks, identity, shared }) => ({
                timestamp: new Date(instant * 1000).toISOString(),
                amount: decimal(ticks),
                identity_id: identity,
                cost_type: shared ? "shared" : "usage",
              })),
            );
            const found = await readAggregate(
              client,
              send({ timeBucket }, { start_date: "2024-01-01", end_date: "2026-12-31" }, zone),
            );
            const sums = new Map<string, { total: bigint; usage: bigint; rows: number }>();
            for (const { instant, ticks, identity, shared } of rows) {
              const key = `${label(instant, timeBucket, zone)} ${identity}`;
              const sum = sums.get(key) ?? { total: 0n, usage: 0n, rows: 0 };
              sums.set(key, {
                total: sum.total + ticks,
                usage: sum.usage + (shared ? 0n : ticks),
                rows: sum.rows + 1,
              });
            }
            const wanted = [...sums].map(([key, sum]) =>
              [key, decimal(sum.total), decimal(sum.usage), decimal(sum.total - sum.usage), sum.rows].join(
                " ",
              ),
            );
            const given = found.buckets.map((bucket) =>
              [
                bucket.time_bucket,
                bucket.dimensions.identity_id,
                bucket.total_amount,
                bucket.usage_amount,
                bucket.shared_amount,
                bucket.row_count,
              ].join(" "),
            );
            t.same([...given].sort(), wanted.sort(), `${timeBucket} ${zone}`);
            t.equal(found.total_amount, decimal(rows.reduce((sum, { ticks }) => sum + ticks, 0n)));
            holds(t, found, { total_rows: rows.length, total_buckets: sums.size, truncated: false });
          },
        ),
        { numRuns: 40, examples: halfHours.map((example) => [example, "Australia/Lord_Howe", "hour"]) },
      );
    },
  );

  await client.command({ query: "TRUNCATE TABLE chargebacks" });
  // 24 days, hours 0, 7 and 14 of each, of 700 identities and 40 resources: more buckets than the limit.
  const insert = (
    database: ClickHouseClient,
    where: string,
    amount = "(cityHash64(number) % 1000000) / 10000",
  ) =>
    database.command({
      query: `INSERT INTO chargebacks (timestamp, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, currency, cost_type,
          allocation_method, allocation_detail, component_ratio, amount_hi, amount_lo)
        SELECT toDateTime('2025-03-20 00:00:00', 'UTC') + INTERVAL number % 24 DAY + INTERVAL 7 * (number % 3) HOUR, 'e', 'acme',
          concat('env-', toString(number % 40 % 3)), concat('r-', toString(number % 40)), 'c', concat('p-', toString(number % 7)),
          concat('sa-', toString(cityHash64(number, 1) % 700)), ['EUR', 'USD', 'USD'][1 + number % 11 % 3], ['usage', 'shared'][1 + number % 5 % 2], ['usage_ratio', 'even_split', 'terminal'][1 + number % 3],
          'd', '1', ${amount}, (cityHash64(number, 2) % 100) / 1000000000000
        FROM numbers(60000) WHERE ${where}`,
    });
  await insert(client, "1");
  await sumUp(client);
  const fields =
    "ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type";
  await client.command({
    query: `INSERT INTO dimensions (dimension_id, fingerprint, ${fields})
      SELECT rowNumberInAllBlocks(), rowNumberInAllBlocks(), * FROM (SELECT DISTINCT ${fields} FROM chargebacks)`,
  });
  await client.command({
    query:
      "INSERT INTO dimension_tags SELECT dimension_id, dimension_id, 'team', concat('t-', identity_id), 0, 1 FROM dimensions WHERE dimension_id % 3 != 0",
  });

  /** The same aggregate from the one statement that computes all buckets. */
  const atOnce = async (input: AggregateInput) =>
    await readTuples<StoredBucket>(client, aggregateBuckets(input));
  const figures = ({ totals }: Aggregate) =>
    totals.map(({ currency, total_amount, usage_amount, shared_amount, row_count }) => [
      currency,
      total_amount,
      usage_amount,
      shared_amount,
      String(row_count),
    ]);
  const listed = ({ buckets }: Aggregate) =>
    buckets.map((bucket) => [
      bucket.time_bucket,
      bucket.currency,
      bucket.total_amount,
      bucket.usage_amount,
      bucket.shared_amount,
      String(bucket.row_count),
      ...Object.values(bucket.dimensions),
    ]);

  for (const [name, input, zone] of [
    ["identity, by day", {}, "UTC"],
    ["identity, by hour in a zone", { timeBucket: "hour" }, "Europe/Berlin"],
    ["identity, by week in a zone", { timeBucket: "week" }, "America/Denver"],
    ["resource, product and cost type", { groupBy: ["resource_id", "product_type", "cost_type"] }, "UTC"],
    ["identity and product, which no table of sums has", { groupBy: ["identity_id", "product_type"] }, "UTC"],
    [
      "all columns",
      {
        groupBy: [
          "identity_id",
          "resource_id",
          "product_type",
          "product_category",
          "cost_type",
          "allocation_method",
          "environment_id",
        ],
      },
      "Asia/Kolkata",
    ],
    ["currency first, in months", { groupBy: ["currency", "identity_id"], timeBucket: "month" }, "UTC"],
    ["currency and a tag, by hour", { groupBy: ["tag:team", "currency"], timeBucket: "hour" }, "UTC"],
    ["one currency", { groupBy: ["identity_id", "resource_id"], filters: { currency: ["EUR"] } }, "UTC"],
    [
      "with filters",
      { groupBy: ["identity_id", "resource_id"], filters: { cost_type: ["usage"], product_type: ["p-3"] } },
      "UTC",
    ],
    ["a tag and a resource", { groupBy: ["tag:team", "resource_id"] }, "UTC"],
    [
      "identities of a tag",
      {
        groupBy: ["identity_id", "resource_id"],
        filters: { tags: [{ key: "team", displayNames: ["t-sa-1", "UNTAGGED"] }] },
      },
      "UTC",
    ],
    ["few buckets", { groupBy: ["allocation_method"], timeBucket: "month" }, "UTC"],
    ["nothing", { filters: { identity_id: ["nobody"] }, groupBy: ["resource_id"] }, "UTC"],
  ] as const) {
    await t.test(
      `an aggregate has the same first buckets and totals as one statement over all buckets: ${name}`,
      async (t) => {
        const aggregateInput: AggregateInput = send(input, undefined, zone);
        let statements = 0;
        const counting = new Proxy(client, {
          get(target, property, receiver) {
            if (property !== "query") return Reflect.get(target, property, receiver);
            return (params: Parameters<ClickHouseClient["query"]>[0]) => {
              statements += 1;
              return target.query(params);
            };
          },
        });
        const found = await readAggregate(counting, aggregateInput);
        t.ok(statements <= 2, "without a publish, two statements are enough");
        const all = await atOnce(aggregateInput);
        const totals = totalsOf(all);
        t.same(
          figures(found),
          totals.map((each) => each.slice(0, 5)),
        );
        t.same(
          listed(found),
          all
            .slice(0, 10_000)
            .map(([label, currency, total, usage, shared, rows, , , ...columns]) => [
              label,
              currency,
              total,
              usage,
              shared,
              rows,
              ...columns.slice(0, new Set<string>(aggregateInput.groupBy).size),
            ]),
        );
        t.equal(found.truncated, found.total_buckets > 10_000);
        const extent = await readBucketLimit(client, aggregateInput);
        t.same(extent?.totals ?? [], totals, "buckets are counted without being computed");
        t.not(extent?.changedMeanwhile, true);
      },
    );
  }

  await t.test(
    "an aggregate shows one state of the rows if a publish comes between its two statements",
    async (t) => {
      for (const groupBy of [["identity_id"], ["identity_id", "product_type"]] as const) {
        const aggregateInput = send({ groupBy, timeBucket: "hour" });
        let statements = 0;
        // A client that changes a day before the second statement of each attempt.
        const disturbed = new Proxy(client, {
          get(target, property, receiver) {
            if (property !== "query") return Reflect.get(target, property, receiver);
            return async (params: Parameters<ClickHouseClient["query"]>[0]) => {
              statements += 1;
              if (statements % 2 === 0) {
                await insert(client, "number % 24 = 0 AND number % 100 = 0", "7");
                await sumUp(client);
              }
              return target.query(params);
            };
          },
        });
        const found = await readAggregate(disturbed, aggregateInput);
        t.equal(statements, 5, "two attempts fail, then one statement computes all buckets");
        const all = await atOnce(aggregateInput);
        t.same(
          figures(found),
          totalsOf(all).map((each) => each.slice(0, 5)),
        );
        t.equal(found.buckets.length, 10_000);
      }
    },
  );
});

/** A plain decimal with up to twelve places. */
function decimal(ticks: bigint): string {
  const digits = (ticks < 0n ? -ticks : ticks).toString().padStart(13, "0");
  const text = `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, "");
  return ticks < 0n ? `-${text}` : text;
}
