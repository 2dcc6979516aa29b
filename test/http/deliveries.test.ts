/** Deliveries can be listed, and a user can accept one. */
import t from "tap";
import { holds } from "../holds.js";
import { get, startService } from "./service.js";

const path = "/api/v1/tenants/acme/deliveries";

t.test("deliveries can be listed and accepted", async (t) => {
  const { app, stores } = await startService(t);
  const pg = stores.postgres;
  for (const tenant of ["acme", "globex"])
    await pg.query("INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ($1, $1, 'focus')", [
      tenant,
    ]);
  const files = [
    { name: "bill.csv", size: 10, version: "v1", format: "CSV", focus_version: "1.2", dataset: null },
  ];
  const insert = async (columns: Record<string, unknown>, tenant = "acme") => {
    const values: Record<string, unknown> = {
      tenant_name: tenant,
      source: "aws",
      scope: "2026-05",
      kind: "snapshot",
      content_id: "c",
      settings_hash: "h",
      billing_period: "2026-05",
      epoch: 1,
      started_at: "2026-06-01T00:00:00Z",
      ...columns,
    };
    const names = Object.keys(values);
    const { rows } = await pg.query<{ id: number }>(
      `INSERT INTO deliveries (${names.join(", ")}) VALUES (${names.map((_, at) => `$${at + 1}`).join(", ")}) RETURNING delivery_id::int AS id`,
      Object.values(values),
    );
    return rows[0]?.id ?? 0;
  };
  const list = async (query = "") => {
    const { status, body } = await get(app, `${path}?${query}`);
    t.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const accept = async (id: number | string, tenant = "acme") => {
    const response = await app.inject({
      method: "POST",
      url: `/api/v1/tenants/${tenant}/deliveries/${id}/accept`,
    });
    return { status: response.statusCode, body: response.json() };
  };
  const states = async () => (await list()).items.map(({ state }: { state: string }) => state);
  holds(t, await list(), { items: [], total: 0, pages: 0, next_cursor: null });

  const loaded = { loaded_at: "2026-06-01T00:01:00Z", lines: 2, files: JSON.stringify(files) };
  const sums = [
    {
      currency: "EUR",
      lines: 2,
      billed_cost: "10.5",
      effective_cost: "10",
      contracted_cost: "0",
      list_cost: "12",
    },
  ];
  const findings = [{ id: "rounded_cost", what: "rounded", lines: 1, examples: ["bill.csv:1"] }];
  const first = await insert({
    state: "current",
    ...loaded,
    sums: JSON.stringify(sums),
    findings: JSON.stringify(findings),
    remarks: '["odd"]',
    first_day: "2026-05-01",
    last_day: "2026-05-31",
  });
  const waits = await insert({
    state: "waiting_for_acceptance",
    problem: "it has 75 % fewer lines",
    content_id: "d",
    ...loaded,
  });
  const other = await insert({ state: "current", scope: "2026-04", billing_period: "2026-04", ...loaded });
  const refused = await insert({ state: "refused", scope: "2026-03", problem: "is not CSV" });
  const expired = await insert({
    state: "expired",
    scope: "2025-01",
    billing_period: "2025-01",
    content_id: "e",
    ...loaded,
    problem: "its last day is 2025-01-31",
    last_day: "2025-01-31",
    expired_at: "2026-06-02T00:00:00Z",
  });
  await pg.query(
    `INSERT INTO control_totals (tenant_name, delivery_id, day, currency, class, reason, rows, cost, billed, effective) VALUES
      ('acme', $1, '2026-05-01', 'EUR', 'delivered', '', 2, 10, 10.5, 10),
      ('acme', $1, '2026-05-03', 'EUR', 'charged', '', 1, 8, 8.5, 8),
      ('acme', $1, '2026-05-01', 'EUR', 'outside_window', 'before_lookback', 1, 2.00, 2, 2)`,
    [first],
  );
  const classes = [
    {
      currency: "EUR",
      class: "charged",
      reason: "",
      rows: 1,
      cost: "8",
      billed: "8.5",
      effective: "8",
    },
    {
      currency: "EUR",
      class: "outside_window",
      reason: "before_lookback",
      rows: 1,
      cost: "2",
      billed: "2",
      effective: "2",
    },
  ];
  await pg.query(
    `INSERT INTO delivery_changes (tenant_name, deliveries, days, lines_new, lines_changed, lines_gone, payers, sums, is_mixed, is_published)
     SELECT 'acme', deliveries, days, 1, 2, 3, payers::jsonb, '[{"currency": "EUR", "amount": "0.50"}]', is_mixed, is_published
     FROM (VALUES
       (ARRAY[$1::bigint], ARRAY['2026-05-02'::date], '[{"identity_id": "b", "currency": "EUR", "amount": "-1.5"}, {"identity_id": "a", "currency": "EUR", "amount": "2"}]', false, true),
       (ARRAY[$1::bigint, $2], ARRAY['2026-05-04'::date, '2026-05-03'], '[{"identity_id": "b", "currency": "EUR", "amount": "0.50"}]', true, true),
       (ARRAY[$1::bigint], ARRAY['2026-05-05'::date], '[{"identity_id": "c", "currency": "EUR", "amount": "0.50"}]', false, false)
     ) AS t (deliveries, days, payers, is_mixed, is_published)`,
    [first, other],
  );
  await pg.query(
    `INSERT INTO tracking_dates (tenant_name, tracking_date, first_deliveries)
     VALUES ('acme', '2026-05-06', ARRAY[$1::bigint]), ('acme', '2026-05-01', ARRAY[$1::bigint, 99]), ('acme', '2026-05-02', '{}')`,
    [first],
  );
  const ofGlobex = await insert({ state: "waiting_for_acceptance", problem: "p", ...loaded }, "globex");

  await t.test("the payers of a delivery have the sums of its published changes", async (t) => {
    const payers = async (id: number, query = "") => await get(app, `${path}/${id}/payers?${query}`);
    const payer = (identity_id: string, amount: string) => ({
      identity_id,
      identity_name: null,
      team: null,
      currency: "EUR",
      amount,
    });
    const { items, total } = (await payers(first)).body;
    t.strictSame([items, total], [[payer("a", "2"), payer("b", "-1")], 2]);
    const second = (await payers(first, "page_size=1&page=2")).body;
    t.strictSame([second.items, second.total, second.pages], [[payer("b", "-1")], 2, 2]);
    t.strictSame((await payers(other)).body.items, [payer("b", "0.5")]);
    t.strictSame((await payers(refused)).body.items, []);
    holds(t, await payers(ofGlobex), { status: 404, body: { code: "delivery_not_found" } });
    t.equal((await payers(first, "page=0")).status, 400);
  });

  await t.test("the list has the newest first, with all fields", async (t) => {
    const { items, total } = await list();
    t.equal(total, 5);
    t.strictSame(
      items.map(({ delivery_id }: { delivery_id: number }) => delivery_id),
      [expired, refused, other, waits, first],
    );
    t.strictSame(items[4], {
      delivery_id: first,
      source: "aws",
      billing_period: "2026-05",
      kind: "snapshot",
      state: "current",
      problem: null,
      files,
      file_count: 1,
      duplicates: [],
      overlaps: [],
      lines: 2,
      sums,
      classes,
      change: {
        first_days: ["2026-05-01", "2026-05-06"],
        changed_days: ["2026-05-02", "2026-05-03", "2026-05-04"],
        lines_new: 2,
        lines_changed: 4,
        lines_gone: 6,
        sums: [{ currency: "EUR", amount: "1" }],
        together_with: [other],
        has_other_causes: true,
      },
      findings,
      remarks: ["odd"],
      first_day: "2026-05-01",
      last_day: "2026-05-31",
      started_at: "2026-06-01T00:00:00Z",
      loaded_at: "2026-06-01T00:01:00Z",
      accepted_at: null,
      replaced_at: null,
      expired_at: null,
    });
    holds(t, items[0], {
      delivery_id: expired,
      state: "expired",
      problem: "its last day is 2025-01-31",
      lines: 2,
      loaded_at: "2026-06-01T00:01:00Z",
      expired_at: "2026-06-02T00:00:00Z",
      replaced_at: null,
    });
    holds(t, await list("state=expired"), { total: 1, items: [{ delivery_id: expired }] });
    holds(t, items[1], { state: "refused", problem: "is not CSV", lines: null, loaded_at: null });
    const waiting = await list("state=waiting_for_acceptance");
    holds(t, waiting, { total: 1, items: [{ delivery_id: waits }] });
    const page = await list("page_size=4");
    t.equal(page.items.length, 4);
    const { items: rest, next_cursor } = await list(`page_size=4&cursor=${page.next_cursor}`);
    t.strictSame(
      [rest.map((each: { delivery_id: number }) => each.delivery_id), next_cursor],
      [[first], null],
    );
    const { status, body } = await get(app, `${path}?state=lost`);
    t.strictSame(
      [status, body.detail],
      [
        400,
        "`state` must be one of loading, current, replaced, waiting_for_acceptance, refused, expired, no_bill, superseded.",
      ],
    );
  });

  await t.test("a waiting delivery replaces the previous one once it is accepted", async (t) => {
    const { status, body } = await accept(waits);
    t.equal(status, 200, JSON.stringify(body));
    holds(t, body, { delivery_id: waits, state: "current", problem: null });
    t.type(body.accepted_at, "string");
    t.strictSame(
      await states(),
      ["expired", "refused", "current", "current", "replaced"],
      "the scope is sufficient",
    );
    holds(
      t,
      await accept(waits),
      { status: 200, body: { accepted_at: body.accepted_at } },
      "accepting again changes nothing",
    );
  });

  await t.test("accepting a delivery that does not wait is refused, and changes nothing", async (t) => {
    const before = await states();
    holds(t, await accept(first), {
      status: 409,
      body: {
        code: "delivery_not_waiting",
        detail: `Delivery ${first} is not waiting for acceptance: its state is replaced.`,
      },
    });
    holds(t, await accept(expired), {
      status: 409,
      body: {
        code: "delivery_not_waiting",
        detail: `Delivery ${expired} is not waiting for acceptance: its state is expired.`,
      },
    });
    holds(t, await accept(refused), { status: 409, body: { code: "delivery_not_waiting" } });
    holds(t, await accept(ofGlobex), { status: 404, body: { code: "delivery_not_found" } });
    holds(t, await accept(999_999), { status: 404, body: { code: "delivery_not_found" } });
    holds(t, await accept("x"), { status: 400, body: { code: "invalid_request" } });
    t.strictSame(await states(), before);
    holds(t, await accept(ofGlobex, "globex"), { status: 200, body: { state: "current" } });
  });
});
