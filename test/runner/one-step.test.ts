/** The bill and the chargebacks of a day are in two tables, and readers see them change together. */
import { setTimeout } from "node:timers/promises";
import { type ClickHouseClient, ClickHouseError, type QueryParams } from "@clickhouse/client";
import t from "tap";
import { noAttributions, swapDays } from "../../src/allocate/swap-days.js";
import { claimStaging, dropStagedDays, stagedTable } from "../../src/clickhouse/staging.js";
import { readRows } from "../../src/clickhouse/statement.js";
import { sumTables } from "../../src/domain/sum-tables.js";
import { reconcileDays } from "../../src/query/state/reconcile.js";
import { finishAbandonedSwap } from "../../src/stores/facts/atomic-swap.js";
import { openTestStores } from "../stores.js";
import { until } from "../until.js";
import { daysBefore, lossSaidBefore, runContext, runOnce, shortTenants } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const days = [2, 3, 4, 5, 6, 7, 8].map(daysBefore).sort();

/** Bills of a day by their sum. From one to another, lines change, appear and disappear, and so does the day itself. */
const bills: Readonly<Record<string, Record<string, string>>> = {
  "100": { "r-1": "10", "r-2": "20", "metered-1": "70" },
  "150": { "r-1": "120", "metered-1": "1", "metered-2": "29" },
  gone: {},
};

/** The sums that a reader may find for each day. */
interface Seen {
  readonly day: string;
  readonly billing: string;
  readonly chargebacks: string;
}

/** Ways to read the bill and the chargebacks in one statement. */
const reads: Readonly<Record<string, string>> = {
  "the view of reconciliation":
    "SELECT toString(date) AS day, toString(billing) AS billing, toString(chargebacks) AS chargebacks FROM daily_reconciliation",
  "two views in a union": `
    SELECT toString(date) AS day, toString(sum(b)) AS billing, toString(sum(c)) AS chargebacks FROM (
      SELECT date, amount AS c, toDecimal128(0, 12) AS b FROM chargeback_details
      UNION ALL SELECT date, toDecimal128(0, 12), total_cost FROM billing_line_items
    ) GROUP BY date`,
  "two views in a join": `
    SELECT toString(date) AS day, toString(b) AS billing, toString(c) AS chargebacks
    FROM (SELECT date, sum(total_cost) AS b FROM billing_line_items GROUP BY date) AS bill
    FULL JOIN (SELECT date, sum(total_amount) AS c FROM daily_cost_by_resource GROUP BY date) AS charged USING (date)`,
  ...Object.fromEntries(
    sumTables.map((table) => [
      `the bill and published_${table}`,
      `
    SELECT toString(day) AS day, toString(sum(b)) AS billing, toString(sum(c)) AS chargebacks FROM (
      SELECT day, amount_hi + amount_lo AS c, toDecimal128(0, 12) AS b FROM published_${table}
      UNION ALL SELECT day, toDecimal128(0, 12), total_cost FROM published_billing
    ) GROUP BY day`,
    ]),
  ),
};

/** Makes a read pause, in ms, at every table: a race that happens in one of a thousand reads then happens in each. */
const SLOW = { merge_tree_storage_snapshot_sleep_ms: 10 } as never;

/** Pause between two reads of a reader. Without it, twenty readers leave no processor for the publish. */
const PAUSE_MS = 50;

function slowed(client: ClickHouseClient): ClickHouseClient {
  const slow: ClickHouseClient = Object.create(client);
  slow.query = (async (read: QueryParams) =>
    await client.query({
      ...read,
      clickhouse_settings: { ...read.clickhouse_settings, ...(SLOW as object) },
    })) as ClickHouseClient["query"];
  return slow;
}

function unbalanced(rows: readonly Seen[]): Seen[] {
  return rows.filter(({ billing, chargebacks }) => billing !== chargebacks);
}

t.test(
  "readers of lines and chargebacks see equal sums while days are published",
  { timeout: 600_000 },
  async (t) => {
    const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
    const { client } = await stores.tenant("acme");
    const { upstream, ecosystems } = scriptedUpstream({ crowd: 50 });
    const context = runContext(stores, { ecosystems });
    const publish = async (round: number) => {
      const names = Object.keys(bills);
      for (const [i, day] of days.entries())
        upstream.bill.set(day, { ...bills[names[(round + i) % names.length] ?? ""] });
      await lossSaidBefore(stores, "acme");
      return await runOnce(context, config, "acme");
    };
    await publish(0);

    let isOver = false;
    const off: unknown[] = [];
    const sums = new Set<string>();
    const times = new Map<string, number>();
    const reader = async (name: string, read: () => Promise<readonly Seen[]>) => {
      while (!isOver) {
        const rows = await read();
        await setTimeout(PAUSE_MS);
        times.set(name, (times.get(name) ?? 0) + 1);
        for (const { chargebacks } of rows) sums.add(chargebacks);
        for (const row of unbalanced(rows)) off.push({ name, ...row });
      }
    };
    const readers = Object.entries(reads).flatMap(([name, query]) => [
      reader(name, () => readRows<Seen>(client, { query, params: {} })),
      reader(`${name}, slowly`, () => readRows<Seen>(client, { query, params: {} }, undefined, SLOW)),
    ]);
    const signal = new AbortController().signal;
    for (const [name, its] of Object.entries({
      "the service itself": client,
      "the service itself, slowly": slowed(client),
    }))
      readers.push(reader(name, async () => [...(await reconcileDays(its, signal)).days]));
    const rounds = 3;
    for (let round = 1; round <= rounds; round += 1) {
      const before = new Map(times);
      const { status, errors, dates_calculated } = await publish(round);
      t.strictSame(
        { status, errors, dates_calculated },
        { status: "completed", errors: [], dates_calculated: 7 },
      );
      await until("each reader has read again", () =>
        [...times].every(([name, n]) => n > (before.get(name) ?? 0)),
      );
    }
    isOver = true;
    await Promise.all(readers);
    t.strictSame(off, []);
    t.strictSame([...sums].sort(), ["100", "150"], "they saw both bills");
    t.equal(times.size, 2 * Object.keys(reads).length + 2);
    const counted = [...times.values()].reduce((sum, n) => sum + n, 0);
    t.comment(`${counted} reads in ${rounds} publishes`);
  },
);

