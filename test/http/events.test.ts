/** Events on the time line of costs: changed rules, and bills that were delivered again. */
import t from "tap";
import { get, insertChargebacks, startService } from "./service.js";

t.test("GET /api/v1/tenants/{tenant_name}/events", async (t) => {
  const { app, stores } = await startService(t);
  const send = async (dates: string, tenant = "acme") => {
    const { status, body } = await get(app, `/api/v1/tenants/${tenant}/events?${dates}`);
    t.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const march = "start_date=2026-03-01&end_date=2026-03-31";
  t.strictSame(await send(march), [], "a tenant without a run has no events");

  const charge = (day: string, rules_hash: string, resource_id = "r-1") => ({
    timestamp: `${day}T12:00:00Z`,
    amount: "1",
    resource_id,
    rules_hash,
  });
  await insertChargebacks(stores, "acme", [
    charge("2026-01-20", "z"),
    charge("2026-02-20", "a"),
    ...["r-0", "r-1", "r-2"].map((resource) => charge("2026-03-01", "a", resource)),
    charge("2026-03-04", "b"),
    charge("2026-03-05", ""),
    charge("2026-03-06", "b"),
    charge("2026-03-07", "a"),
    charge("2026-04-01", "c"),
  ]);
  await stores.postgres.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'focus')",
  );
  const rules = (day: string) => ({
    kind: "rules_changed",
    day,
    last_day: null,
    source: null,
    billing_period: null,
    delivery_count: null,
    at: null,
  });

  await t.test("rules of a day differ from those of the last day with costs and known rules", async (t) => {
    t.strictSame(await send(march), [rules("2026-03-04"), rules("2026-03-07")]);
    t.strictSame(await send("start_date=2026-03-07&end_date=2026-04-01"), [
      rules("2026-03-07"),
      rules("2026-04-01"),
    ]);
    t.strictSame(await send("start_date=2026-02-20&end_date=2026-02-20"), [rules("2026-02-20")]);
    t.strictSame(await send("start_date=2026-02-21&end_date=2026-03-03"), []);
    t.strictSame(await send("start_date=2026-01-20&end_date=2026-01-20"), [], "nothing was there before");
    t.strictSame(await send("start_date=1900-01-01&end_date=2299-12-31"), [
      rules("2026-02-20"),
      rules("2026-03-04"),
      rules("2026-03-07"),
      rules("2026-04-01"),
    ]);
    t.strictSame(await send(march, "globex"), []);
  });

  await t.test("a bill is shown once, with the days that its newer deliveries changed", async (t) => {
    const deliver = async (
      source: string,
      state: string,
      loaded: string,
      columns: Record<string, unknown> = {},
    ) => {
      const values: Record<string, unknown> = {
        tenant_name: "acme",
        source,
        scope: "2026-03",
        kind: "snapshot",
        content_id: loaded,
        settings_hash: "h",
        billing_period: "2026-03",
        epoch: 1,
        state,
        loaded_at: loaded,
        replaced_at: state === "replaced" ? loaded : null,
        first_day: "2026-03-01",
        last_day: "2026-03-31",
        ...columns,
      };
      const places = Object.keys(values).map((_, index) => `$${index + 1}`);
      const { rows } = await stores.postgres.query(
        `INSERT INTO deliveries (${Object.keys(values).join(", ")}) VALUES (${places.join(", ")}) RETURNING delivery_id`,
        Object.values(values),
      );
      return Number(rows[0].delivery_id);
    };
    const change = (deliveries: readonly number[], days: readonly string[], isPublished = true) =>
      stores.postgres.query(
        `INSERT INTO delivery_changes (tenant_name, deliveries, days, lines_new, lines_changed, lines_gone, is_mixed, is_published)
        VALUES ('acme', $1, $2, 0, 1, 0, false, $3)`,
        [deliveries, days, isPublished],
      );
    await deliver("aws", "replaced", "2026-04-01T00:00:00Z");
    const second = await deliver("aws", "replaced", "2026-04-02T00:00:00Z");
    const third = await deliver("aws", "current", "2026-04-03T00:00:00Z", {
      accepted_at: "2026-04-04T10:00:00Z",
    });
    const other = await deliver("azure", "current", "2026-04-03T00:00:00Z");
    await deliver("azure", "replaced", "2026-05-03T00:00:00Z", { scope: "2026-04" });
    await deliver("oci", "replaced", "2026-04-01T00:00:00Z");
    await deliver("oci", "waiting_for_acceptance", "2026-04-02T00:00:00Z", { problem: "it is smaller" });
    t.strictSame(
      await send(march),
      [rules("2026-03-04"), rules("2026-03-07")],
      "deliveries that changed no published day are no events",
    );
    await change([third], ["2026-03-20"], false);
    await change([second], ["2026-03-02", "2026-03-05"]);
    await change([third, other], ["2026-03-05", "2026-03-06", "2026-04-01"]);
    const bill = (day: string, last_day: string) => ({
      kind: "bill_replaced",
      day,
      last_day,
      source: "aws",
      billing_period: "2026-03",
      delivery_count: 3,
      at: "2026-04-04T10:00:00Z",
    });
    t.strictSame(await send(march), [
      bill("2026-03-02", "2026-03-06"),
      rules("2026-03-04"),
      rules("2026-03-07"),
    ]);
    t.strictSame(await send("start_date=2026-03-05&end_date=2026-03-06"), [bill("2026-03-05", "2026-03-06")]);
    t.strictSame(await send("start_date=2026-03-08&end_date=2026-03-31"), []);
    t.strictSame(await send("start_date=2026-04-02&end_date=2026-04-30"), []);
  });

  t.equal((await get(app, "/api/v1/tenants/nobody/events")).status, 404);
});
