/** The bill of Confluent Cloud on the real stores: which days are staged again when it is gathered again. */
import t from "tap";
import { dropStagedDays, stagedTable } from "../../../src/clickhouse/staging.js";
import { type DayRange, daysOfWindow } from "../../../src/common/days.js";
import { stageWindow } from "../../../src/ingest/stage-window.js";
import { holds } from "../../holds.js";
import fc from "../../property.js";
import { EPOCH, openGatheringStores } from "../gathering-stores.js";
import { forever, silent } from "../generic_metrics_only/tenant.js";
import { type Row, resource, startBill, testCostRow } from "./bill.js";
import { connectConfluentTenant } from "./tenant.js";

const window: DayRange = { start: "2026-03-04", end: "2026-03-20" };
const days = daysOfWindow(window);

/**
 * A normal day: a charge, two tiers, support and a credit without a resource, an unreadable row, a late undated row.
 */
const organisation: Row[] = [
  ...days.flatMap((day) => [
    testCostRow(day),
    testCostRow(day, {
      id: "t-1",
      product: "STREAM_GOVERNANCE",
      line_type: "NUM_RULES",
      resource: resource("lsrc-1"),
      tier_dimensions: { tier_start: "0", tier_end: "10" },
      amount: 0,
    }),
    testCostRow(day, {
      id: "t-2",
      product: "STREAM_GOVERNANCE",
      line_type: "NUM_RULES",
      resource: resource("lsrc-1"),
      tier_dimensions: { tier_start: "10", tier_end: "50" },
      amount: "0.10",
    }),
    testCostRow(day, {
      id: "s-1",
      product: "SUPPORT_CLOUD_BASIC",
      line_type: "SUPPORT",
      resource: undefined,
      amount: 7,
    }),
    testCostRow(day, {
      id: "p-1",
      line_type: "PROMO_CREDIT",
      resource: null,
      amount: -3,
      original_amount: -3,
    }),
    testCostRow(day, { id: `m-${day}`, resource: ["lkc-1"], amount: 1 }),
  ]),
  {
    ...testCostRow("2026-03-19", { id: "u-1", start_date: undefined, end_date: undefined }),
    hidden_day: "2026-03-19",
  },
];

t.test("a bill can be gathered again", async (t) => {
  const { postgres, store } = await openGatheringStores(t);
  const bill = await startBill(t, { rows: organisation, pageSize: 25 });
  const gatherer = connectConfluentTenant(t, bill.url);
  const stage = (of: DayRange = window) =>
    stageWindow({
      store,
      postgres,
      epoch: EPOCH,
      gatherer,
      window: of,
      settingsDigest: "settings",
      rulesHash: "rules",
      decimalPlaces: 4,
      derivingMetrics: [],
      inventoryLacks: [],
      completeTypes: [],
      retryLimit: 3,
      signal: forever,
      logger: silent,
    });
  const lines = async (where: string) => {
    const query = `SELECT resource_id, product_type, toString(total_cost) AS cost FROM ${stagedTable("billing", EPOCH)} WHERE ${where} ORDER BY ALL`;
    return (await store.client.query({ query, format: "JSONEachRow" })).json<Record<string, string>>();
  };
  const hashes = async () => {
    const { rows } = await postgres.query<{ day: string; hash: string }>(
      `SELECT to_char(tracking_date, 'YYYY-MM-DD') AS day, coalesce(staged_hash, published_hash) AS hash
       FROM tracking_dates ORDER BY 1`,
    );
    return new Map(rows.map(({ day, hash }) => [day, hash]));
  };
  /** Marks the days as published, as a run does. */
  const publish = async () => {
    await postgres.query(
      "UPDATE tracking_dates SET published_hash = staged_hash, staged_hash = NULL WHERE staged_hash IS NOT NULL",
    );
    await dropStagedDays(store.client, EPOCH, days);
  };

  await t.test("each day has its lines once, even if fields are missing", async (t) => {
    holds(t, await stage(), { staged: days, incomplete: [], errors: [], dropped: {} });
    t.same(await lines("day = '2026-03-16'"), [
      { resource_id: "lkc-aa11", product_type: "KAFKA_STORAGE", cost: "2" },
      { resource_id: "lkc-aa11", product_type: "MALFORMED", cost: "2" },
      { resource_id: "lsrc-1", product_type: "NUM_RULES", cost: "0.1" },
      { resource_id: "malformed_billing:m-2026-03-16", product_type: "MALFORMED", cost: "1" },
      { resource_id: "no_resource:KAFKA:PROMO_CREDIT", product_type: "PROMO_CREDIT", cost: "-3" },
      { resource_id: "no_resource:SUPPORT_CLOUD_BASIC:SUPPORT", product_type: "SUPPORT", cost: "7" },
    ]);
    const [sum] = await lines("product_type = 'SUPPORT' AND day = '2026-03-04'");
    t.equal(sum?.cost, "7");
  });

  await t.test("three refreshes change nothing, even if the window has moved on", async (t) => {
    const before = await hashes();
    await publish();
    for (const start of ["2026-03-04", "2026-03-05", "2026-03-07"]) {
      const result = await stage({ start, end: window.end });
      holds(t, result, { staged: [], unchanged: days.filter((day) => day >= start), billingLines: Number });
    }
    t.same(await hashes(), before);
    t.same(await lines("true"), [], "days that have not changed are not written");
  });

  await t.test("the order and the paging of the rows make no difference", async (t) => {
    const before = await hashes();
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(organisation, { minLength: organisation.length }),
        async (shuffled) => {
          bill.setRows(shuffled);
          const result = await stage();
          t.same(result.staged, []);
          t.equal(result.unchanged.length, days.length);
        },
      ),
      { numRuns: 3 },
    );
    t.same(await hashes(), before);
    bill.setRows(organisation);
  });

  await t.test("a revised line stages its day again, and no other day", async (t) => {
    const revised = organisation.map((row) =>
      typeof row === "object" && row?.id === "s-1" && row.start_date === "2026-03-05"
        ? { ...row, amount: 8 }
        : row,
    );
    bill.setRows(revised);
    holds(t, await stage(), { staged: ["2026-03-05"] });
    t.same(await lines("product_type = 'SUPPORT'"), [
      { resource_id: "no_resource:SUPPORT_CLOUD_BASIC:SUPPORT", product_type: "SUPPORT", cost: "8" },
    ]);
    await publish();
    holds(t, await stage(), { staged: [] });
  });

  await t.test("a line that is withdrawn disappears from its day", async (t) => {
    bill.setRows(organisation.filter((row) => typeof row !== "object" || row?.id !== "m-2026-03-10"));
    holds(
      t,
      await stage(),
      { staged: ["2026-03-05", "2026-03-10"] },
      "the day that was revised above and this day are staged",
    );
    t.same(await lines("day = '2026-03-10' AND product_type = 'MALFORMED'"), []);
    t.equal((await lines("day = '2026-03-10'")).length, 4);
    await publish();
  });

  await t.test("days of a failed query stay as they are, and wait", async (t) => {
    const before = await hashes();
    bill.setRows([]);
    bill.setInstead((query, _request, response) => {
      if (query.get("start_date") !== "2026-03-16") return false;
      response.writeHead(500).end("{}");
      return true;
    });
    const result = await stage();
    t.same(result.incomplete, days.slice(12));
    holds(t, result.errors, [/^costs of 2026-03-16 to 2026-03-20: /]);
    t.same(result.staged, days.slice(0, 12), "a bill that has become empty is a change");
    const after = await hashes();
    for (const day of days.slice(12)) t.equal(after.get(day), before.get(day), day);
  });
});
