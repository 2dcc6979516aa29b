import t from "tap";
import { holds } from "../holds.js";
import { gatherInto } from "./gathered-inventory.js";
import { get, startService } from "./service.js";

const base = "/api/v1/tenants/acme/identities";

t.test("GET /api/v1/tenants/{tenant_name}/identities", async (t) => {
  const { app, stores } = await startService(t);
  const ids = async (query: string): Promise<string[]> => {
    const { status, body } = await get(app, `${base}?${query}`);
    t.equal(status, 200, query);
    return body.items.map(({ identity_id }: { identity_id: string }) => identity_id);
  };
  holds(t, (await get(app, base)).body, { items: [], total: 0, pages: 0, next_cursor: null });

  const unallocated = { identity_id: "UNALLOCATED", identity_type: "system", display_name: "Unallocated" };
  const pool = { identity_id: "pool-1", identity_type: "identity_pool", created_at: "2026-02-05T00:00:00Z" };
  const gone = { identity_id: "sa-2", created_at: "2026-01-01T00:00:00Z" };
  const resources = [{ resource_id: "lkc-1" }];
  await gatherInto(stores, "acme", {
    at: "2026-02-10T00:00:00Z",
    resources,
    identities: [
      unallocated,
      { identity_id: "sa-1", display_name: "Billing", metadata: { team: "red" } },
      gone,
      pool,
    ],
  });
  await gatherInto(stores, "acme", {
    at: "2026-02-20T00:00:00Z",
    resources: [{ resource_id: "lkc-2" }],
    identities: [
      unallocated,
      { identity_id: "sa-1", display_name: "Invoices", metadata: { team: "blue" } },
      pool,
    ],
  });

  await t.test(
    "the list has every known entity, also deleted ones, with every field of the interface",
    async (t) => {
      const { body } = await get(app, `${base}?search=sa-`);
      t.same(body.items, [
        {
          ecosystem: "generic_metrics_only",
          tenant_id: "acme",
          identity_id: "sa-1",
          identity_type: "principal",
          display_name: "Invoices",
          created_at: null,
          deleted_at: null,
          last_seen_at: "2026-02-20T00:00:00Z",
          metadata: { team: "blue" },
        },
        {
          ecosystem: "generic_metrics_only",
          tenant_id: "acme",
          identity_id: "sa-2",
          identity_type: "principal",
          display_name: null,
          created_at: "2026-01-01T00:00:00Z",
          deleted_at: "2026-02-20T00:00:00Z",
          last_seen_at: "2026-02-10T00:00:00Z",
          metadata: {},
        },
      ]);
    },
  );

  for (const [query, wanted] of [
    ["", ["UNALLOCATED", "pool-1", "sa-1", "sa-2"]],
    ["identity_type=principal", ["sa-1", "sa-2"]],
    ["search=BILL", []],
    ["search=BILL&active_at=2026-02-19T23:59:59Z", ["sa-1"]],
    ["active_at=2026-02-20T00:00:00Z", ["UNALLOCATED", "pool-1", "sa-1"]],
    ["active_at=2026-02-04T00:00:00Z", ["UNALLOCATED", "sa-1", "sa-2"]],
    ["active_at=2025-01-01T00:00:00Z", ["UNALLOCATED", "sa-1"]],
    [
      "period_start=2026-02-19T00:00:00Z&period_end=2026-02-21T00:00:00Z",
      ["UNALLOCATED", "pool-1", "sa-1", "sa-2"],
    ],
    ["period_start=2026-02-20T00:00:00Z&period_end=2026-02-21T00:00:00Z&identity_type=principal", ["sa-1"]],
    ["sort=identity_type&order=desc", ["UNALLOCATED", "sa-2", "sa-1", "pool-1"]],
    ["sort=display_name&page_size=1&page=4", ["UNALLOCATED"]],
  ] as const) {
    await t.test(query, async (t) => t.same(await ids(query), wanted));
  }

  await t.test("cursors return all rows", async (t) => {
    const walked: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await get(
        app,
        `${base}?sort=created_at&order=desc&page_size=1${cursor && `&cursor=${cursor}`}`,
      );
      walked.push(body.items[0].identity_id);
      cursor = body.next_cursor;
    }
    t.same(walked, ["pool-1", "sa-2", "sa-1", "UNALLOCATED"]);
  });

  for (const [query, detail] of [
    ["status=active", /Unknown parameter `status`/],
    ["sort=status", /`sort` must be one of identity_id, /],
    ["active_at=2026-02-15", /active_at/],
    ["period_end=2026-02-15T00:00:00Z", /period_start/],
    ["active_at=2026-02-15T00:00:00Z&period_end=2026-02-15T00:00:00Z", /cannot be combined/],
  ] as const) {
    await t.test(`400 ${query}`, async (t) => {
      const { status, body } = await get(app, `${base}?${query}`);
      t.equal(status, 400);
      holds(t, body, { code: "invalid_request", detail });
    });
  }
});
