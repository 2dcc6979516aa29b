import t from "tap";
import { holds } from "../holds.js";
import { get, startService } from "./service.js";

const runs = "/api/v1/tenants/acme/pipeline/runs";
const idOf = (number: number) => `0b7e1f5e-0000-4000-8000-${String(number).padStart(12, "0")}`;

t.test("GET /api/v1/tenants/{tenant_name}/pipeline/runs", async (t) => {
  const { app, stores } = await startService(t);
  const pg = stores.postgres;
  for (const tenant of ["acme", "globex"]) {
    await pg.query("INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ($1, $1, 'e')", [tenant]);
  }
  const insertRun = (number: number, columns: Record<string, unknown>, tenant = "acme") => {
    const values = { run_id: idOf(number), tenant_name: tenant, epoch: number, ...columns };
    const names = Object.keys(values);
    return pg.query(
      `INSERT INTO runs (${names.join(", ")}) VALUES (${names.map((_, index) => `$${index + 1}`).join(", ")})`,
      Object.values(values),
    );
  };
  const history = async (query = "") => {
    const { status, body } = await get(app, `${runs}?${query}`);
    t.equal(status, 200);
    return body;
  };
  holds(t, await history(), { items: [], total: 0, pages: 0, next_cursor: null });

  const errors = [
    { date: "2026-02-27", source: "calculate", message: "sums differ" },
    { date: null, source: "gather", message: "upstream away" },
    "bare",
  ];
  await insertRun(1, {
    trigger: "schedule",
    status: "failed",
    started_at: "2026-03-01T00:00:00.5Z",
    ended_at: "2026-03-01T00:05:00.000001Z",
    dates_gathered: 3,
    dates_pending: 3,
    dates_calculated: 2,
    chargeback_rows_written: 6,
    errors: JSON.stringify(errors),
  });
  const ended = { status: "completed", ended_at: "2026-03-02T00:01:00Z" };
  await insertRun(2, { trigger: "cli", started_at: "2026-03-02T00:00:00Z", ...ended });
  await insertRun(3, { trigger: "api", started_at: "2026-03-02T00:00:00Z", ...ended });
  await insertRun(4, {
    trigger: "api",
    status: "running",
    stage: "calculating",
    stage_date: "2026-02-28",
    started_at: "2026-03-03T00:00:00Z",
  });
  await insertRun(5, { trigger: "api", started_at: "2026-03-04T00:00:00Z", ...ended }, "globex");
  const lease = (epoch: number, expires: string) =>
    pg.query(
      `INSERT INTO leases VALUES ('acme', 'w', ${epoch}, ${expires}) ON CONFLICT (tenant_name) DO UPDATE SET epoch = excluded.epoch, expires_at = excluded.expires_at`,
    );
  await lease(4, "now() + interval '1 hour'");

  await t.test("the list has the newest first, with all fields", async (t) => {
    const { items, total } = await history();
    t.equal(total, 4);
    t.same(
      items.map(({ run_id }: { run_id: string }) => run_id),
      [4, 3, 2, 1].map(idOf),
    );
    holds(t, items[0], {
      status: "running",
      stage: "calculating",
      stage_date: "2026-02-28",
      ended_at: null,
      errors: [],
    });
    t.same(items[3], {
      run_id: idOf(1),
      tenant_name: "acme",
      trigger: "schedule",
      status: "failed",
      stage: null,
      stage_date: null,
      started_at: "2026-03-01T00:00:00.500000Z",
      ended_at: "2026-03-01T00:05:00.000001Z",
      dates_gathered: 3,
      dates_pending: 3,
      dates_calculated: 2,
      chargeback_rows_written: 6,
      errors: [...errors.slice(0, 2), { date: null, source: null, message: "bare" }],
      notes: [],
    });
  });

  await t.test("pages and cursors return the same rows", async (t) => {
    const paged = [];
    for (let page = 1; page <= 4; page += 1) paged.push(...(await history(`page_size=1&page=${page}`)).items);
    const walked = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const body = await history(`page_size=1${cursor && `&cursor=${cursor}`}`);
      holds(t, body, { total: 4, pages: 4 });
      walked.push(...body.items);
      cursor = body.next_cursor;
    }
    t.same(walked, paged);
    t.equal(walked.length, 4);
    holds(t, await history("page=9&page_size=3"), { items: [], total: 4, pages: 2 });
  });

  await t.test("a run that starts between two pages does not disturb the cursor", async (t) => {
    const { next_cursor } = await history("page_size=2");
    await insertRun(6, { trigger: "api", started_at: "2026-03-05T00:00:00Z", ...ended });
    const { items } = await history(`page_size=2&cursor=${next_cursor}`);
    t.same(
      items.map(({ run_id }: { run_id: string }) => run_id),
      [2, 1].map(idOf),
    );
    await pg.query("DELETE FROM runs WHERE run_id = $1", [idOf(6)]);
  });

  await t.test("GET …/pipeline/runs/{run_id} returns one run", async (t) => {
    const one = await get(app, `${runs}/${idOf(1)}`);
    t.equal(one.status, 200);
    t.same(one.body, (await history()).items[3]);
    holds(t, (await get(app, `${runs}/${idOf(4)}`)).body, { status: "running", stage: "calculating" });
  });

  for (const [what, id] of [
    ["that is not there", idOf(99)],
    ["of another tenant", idOf(5)],
    ["that is no id", "newest"],
    ["that is nearly one", idOf(1).slice(1)],
  ] as const) {
    await t.test(`404 for a run ${what}`, async (t) => {
      const { status, body } = await get(app, `${runs}/${id}`);
      t.equal(status, 404);
      holds(t, body, { code: "run_not_found" });
    });
  }

  await t.test("a run whose lease has expired or was taken over counts as failed", async (t) => {
    for (const [epoch, expires, ended_at] of [
      [4, "'2026-03-03T01:00:00Z'", "2026-03-03T01:00:00Z"],
      [9, "now() + interval '1 hour'", "2026-03-03T00:00:00Z"],
    ] as const) {
      await lease(epoch, expires);
      const wanted = {
        status: "failed",
        stage: null,
        stage_date: null,
        ended_at,
        errors: [{ date: null, source: "run", message: /interrupted/ }],
      };
      holds(t, (await history()).items[0], wanted);
      holds(t, (await get(app, `${runs}/${idOf(4)}`)).body, wanted);
      holds(t, (await get(app, "/api/v1/tenants/acme/pipeline/status")).body, { is_running: false });
    }
  });

  for (const [query, code] of [
    ["status=failed", "invalid_request"],
    ["page_size=0", "invalid_request"],
    ["cursor=x", "invalid_cursor"],
  ] as const) {
    await t.test(`400 ${query}`, async (t) => {
      holds(t, await get(app, `${runs}?${query}`), { status: 400, body: { code } });
    });
  }

  await t.test("a made-up cursor is 400", async (t) => {
    const { next_cursor } = await history("page_size=1");
    const [version, kind, fingerprint] = JSON.parse(Buffer.from(next_cursor, "base64url").toString());
    for (const key of [
      ["2026-03-01T00:00:00Z", "x"],
      ["yesterday", idOf(1)],
      ["2026-02-31T00:00:00Z", idOf(1)],
      [1, 2],
    ]) {
      const cursor = Buffer.from(JSON.stringify([version, kind, fingerprint, ...key])).toString("base64url");
      holds(
        t,
        await get(app, `${runs}?cursor=${cursor}`),
        { status: 400, body: { code: "invalid_cursor" } },
        String(key),
      );
    }
  });
});