t.test("a publish that is cut off at any of its statements shows one version of each day", async (t) => {
  const { stores } = await openTestStores(t, shortTenants(["acme"]));
  const { client } = await stores.tenant("acme");
  const signal = new AbortController().signal;
  let epoch = 0;

  /** Stages a version of each day, including changed, removed and new ones. */
  const stage = async (round: number) => {
    epoch += 1;
    await claimStaging(client, epoch);
    await dropStagedDays(client, epoch, days);
    const costs = days.map((_, i) => [0, 100, 150][(round + i) % 3] ?? 0);
    for (const [i, day] of days.entries()) {
      if (costs[i] === 0) continue;
      const line = `'${day} 00:00:00', 'test', 'acme', 'r', 'COMPUTE', 'USD'`;
      const columns = "timestamp, ecosystem, tenant_id, resource_id, product_type, currency";
      await client.command({
        query: `INSERT INTO ${stagedTable("billing", epoch)} (${columns}, total_cost) VALUES (${line}, ${costs[i]})`,
      });
      await client.command({
        query: `INSERT INTO ${stagedTable("chargebacks", epoch)} (${columns}, revision, amount_lo) VALUES (${line}, 'r${costs[i]}', ${costs[i]})`,
      });
    }
    return costs;
  };
  const readSums = async () => {
    const [rows, ...others] = await Promise.all([
      ...Object.values(reads).map((query) =>
        readRows<Seen>(client, { query: `${query} ORDER BY day`, params: {} }),
      ),
      reconcileDays(client, signal).then((result) =>
        result.days.map(({ day, billing, chargebacks }) => ({ day, billing, chargebacks })),
      ),
    ]);
    for (const other of others) t.strictSame(other, rows, "all reads agree");
    t.strictSame(unbalanced(rows ?? []), []);
    return (rows ?? []).map(({ day, chargebacks }) => `${day} ${chargebacks}`);
  };
  const shownOf = (costs: readonly number[]) =>
    days.flatMap((day, i) => (costs[i] === 0 ? [] : [`${day} ${costs[i]}`]));
  const leftovers = async () =>
    await readRows(client, { query: "SELECT day FROM publishing_days", params: {} });

  /** Publishes the staged days up to the n-th change of a table. Returns false if there are fewer changes. */
  const cutOffAt = async (n: number): Promise<boolean> => {
    let changes = 0;
    const dying: ClickHouseClient = Object.create(client);
    dying.command = async (command) => {
      changes += 1;
      // An error of the engine is not retried, unlike its death.
      if (changes > n) throw new ClickHouseError({ message: "cut off", code: "0", type: "TEST" });
      return await client.command(command);
    };
    try {
      await swapDays({ client: dying, epoch, signal }, days, noAttributions);
      return false;
    } catch (error) {
      if (!(error instanceof ClickHouseError && error.type === "TEST")) throw error;
      return true;
    }
  };

  let before = await stage(0);
  t.notOk(await cutOffAt(1_000));
  t.strictSame(await readSums(), shownOf(before));
  const shown = new Set<string>();
  for (let n = 0, round = 1; ; n += 1, round += 1) {
    const costs = await stage(round);
    const wasCutOff = await cutOffAt(n);
    const now = await readSums();
    const isNew = now.join() === shownOf(costs).join();
    shown.add(isNew ? "new" : "old");
    t.strictSame(now, shownOf(isNew ? costs : before), `cut off after ${n} changes`);
    if (!wasCutOff) break;
    const ends = {
      "the publish is run again": () => swapDays({ client, epoch, signal }, days, noAttributions),
      "nobody runs it again": () => finishAbandonedSwap({ client, epoch }),
    };
    const how = round % 2 === 0 ? "the publish is run again" : "nobody runs it again";
    await ends[how]();
    before = round % 2 === 0 || isNew ? costs : before;
    t.strictSame(await readSums(), shownOf(before), how);
    t.strictSame(await leftovers(), []);
  }
  t.strictSame([...shown].sort(), ["new", "old"]);

  await stage(1);
  await claimStaging(client, epoch + 1);
  const shownBefore = await readSums();
  await t.rejects(swapDays({ client, epoch, signal }, days, noAttributions), { message: /does not exist/ });
  t.strictSame(await readSums(), shownBefore, "who has lost the lease changes nothing");
  t.strictSame(await leftovers(), []);
});
