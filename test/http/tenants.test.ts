import t from "tap";
import { get, startService } from "./service.js";

t.test("GET /api/v1/tenants and …/status", async (t) => {
  const { app, stores } = await startService(t);

  await t.test("tenants that never ran", async (t) => {
    const nothing = {
      ecosystem: "generic_metrics_only",
      dates_pending: 0,
      dates_calculated: 0,
      last_calculated_date: null,
      topic_attribution: "disabled",
    };
    const { status, body } = await get(app, "/api/v1/tenants");
    t.equal(status, 200);
    t.same(body, [
      { tenant_name: "acme", tenant_id: "acme", ...nothing },
      { tenant_name: "globex", tenant_id: "globex", ...nothing },
    ]);
    t.same((await get(app, "/api/v1/tenants/acme/status")).body, []);
  });

  await stores.postgres.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only')",
  );
  await stores.postgres.query(`
    INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, resources_gathered, chargeback_calculated, staged_hash, published_hash)
    VALUES ('acme', '2026-03-01', true, true, true, NULL, 'a'), ('acme', '2026-03-02', true, true, true, 'b', 'a'),
      ('acme', '2026-03-03', true, false, false, NULL, NULL), ('acme', '2026-03-04', true, true, false, 'c', NULL),
      ('acme', '2026-03-05', false, true, false, NULL, NULL), ('acme', '2025-01-01', true, true, true, NULL, 'a')`);

  await t.test(
    "pending: gathered and not calculated, recalculation included, with or without resources",
    async (t) => {
      const { body } = await get(app, "/api/v1/tenants");
      t.match(body[0], { dates_pending: 3, dates_calculated: 3, last_calculated_date: "2026-03-02" });
      t.match(body[1], { tenant_name: "globex", dates_pending: 0 });
    },
  );

  await t.test("status: one record a day of the lookback, ascending", async (t) => {
    const { body } = await get(app, "/api/v1/tenants/acme/status");
    t.same(
      body.map((row: { tracking_date: string }) => row.tracking_date),
      ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05"],
    );
    t.same(body[2], {
      tracking_date: "2026-03-03",
      billing_gathered: true,
      resources_gathered: false,
      chargeback_calculated: false,
    });
  });

  for (const [query, days] of [
    ["start_date=2026-03-02&end_date=2026-03-02", ["2026-03-02"]],
    ["start_date=2026-03-04", ["2026-03-04", "2026-03-05"]],
    ["end_date=2025-01-01", ["2025-01-01"]],
    ["start_date=1900-01-01&end_date=1900-01-02", []],
  ] as const) {
    await t.test(`status: both dates are inclusive: ${query}`, async (t) => {
      const { body } = await get(app, `/api/v1/tenants/acme/status?${query}`);
      t.same(
        body.map((row: { tracking_date: string }) => row.tracking_date),
        days,
      );
    });
  }

  await t.test("404 for a tenant that is not configured, whatever else is wrong", async (t) => {
    for (const name of ["nobody", "ACME", "constructor", "__proto__", "acme%20", "%2e%2e"]) {
      const { status, body } = await get(app, `/api/v1/tenants/${name}/status?page=0`);
      t.equal(status, 404, name);
      if (name === "nobody") t.match(body, { code: "tenant_not_found", detail: /"nobody" not found/ });
    }
  });
});
