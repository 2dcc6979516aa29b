import t from "tap";
import { gatherInto } from "./gathered-inventory.js";
import { get, startService } from "./service.js";

const summary = "/api/v1/tenants/acme/inventory/summary";

t.test("GET /api/v1/tenants/{tenant_name}/inventory/summary", async (t) => {
  const { app, stores } = await startService(t);
  const unallocated = { identity_id: "UNALLOCATED", identity_type: "system" };
  const pool = { identity_id: "pool-1", identity_type: "identity_pool", created_at: "2026-02-05T00:00:00Z" };
  await gatherInto(stores, "acme", {
    at: "2026-02-10T00:00:00Z",
    resources: [{ resource_id: "lkc-1" }],
    identities: [unallocated, { identity_id: "sa-1" }, { identity_id: "sa-2" }, pool],
  });
  await gatherInto(stores, "acme", {
    at: "2026-02-20T00:00:00Z",
    resources: [{ resource_id: "lkc-2" }],
    identities: [unallocated, { identity_id: "sa-1" }, pool],
  });

  await t.test("resources and identities are counted by deleted_at", async (t) => {
    t.same((await get(app, summary)).body, {
      resource_counts: { cluster: { total: 2, active: 1, deleted: 1 } },
      identity_counts: {
        identity_pool: { total: 1, active: 1, deleted: 0 },
        principal: { total: 2, active: 1, deleted: 1 },
        system: { total: 1, active: 1, deleted: 0 },
      },
    });
    t.same((await get(app, "/api/v1/tenants/globex/inventory/summary")).body, {
      resource_counts: {},
      identity_counts: {},
    });
  });

  await t.test("with active_at, the counts are as of that time", async (t) => {
    t.same((await get(app, `${summary}?active_at=2026-02-04T00:00:00Z`)).body, {
      resource_counts: {
        cluster: { total: 2, active: 2, deleted: 0 },
      },
      identity_counts: {
        principal: { total: 2, active: 2, deleted: 0 },
        system: { total: 1, active: 1, deleted: 0 },
      },
    });
    const { body } = await get(app, `${summary}?active_at=2026-02-20T00:00:00Z`);
    t.same(body.identity_counts.principal, { total: 2, active: 1, deleted: 1 });
    t.same(body.resource_counts.cluster, { total: 2, active: 1, deleted: 1 });
  });

  await t.test("unknown parameters of the summary are refused", async (t) => {
    for (const query of [
      "active_at=2026-02-15",
      "period_start=2026-02-15T00:00:00Z",
      "resource_type=x",
      "page=1",
    ]) {
      t.equal((await get(app, `${summary}?${query}`)).status, 400, query);
    }
    t.equal((await get(app, "/api/v1/tenants/nobody/inventory/summary")).status, 404);
  });
});
