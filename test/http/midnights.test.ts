/** On this day the clocks of the Azores show midnight twice: 2026-10-25 begins at 00:00 UTC and ends 25 hours later. */
import t from "tap";
import { recordTestDimensions } from "../tags/tagging.js";
import { get, insertBilling, insertChargebacks, startService } from "./service.js";

const base = "/api/v1/tenants/acme";
const day = "start_date=2026-10-25&end_date=2026-10-25&timezone=Atlantic/Azores";
const hour = (at: number) =>
  new Date(Date.UTC(2026, 9, 25) + at * 3_600_000).toISOString().slice(0, 19).concat("Z");

t.test("a day begins at its first midnight in every read", async (t) => {
  const { app, stores } = await startService(t);
  const hours = Array.from({ length: 27 }, (_, at) => hour(at - 1));
  const lines = hours.map((timestamp) => ({ timestamp, total_cost: "1" }));
  await insertBilling(stores, "acme", lines);
  await insertChargebacks(
    stores,
    "acme",
    hours.map((timestamp, at) => ({ timestamp, amount: "1", identity_id: `sa-${at}` })),
  );
  const { client, tenantId, ecosystem } = await stores.tenant("acme");
  await client.insert({
    table: "topic_attributions",
    format: "JSONEachRow",
    values: hours.map((timestamp) => ({
      timestamp,
      ecosystem,
      tenant_id: tenantId,
      env_id: "",
      cluster_resource_id: "lkc-1",
      product_category: "KAFKA",
      product_type: "KAFKA_BASE",
      topic_name: "orders",
      metric: "",
      attribution_method: "even_split",
      attribution_detail: "even_split_allocation",
      amount_lo: "1",
    })),
  });
  const inDay = hours.slice(1, 26);
  const shown = (items: { timestamp: string }[]) => items.map(({ timestamp }) => timestamp);

  for (const path of ["billing", "chargebacks", "topic-attributions"]) {
    const { body } = await get(app, `${base}/${path}?${day}`);
    t.strictSame(shown(body.items), inDay, path);
  }

  const file = await app.inject({
    method: "POST",
    url: `${base}/export`,
    payload: {
      start_date: "2026-10-25",
      end_date: "2026-10-25",
      timezone: "Atlantic/Azores",
      columns: ["timestamp"],
    },
  });
  t.equal(file.body, ["timestamp", ...inDay, ""].join("\n"), "the export has the rows");

  await recordTestDimensions(stores, "acme");
  const bulk = await app.inject({
    method: "POST",
    url: `${base}/tags/bulk-by-filter`,
    payload: {
      start_date: "2026-10-25",
      end_date: "2026-10-25",
      timezone: "Atlantic/Azores",
      tag_key: "k",
      display_name: "v",
      created_by: "c",
    },
  });
  t.equal(bulk.statusCode, 200);
  t.strictSame([bulk.json().created_count, bulk.json().errors], [25, []], "the rows are tagged by filter");

  for (const path of [
    "chargebacks/aggregate?group_by=cost_type",
    "topic-attributions/aggregate?group_by=product_type",
  ]) {
    const requested = async (bucket: string, dates = day) => {
      const { body } = await get(app, `${base}/${path}&time_bucket=${bucket}&${dates}`);
      return body.buckets.map((each: { time_bucket: string; row_count: number }) => [
        each.time_bucket,
        each.row_count,
      ]);
    };
    t.strictSame(await requested("day"), [["2026-10-25", 25]], path);
    const around = "start_date=2026-10-24&end_date=2026-10-26&timezone=Atlantic/Azores";
    t.strictSame(await requested("day", around), [
      ["2026-10-24", 1],
      ["2026-10-25", 25],
      ["2026-10-26", 1],
    ]);
    const labels = (await requested("hour")).map(([label]: [string]) => label);
    t.strictSame(labels.slice(0, 3), [
      "2026-10-25T00:00:00+00:00",
      "2026-10-25T00:00:00-01:00",
      "2026-10-25T01:00:00-01:00",
    ]);
  }
});

t.test("a day that a time zone skipped is empty, and its neighbours are complete", async (t) => {
  const { app, stores } = await startService(t);
  const at = ["2011-12-30T09:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T09:00:00Z"];
  await insertChargebacks(
    stores,
    "acme",
    at.map((timestamp) => ({ timestamp, amount: "1" })),
  );
  const rows = async (date: string) =>
    (await get(app, `${base}/chargebacks?start_date=${date}&end_date=${date}&timezone=Pacific/Apia`)).body
      .total;
  t.strictSame([await rows("2011-12-29"), await rows("2011-12-30"), await rows("2011-12-31")], [1, 0, 2]);
  const { body } = await get(
    app,
    `${base}/chargebacks/aggregate?start_date=2011-12-30&end_date=2011-12-30&timezone=Pacific/Apia`,
  );
  t.strictSame([body.buckets, body.total_rows], [[], 0]);
});
