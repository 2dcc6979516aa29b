import t from "tap";
import { get, insertBilling, insertChargebacks, startService } from "./service.js";

t.test("a window includes its first instant and excludes its last", async (t) => {
  const { app, stores } = await startService(t);
  // The third of March 2026 in Denver, which is seven hours behind UTC.
  const instants = [
    "2026-03-03T06:59:59Z",
    "2026-03-03T07:00:00Z",
    "2026-03-04T06:59:59Z",
    "2026-03-04T07:00:00Z",
  ];
  const inside = instants.slice(1, 3);
  await insertBilling(
    stores,
    "acme",
    instants.map((timestamp) => ({ timestamp, total_cost: "1" })),
  );
  await insertChargebacks(
    stores,
    "acme",
    instants.map((timestamp) => ({ timestamp, amount: "1" })),
  );
  const window = "start_date=2026-03-03&end_date=2026-03-03&timezone=America/Denver";
  const read = async (path: string) => (await get(app, `/api/v1/tenants/acme/${path}${window}`)).body;

  for (const list of ["billing", "chargebacks"]) {
    const { items, total } = await read(`${list}?`);
    t.strictSame(items.map(({ timestamp }: { timestamp: string }) => timestamp).sort(), inside, list);
    t.equal(total, 2, `${list}: total`);
  }
  for (const group of ["identity_id", "resource_id"]) {
    const { total_amount, total_rows } = await read(
      `chargebacks/aggregate?group_by=${group}&time_bucket=hour&`,
    );
    t.strictSame({ total_amount, total_rows }, { total_amount: "2", total_rows: 2 }, group);
  }
});
