import t from "tap";
import { holds } from "../holds.js";
import { gatherInto } from "./gathered-inventory.js";
import { get, startService } from "./service.js";

const base = "/api/v1/tenants/acme/resources";

t.test("GET /api/v1/tenants/{tenant_name}/resources", async (t) => {
  const { app, stores } = await startService(t);
  const list = async (query: string) => {
    const { status, body } = await get(app, `${base}?${query}`);
    t.equal(status, 200, query);
    return body;
  };
  const ids = async (query: string): Promise<string[]> =>
    (await list(query)).items.map(({ resource_id }: { resource_id: string }) => resource_id);

  t.same((await get(app, base)).body, {
    items: [],
    total: 0,
    page: 1,
    page_size: 100,
    pages: 0,
    next_cursor: null,
  });

  const orders = {
    resource_id: "lkc-1",
    display_name: "Orders_100%",
    parent_id: "env-1",
    owner_id: "sa-1",
    created_at: "2025-12-31T22:00:00.5-03:00",
    metadata: { cloud: "aws", cku: 2 },
  };
  const connector = { resource_id: "lcc-2", display_name: "ÜBERSICHT", resource_type: "connector" };
  const gone = { resource_id: "lkc-3", created_at: "2026-02-01T00:00:00Z" };
  const identities: [] = [];
  await gatherInto(stores, "acme", {
    at: "2026-02-10T00:00:00.123456Z",
    resources: [orders, connector, gone],
    identities,
  });
  await gatherInto(stores, "acme", {
    at: "2026-02-20T00:00:00Z",
    resources: [{ ...orders, display_name: "Payments", metadata: { cloud: "gcp" } }, connector],
    identities,
  });
  await gatherInto(stores, "globex", {
    at: "2026-02-10T00:00:00Z",
    resources: [{ resource_id: "other" }],
    identities,
  });

  await t.test(
    "the list has every known entity, also deleted ones, with every field of the interface",
    async (t) => {
      const body = await list("");
      t.equal(body.total, 3);
      t.same(body.items, [
        {
          ecosystem: "generic_metrics_only",
          tenant_id: "acme",
          resource_id: "lcc-2",
          resource_type: "connector",
          display_name: "ÜBERSICHT",
          parent_id: null,
          owner_id: null,
          status: "active",
          created_at: null,
          deleted_at: null,
          last_seen_at: "2026-02-20T00:00:00Z",
          metadata: {},
        },
        {
          ecosystem: "generic_metrics_only",
          tenant_id: "acme",
          resource_id: "lkc-1",
          resource_type: "cluster",
          display_name: "Payments",
          parent_id: "env-1",
          owner_id: "sa-1",
          status: "active",
          created_at: "2026-01-01T01:00:00.500000Z",
          deleted_at: null,
          last_seen_at: "2026-02-20T00:00:00Z",
          metadata: { cloud: "gcp" },
        },
        {
          ecosystem: "generic_metrics_only",
          tenant_id: "acme",
          resource_id: "lkc-3",
          resource_type: "cluster",
          display_name: null,
          parent_id: null,
          owner_id: null,
          status: "deleted",
          created_at: "2026-02-01T00:00:00Z",
          deleted_at: "2026-02-20T00:00:00Z",
          last_seen_at: "2026-02-10T00:00:00.123456Z",
          metadata: {},
        },
      ]);
    },
  );

  await t.test("active_at shows the resources as they were known then", async (t) => {
    const { items } = await list("active_at=2026-02-15T00:00:00Z&search=lkc-1");
    holds(t, items, [
      {
        display_name: "Orders_100%",
        metadata: { cloud: "aws", cku: 2 },
        last_seen_at: "2026-02-10T00:00:00.123456Z",
      },
    ]);
  });

  for (const [query, wanted] of [
    ["resource_type=cluster", ["lkc-1", "lkc-3"]],
    ["resource_type=Cluster", []],
    ["resource_type=clust", []],
    ["status=active", ["lcc-2", "lkc-1"]],
    ["status=deleted", ["lkc-3"]],
    ["search=LKC", ["lkc-1", "lkc-3"]],
    ["search=paym", ["lkc-1"]],
    ["search=%C3%BCbersicht", ["lcc-2"]],
    ["search=Orders", []],
    ["search=%25", []],
    ["search=_", []],
    ["search=_100%25&active_at=2026-02-15T00:00:00Z", ["lkc-1"]],
    ["search=a%27%20OR%201%3D1--", []],
    ["active_at=2026-02-15T00:00:00Z", ["lcc-2", "lkc-1", "lkc-3"]],
    ["active_at=2026-02-20T00:00:00Z", ["lcc-2", "lkc-1"]],
    ["active_at=2026-02-19T23:59:59.999999Z", ["lcc-2", "lkc-1", "lkc-3"]],
    ["active_at=2026-01-01T01:00:00.5Z", ["lcc-2", "lkc-1"]],
    ["active_at=2026-01-01T00:59:59Z", ["lcc-2"]],
    ["active_at=2025-12-31T22:00:00.5-03:00", ["lcc-2", "lkc-1"]],
    ["active_at=2026-01-01T06:30:00.5%2B05:30", ["lcc-2", "lkc-1"]],
    ["active_at=2026-02-25T00:00:00Z&status=deleted", []],
    ["period_start=2026-02-15T00:00:00Z&period_end=2026-02-25T00:00:00Z", ["lcc-2", "lkc-1", "lkc-3"]],
    ["period_start=2026-02-15T00:00:00Z&period_end=2026-02-25T00:00:00Z&status=deleted", ["lkc-3"]],
    ["period_start=2026-02-20T00:00:00Z&period_end=2026-02-25T00:00:00Z", ["lcc-2", "lkc-1"]],
    ["period_start=2025-01-01T00:00:00Z&period_end=2026-02-01T00:00:00Z", ["lcc-2", "lkc-1"]],
    ["period_start=2026-02-15T00:00:00Z&period_end=2026-02-15T00:00:00Z", ["lcc-2", "lkc-1", "lkc-3"]],
    ["order=desc", ["lkc-3", "lkc-1", "lcc-2"]],
    ["sort=display_name", ["lkc-3", "lkc-1", "lcc-2"]],
    ["sort=created_at", ["lcc-2", "lkc-1", "lkc-3"]],
    ["sort=created_at&order=desc", ["lkc-3", "lkc-1", "lcc-2"]],
    ["sort=deleted_at&order=desc", ["lkc-3", "lkc-1", "lcc-2"]],
    ["sort=resource_type&order=desc", ["lcc-2", "lkc-3", "lkc-1"]],
    ["sort=status", ["lcc-2", "lkc-1", "lkc-3"]],
    ["sort=last_seen_at", ["lkc-3", "lcc-2", "lkc-1"]],
    ["page_size=2&page=2", ["lkc-3"]],
    ["page_size=2&page=3", []],
    ["page=9007199254740991&page_size=1000", []],
  ] as const) {
    await t.test(query, async (t) => t.same(await ids(query), wanted));
  }

  await t.test("the total covers all matching rows, also on a page past the end", async (t) => {
    holds(t, await list("page=5&search=lkc"), { items: [], total: 2, pages: 1, page: 5, next_cursor: null });
  });

  for (const order of ["asc", "desc"] as const) {
    for (const sort of [
      "resource_id",
      "resource_type",
      "display_name",
      "status",
      "created_at",
      "deleted_at",
      "last_seen_at",
    ]) {
      await t.test(`cursors walk through all rows by ${sort} ${order}`, async (t) => {
        for (const moment of ["", "&active_at=2026-02-15T00:00:00Z"]) {
          const query = `sort=${sort}&order=${order}${moment}`;
          const whole = await ids(query);
          t.equal(whole.length, 3);
          const walked: string[] = [];
          for (let cursor: string | null = ""; cursor !== null; ) {
            const body = await list(`${query}&page_size=1${cursor && `&cursor=${cursor}`}`);
            holds(t, body, { total: 3, page: 1 });
            walked.push(...body.items.map(({ resource_id }: { resource_id: string }) => resource_id));
            cursor = body.next_cursor;
          }
          t.same(walked, whole);
        }
      });
    }
  }

  await t.test("a cursor continues correctly after rows were added and removed", async (t) => {
    const first = await list("page_size=1&active_at=2026-02-22T00:00:00Z&search=c");
    t.equal(first.items[0].resource_id, "lcc-2");
    const rest = await list(
      `page_size=1000&active_at=2026-02-22T00:00:00Z&search=c&cursor=${first.next_cursor}`,
    );
    t.same(
      rest.items.map(({ resource_id }: { resource_id: string }) => resource_id),
      ["lkc-1"],
    );
  });

  const { next_cursor } = await list("page_size=1");
  const forged = (parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString("base64url");
  const [version, kind, fingerprint] = JSON.parse(Buffer.from(next_cursor, "base64url").toString());
  for (const [what, query] of [
    ["of another order", `order=desc&cursor=${next_cursor}`],
    ["of other filters", `search=x&cursor=${next_cursor}`],
    ["of another time", `active_at=2026-02-15T00:00:00Z&cursor=${next_cursor}`],
    ["that is cut", `cursor=${next_cursor.slice(0, -3)}`],
    ["that is anything", "cursor=abc"],
    ["with other characters", "cursor=a%27b"],
    ["of another version", `cursor=${forged([0, kind, fingerprint, "x"])}`],
    ["of another list", `cursor=${forged([version, "identities", fingerprint, "x"])}`],
    ["with a key too long", `cursor=${forged([version, kind, fingerprint, "x", "y"])}`],
    ["without a key", `cursor=${forged([version, kind, fingerprint])}`],
    ["with a key of another type", `cursor=${forged([version, kind, fingerprint, 5])}`],
    ["with a key of no type", `cursor=${forged([version, kind, fingerprint, { a: 1 }])}`],
    ["with a zero byte", `cursor=${forged([version, kind, fingerprint, "\0"])}`],
  ] as const) {
    await t.test(`400 for a cursor ${what}`, async (t) => {
      const { status, body } = await get(app, `${base}?${query}`);
      t.equal(status, 400);
      holds(t, body, { code: "invalid_cursor", detail: /next_cursor/ });
    });
  }

  for (const [query, detail] of [
    [`cursor=${next_cursor}&page=2`, /`cursor` and `page` exclude each other/],
    ["active_at=2026-02-15T00:00:00Z&period_start=2026-02-15T00:00:00Z", /cannot be combined/],
    [
      "active_at=2026-02-15T00:00:00Z&period_start=2026-02-15T00:00:00Z&period_end=2026-02-16T00:00:00Z",
      /cannot be combined/,
    ],
    [
      "period_start=2026-02-15T00:00:00Z",
      /`period_end` is required with `period_start`: a period needs both ends\./,
    ],
    [
      "period_end=2026-02-15T00:00:00Z",
      /`period_start` is required with `period_end`: a period needs both ends\./,
    ],
    [
      "period_start=2026-02-16T00:00:00Z&period_end=2026-02-15T00:00:00Z",
      /`period_start` must not be later than `period_end`/,
    ],
    ["active_at=2026-02-15T00:00:00", /`active_at` must be an instant with its offset/],
    ["active_at=2026-02-15", /active_at/],
    ["active_at=2026-02-15T00:00:00+01:00", /%2B/],
    ["active_at=1771113600", /active_at/],
    ["active_at=now", /active_at/],
    ["active_at=", /active_at/],
    ["active_at=2026-02-30T00:00:00Z", /active_at/],
    ["active_at=2026-02-15T24:00:00Z", /active_at/],
    ["active_at=0001-01-01T00:00:00Z", /in the years 1900 to 2299/],
    ["active_at=infinity", /active_at/],
    ["period_start=yesterday&period_end=2026-02-15T00:00:00Z", /period_start/],
    ["status=Active", /`status` must be one of active, deleted\./],
    ["status=", /status/],
    ["sort=metadata", /`sort` must be one of resource_id, /],
    ["sort=resource_id;drop", /sort/],
    ["order=up", /`order` must be one of asc, desc/],
    ["identity_type=x", /Unknown parameter `identity_type`/],
    ["search=a&search=b", /once/],
  ] as const) {
    await t.test(`400 ${query}`, async (t) => {
      const { status, body } = await get(app, `${base}?${query}`);
      t.equal(status, 400);
      holds(t, body, { code: "invalid_request", detail });
    });
  }

  await t.test("an unknown tenant is 404, even if the request has other problems", async (t) => {
    t.equal((await get(app, "/api/v1/tenants/nobody/resources?status=x")).status, 404);
  });
});
