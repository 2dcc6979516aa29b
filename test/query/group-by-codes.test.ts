/** Breakdowns that group by codes, if a new value is added between reading the list of values and the sums. */
import type { ClickHouseClient } from "@clickhouse/client";
import t from "tap";
import { readBreakdown } from "../../src/query/chargebacks/breakdown.js";
import { dateWindow } from "../../src/query/time/date-window.js";
import { insertChargebacks, NOW } from "../http/service.js";
import { openTestStores } from "../stores.js";

const day = "2026-03-01";
const input = {
  window: dateWindow({ start_date: day, end_date: day }, 200, NOW),
  filters: {},
  groupBy: ["identity_id", "product_type", "cost_type"] as const,
  limit: 10,
  order: "amount" as const,
  movers: 0,
};

t.test("a breakdown that groups by codes handles new values", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  await insertChargebacks(stores, "acme", [
    { timestamp: `${day}T00:00:00Z`, amount: "1.25", identity_id: "sa-1", product_type: "A" },
    {
      timestamp: `${day}T01:00:00Z`,
      amount: "2.5",
      identity_id: "sa-1",
      product_type: "A",
      cost_type: "shared",
    },
    { timestamp: `${day}T02:00:00Z`, amount: "-4", identity_id: "sa-2", product_type: "B" },
    { timestamp: `${day}T02:00:00Z`, amount: "3", identity_id: "sa-2", product_type: "B", currency: "EUR" },
  ]);
  const wanted = [
    ["EUR", "sa-2", "B", "usage", "3"],
    ["USD", "sa-2", "B", "usage", "-4"],
    ["USD", "sa-1", "A", "shared", "2.5"],
    ["USD", "sa-1", "A", "usage", "1.25"],
  ];
  /** Hides these values from the lists for the first `times` reads. */
  const late = (values: RegExp, times: number) => {
    const reads = { late: 0, all: 0 };
    const delaying = new Proxy(client, {
      get(target, name) {
        if (name !== "query") return Reflect.get(target, name);
        return (options: Parameters<ClickHouseClient["query"]>[0]) => {
          reads.all += 1;
          const query = reads.all > times ? options.query : options.query.replace(values, "$1 WHERE 0 AND ");
          if (query !== options.query) reads.late += 1;
          return target.query({ ...options, query });
        };
      },
    });
    return { delaying, reads };
  };
  const groupsOf = async (reader: ClickHouseClient) =>
    (await readBreakdown(reader, input)).groups.map(({ currency, dimensions, total_amount }) => [
      currency,
      ...Object.values(dimensions),
      total_amount,
    ]);

  t.strictSame(await groupsOf(client), wanted);
  const empty = dateWindow({ start_date: "2026-02-01", end_date: "2026-02-02" }, 200, NOW);
  t.strictSame((await readBreakdown(client, { ...input, window: empty })).groups, [], "without rows");

  for (const column of ["identity_id", "product_type", "currency"]) {
    await t.test(`the sums are read again if ${column} gets a new value`, async (t) => {
      const list = new RegExp(
        `(SELECT ${column} AS value FROM \\(SELECT .*? FROM publishing_days\\)\\)) WHERE `,
      );
      const once = late(list, 1);
      t.strictSame(await groupsOf(once.delaying), wanted);
      t.strictSame(once.reads, { late: 1, all: 2 });

      const always = late(list, 100);
      await t.rejects(groupsOf(always.delaying), /values came up while they were counted/);
      t.strictSame(always.reads, { late: 5, all: 5 }, "the read gives up after some attempts");
    });
  }
});
