/**
 * Benchmark of aggregates: over HTTP, the same statements on the engine alone, and the same sums in DuckDB over the
 * same rows, whose buckets must be equal to the last digit. It also reports which tables they read.
 */
import type { ClickHouseClient, QueryParams } from "@clickhouse/client";
import { addDays } from "../src/common/days.js";
import { readAggregate } from "../src/query/chargebacks/aggregate.js";
import type { Aggregate } from "../src/query/chargebacks/aggregate-result.js";
import type { AggregateInput, GroupColumn } from "../src/query/chargebacks/summed-rows.js";
import { dateWindow } from "../src/query/time/date-window.js";
import type { OpenedStores } from "../src/stores/open-stores.js";
import type { Benchmark } from "./benchmark.js";
import { loadDuckDb } from "./duckdb.js";
import { readAll } from "./http-client.js";
import { type Figure, medianMs, medianPairMs } from "./measure.js";
import { allDays } from "./organisation.js";

const first = allDays[0] ?? "";
const last = allDays.at(-1) ?? "";

interface Case {
  readonly name: string;
  readonly groupBy: readonly GroupColumn[];
  readonly identity?: string;
}

export const benchAggregate: Benchmark = async (bench) => {
  const { store, stores, repeat, say } = bench;
  const { url } = await bench.service();
  say("loading DuckDB with the same rows");
  const duck = await loadDuckDb(store.client, bench.folder);
  const cases: Case[] = [
    { name: "identity × day", groupBy: ["identity_id"] },
    { name: "resource × product × cost type", groupBy: ["resource_id", "product_type", "cost_type"] },
    { name: "identity × product × cost type", groupBy: ["identity_id", "product_type", "cost_type"] },
    { name: "one identity × day", groupBy: ["identity_id"], identity: await commonIdentity(store.client) },
  ];
  const figures: Figure[] = [];
  try {
    for (const each of cases) {
      say(`aggregate by ${each.name}`);
      const input = aggregateInput(each);
      const statements = await statementsOf(store.client, input);
      let requests = 0;
      // Each request starts on another day, because the service caches short responses.
      const http = () => {
        requests += 1;
        const query = queryString(each, addDays(first, -requests));
        return readAll(`${url}/api/v1/tenants/${store.tenantName}/chargebacks/aggregate?${query}`);
      };
      const known = await medianMs(repeat, http);
      const [afterPublish, sql] = await medianPairMs(
        repeat,
        async () => {
          await publishedAnew(stores, store.tenantName);
          await http();
        },
        () => runStatements(store.client, statements),
      );
      sameBuckets(await readAggregate(store.client, input), await duck.buckets(input), each.name);
      const theirs = await duck.fastest(input);
      const compared = await medianMs(repeat, theirs.run);
      const figure = (
        name: string,
        value: number,
        unit: Figure["unit"],
        more: Partial<Figure> = {},
      ): Figure => ({
        benchmark: "aggregate",
        name: `${each.name}: ${name}`,
        value,
        unit,
        ...more,
      });
      figures.push(
        figure("HTTP", known, "ms", { target: { at: "most", value: 1000 } }),
        figure("HTTP, all days new", afterPublish, "ms", {
          target: { at: "most", value: 1000 },
          note: await readFrom(store.client, statements),
        }),
        figure("all days new / SQL", afterPublish / sql, "ratio", { target: { at: "most", value: 1.2 } }),
        figure("DuckDB", compared, "ms", { note: `sorted by ${theirs.layout}, ${theirs.way}` }),
        figure("HTTP / DuckDB", known / compared, "ratio", { target: duckTarget(each) }),
        figure("all days new / DuckDB", afterPublish / compared, "ratio", { target: duckTarget(each) }),
      );
    }
  } finally {
    await duck.close();
  }
  return figures;
};

const duckTarget = ({ identity }: Case) => ({ at: "most" as const, value: identity === undefined ? 0.5 : 1 });

