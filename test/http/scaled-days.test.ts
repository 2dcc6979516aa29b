/** A page looks for the scales of its weights only on days that have some. */
import t from "tap";
import { createScaledDays } from "../../src/query/chargebacks/scaled-days.js";
import type { PublishedDays } from "../../src/query/state/published.js";
import { get, insertChargebacks, startService } from "./service.js";

t.test("a day is read once for each of its published states", async (t) => {
  const scaledDaysOf = createScaledDays();
  const reads: string[][] = [];
  const scaled = new Set(["2026-03-02"]);
  const read = async (days: readonly string[]) => {
    reads.push([...days]);
    return days.filter((day) => scaled.has(day));
  };
  let state: PublishedDays | undefined = {
    days: new Map([
      ["2026-03-01", "a"],
      ["2026-03-02", "b"],
    ]),
    nameVersions: "",
  };
  const of = (tenant: string, days: readonly string[]) => scaledDaysOf(tenant, async () => state)(days, read);

  t.strictSame(await of("acme", ["2026-03-01", "2026-03-02"]), ["2026-03-02"]);
  t.strictSame(await of("acme", ["2026-03-01", "2026-03-02"]), ["2026-03-02"]);
  t.strictSame(reads.splice(0), [["2026-03-01", "2026-03-02"]]);
  t.strictSame(
    await of("acme", ["2026-03-01", "2026-03-09"]),
    ["2026-03-09"],
    "an unknown day may have scales",
  );
  t.strictSame(reads.splice(0), []);
  t.strictSame(await of("globex", ["2026-03-01"]), []);
  t.strictSame(reads.splice(0), [["2026-03-01"]], "each tenant has days of its own");
  scaled.add("2026-03-01");
  state = { ...state, days: new Map([...state.days, ["2026-03-01", "c"]]) };
  t.strictSame(await of("acme", ["2026-03-01", "2026-03-02"]), ["2026-03-01", "2026-03-02"]);
  t.strictSame(reads.splice(0), [["2026-03-01"]]);
  state = undefined;
  t.strictSame(await of("acme", ["2026-03-01"]), ["2026-03-01"], "during a publish any day may have scales");
  t.strictSame(reads, []);
});

t.test("pages show exact weights, before and after a publish with scales", async (t) => {
  const { app, stores } = await startService(t);
  const { client } = await stores.tenant("acme");
  const days = ["2026-03-01", "2026-03-02"];
  const metric = "in";
  await insertChargebacks(
    stores,
    "acme",
    days.map((day) => ({ timestamp: `${day}T00:00:00Z`, amount: "1", metric })),
  );
  await client.insert({
    table: "usage",
    format: "JSONEachRow",
    values: days.map((day, scale) => ({
      timestamp: `${day} 03:00:00`,
      resource_id: "r-1",
      metric,
      identity_id: "sa-1",
      micro_units: "1500000",
      scale,
    })),
  });
  await stores.postgres.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only') ON CONFLICT DO NOTHING",
  );
  const publish = (day: string, hash: string) =>
    stores.postgres.query(
      `INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, published_hash) VALUES ('acme', $1, true, $2)
       ON CONFLICT (tenant_name, tracking_date) DO UPDATE SET published_hash = $2`,
      [day, hash],
    );
  for (const day of days) await publish(day, "a");
  const weights = async (pageSize: number) => {
    const { body } = await get(app, `/api/v1/tenants/acme/chargebacks?page_size=${pageSize}`);
    return body.items.map(({ metadata }: { metadata: { weight: string } }) => metadata.weight);
  };

  t.strictSame(await weights(10), ["1.5", "0.15"]);
  await client.command({ query: "ALTER TABLE usage UPDATE scale = 2 WHERE 1 SETTINGS mutations_sync = 1" });
  t.strictSame(await weights(11), ["1.5", "0.015"], "the day without scales is not read again");
  await publish("2026-03-01", "b");
  t.strictSame(await weights(12), ["0.015", "0.015"]);
});
