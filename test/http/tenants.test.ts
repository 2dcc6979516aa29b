import t from "tap";
import { holds } from "../holds.js";
import { get, startService } from "./service.js";

t.test("GET /api/v1/tenants and …/status show the state of days", async (t) => {
  const { app, stores } = await startService(t);

  await t.test("tenants without a run have no days", async (t) => {
    const nothing = {
      ecosystem: "generic_metrics_only",
      dates_pending: 0,
      dates_calculated: 0,
      dates_provisional: 0,
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

  await t.test("pending days are gathered and not calculated, including those to recalculate", async (t) => {
    const { body } = await get(app, "/api/v1/tenants");
    holds(t, body[0], { dates_pending: 3, dates_calculated: 3, last_calculated_date: "2026-03-02" });
    holds(t, body[1], { tenant_name: "globex", dates_pending: 0 });
  });

  await t.test("the status has one record per day of the lookback, ascending", async (t) => {
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
      state: "pending",
      error: null,
      last_success: null,
      provisional: false,
      lacks: [],
    });
    t.same(
      body.map((row: { state: string }) => row.state),
      ["published", "outdated", "pending", "pending", "pending"],
    );
  });

  await t.test("the status has days without a bill, with a failed bill, and lost ones", async (t) => {
    const { postgres } = stores;
    await postgres.query(`INSERT INTO gathered_days (tenant_name, tracking_date, outcome, error)
      VALUES ('acme', '2026-02-10', 'no_bill', NULL), ('acme', '2026-02-11', 'failed', 'the upstream is away'),
        ('acme', '2026-03-01', 'failed', 'the upstream is away')`);
    await postgres.query(
      `UPDATE tracking_dates SET calculated_at = '2026-03-05T00:00:00Z' WHERE tracking_date < '2026-03-03'`,
    );
    await postgres.query(`UPDATE tracking_dates SET lost_at = now(), published_hash = NULL, chargeback_calculated = false
      WHERE tracking_date = '2026-03-02'`);
    const { body } = await get(app, "/api/v1/tenants/acme/status?start_date=2026-02-01&end_date=2026-03-02");
    const [gathered, not] = [
      { billing_gathered: true, resources_gathered: true },
      { billing_gathered: false, resources_gathered: false },
    ];
    const published = "2026-03-05T00:00:00Z";
    const error = "the upstream is away";
    t.strictSame(body, [
      {
        tracking_date: "2026-02-10",
        ...gathered,
        chargeback_calculated: false,
        state: "no_bill",
        error: null,
        last_success: null,
        provisional: false,
        lacks: [],
      },
      {
        tracking_date: "2026-02-11",
        ...not,
        chargeback_calculated: false,
        state: "failed",
        error,
        last_success: null,
        provisional: false,
        lacks: [],
      },
      {
        tracking_date: "2026-03-01",
        ...gathered,
        chargeback_calculated: true,
        state: "published",
        error,
        last_success: published,
        provisional: false,
        lacks: [],
      },
      {
        tracking_date: "2026-03-02",
        ...gathered,
        chargeback_calculated: false,
        state: "lost",
        error: null,
        last_success: null,
        provisional: false,
        lacks: [],
      },
    ]);
    await postgres.query("DELETE FROM gathered_days");
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

  await t.test(
    "a tenant that is not configured is 404, even if the request has other problems",
    async (t) => {
      for (const name of ["nobody", "ACME", "constructor", "__proto__", "acme%20", "%2e%2e"]) {
        const { status, body } = await get(app, `/api/v1/tenants/${name}/status?page=0`);
        t.equal(status, 404, name);
        if (name === "nobody") holds(t, body, { code: "tenant_not_found", detail: /"nobody" not found/ });
      }
    },
  );
});