/** Marks every day as published again, so that nothing is cached. Takes a few milliseconds. */
async function publishedAnew({ postgres }: OpenedStores, tenant: string): Promise<void> {
  const { rowCount } = await postgres.query(
    "UPDATE tracking_dates SET calculated_at = clock_timestamp() WHERE tenant_name = $1 AND published_hash IS NOT NULL",
    [tenant],
  );
  if (!rowCount) throw new Error("nothing is published");
}

function aggregateInput({ groupBy, identity }: Case): AggregateInput {
  const window = dateWindow({ start_date: first, end_date: last }, 200, new Date(`${last}T00:00:00Z`));
  return {
    window,
    groupBy,
    timeBucket: "day",
    filters: { identity_id: identity === undefined ? undefined : [identity] },
  };
}

function queryString({ groupBy, identity }: Case, start_date: string): string {
  const query = new URLSearchParams({ start_date, end_date: last });
  for (const column of groupBy) query.append("group_by", column);
  if (identity !== undefined) query.set("identity_id", identity);
  return query.toString();
}

/**
 * Throws unless both have the same buckets and totals. Decimals are compared without trailing zeros, which differ
 * between us and DuckDB.
 */
function sameBuckets(ours: Aggregate, theirs: readonly string[], name: string): void {
  const totals = [
    ours.total_amount,
    ours.usage_amount,
    ours.shared_amount,
    ours.total_rows,
    ours.total_buckets,
  ];
  const lines = ours.buckets.map((bucket) =>
    [
      bucket.time_bucket,
      ...Object.values(bucket.dimensions),
      ...[bucket.total_amount, bucket.usage_amount, bucket.shared_amount].map(digits),
      bucket.row_count,
      ...totals.map((total) => digits(String(total))),
    ].join("|"),
  );
  const different = lines.findIndex(
    (line, index) => line !== theirs[index]?.split("|").map(digits).join("|"),
  );
  if (different !== -1 || lines.length !== theirs.length)
    throw new Error(`${name}: bucket ${different}: ${lines[different]}, DuckDB: ${theirs[different]}`);
}

function digits(value: string): string {
  return /^-?\d+\.\d+$/.test(value) ? value.replace(/\.?0+$/, "") : value;
}

/** Returns the statements of an aggregation. */
async function statementsOf(client: ClickHouseClient, input: AggregateInput): Promise<QueryParams[]> {
  const statements: QueryParams[] = [];
  const recorded: Pick<ClickHouseClient, "query"> = {
    query: (params) => {
      statements.push(params);
      return client.query(params);
    },
  };
  await readAggregate(Object.assign(Object.create(client) as ClickHouseClient, recorded), input);
  return statements.map(({ abort_signal: _, ...statement }) => statement);
}

async function runStatements(client: ClickHouseClient, statements: readonly QueryParams[]): Promise<void> {
  for (const statement of statements) await (await client.query(statement)).text();
}

async function readFrom(client: ClickHouseClient, statements: readonly QueryParams[]): Promise<string> {
  const plans = statements.map(async ({ query, ...statement }) => {
    const plan = await client.query({ ...statement, query: `EXPLAIN ${query}`, format: "TabSeparatedRaw" });
    return await plan.text();
  });
  const read = (await Promise.all(plans)).flatMap((plan) =>
    [...plan.matchAll(/ReadFromMergeTree \(([^)]*)\)/g)].map(([, name]) => name),
  );
  const names = new Set(read.flatMap((name) => name?.split(".").at(-1) ?? []));
  names.delete("publishing_days");
  return `reads ${[...names].join(", ")}`;
}

/** Returns an identity of average size. */
export async function commonIdentity(client: ClickHouseClient): Promise<string> {
  const result = await client.query({
    query:
      "SELECT identity_id FROM chargebacks WHERE day = {day:Date} GROUP BY identity_id ORDER BY count(), identity_id LIMIT 1 OFFSET (SELECT intDiv(uniqExact(identity_id), 2) FROM chargebacks WHERE day = {day:Date})",
    query_params: { day: first },
    format: "JSONEachRow",
  });
  const [row] = await result.json<{ identity_id: string }>();
  if (row === undefined) throw new Error("no chargebacks");
  return row.identity_id;
}
