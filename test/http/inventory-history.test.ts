import t from "tap";
import { holds } from "../holds.js";
import { gatherInto } from "./gathered-inventory.js";
import { get, startService } from "./service.js";

const base = "/api/v1/tenants/acme";

t.test("resources and identities have a history", async (t) => {
  const { app, stores } = await startService(t);
  const hostile = "crn://a=b/c?d#e' \"\\ <img>..";
  const first = {
    resource_id: "lkc-1",
    display_name: "orders",
    owner_id: "sa-1",
    created_at: "2026-01-05T10:00:00.25Z",
  };
  const person = { identity_id: "sa-1", display_name: "Ann" };
  const gatherings = [
    { at: "2026-02-01T00:00:00Z", resources: [first, { resource_id: hostile }], identities: [person] },
    { at: "2026-02-02T00:00:00Z", resources: [first, { resource_id: hostile }], identities: [person] },
    { at: "2026-02-03T00:00:00.5Z", resources: [{ ...first, owner_id: "sa-2" }], identities: [person] },
    { at: "2026-02-04T00:00:00Z", resources: [], identities: [{ ...person, display_name: "Anne" }] },
    { at: "2026-02-05T00:00:00Z", resources: [{ ...first, owner_id: "sa-3" }], identities: [] },
  ];
  for (const gathering of gatherings) await gatherInto(stores, "acme", gathering);
  await gatherInto(stores, "globex", {
    at: "2026-02-01T00:00:00Z",
    resources: [{ resource_id: "other" }],
    identities: [],
  });
  const history = async (query: string) => {
    const { status, body } = await get(app, `${base}/${query}`);
    t.equal(status, 200, JSON.stringify(body));
    return body;
  };

  await t.test("the history of a resource has its lifetimes and owners, the newest first", async (t) => {
    const body = await history("resources/history?resource_id=lkc-1");
    t.strictSame([body.total, body.page, body.pages, body.next_cursor], [4, 1, 1, null]);
    t.strictSame(
      body.items.map((each: Record<string, unknown>) => [
        each.valid_from,
        each.valid_to,
        each.status,
        each.owner_id,
        each.deleted_at,
        each.last_seen_at,
      ]),
      [
        ["2026-02-05T00:00:00Z", null, "active", "sa-3", null, "2026-02-05T00:00:00Z"],
        [
          "2026-02-04T00:00:00Z",
          "2026-02-05T00:00:00Z",
          "deleted",
          "sa-2",
          "2026-02-04T00:00:00Z",
          "2026-02-03T00:00:00.500000Z",
        ],
        [
          "2026-02-03T00:00:00.500000Z",
          "2026-02-04T00:00:00Z",
          "active",
          "sa-2",
          null,
          "2026-02-03T00:00:00.500000Z",
        ],
        [null, "2026-02-03T00:00:00.500000Z", "active", "sa-1", null, "2026-02-02T00:00:00Z"],
      ],
    );
    holds(t, body.items[3], {
      ecosystem: "generic_metrics_only",
      tenant_id: "acme",
      resource_id: "lkc-1",
      resource_type: "cluster",
      display_name: "orders",
      parent_id: null,
      created_at: "2026-01-05T10:00:00.250000Z",
      metadata: {},
    });
  });

  await t.test("each version is equal to the list as of its time", async (t) => {
    const { items } = await history("resources/history?resource_id=lkc-1");
    for (const { valid_from, valid_to: _, ...version } of items.slice(0, 3)) {
      const listed = await history(`resources?active_at=${valid_from}&search=lkc-1`);
      t.strictSame(listed.items, version.status === "deleted" ? [] : [version], valid_from);
    }
  });

  await t.test("the history of an identity has its lifetimes and names", async (t) => {
    const body = await history("identities/history?identity_id=sa-1");
    t.strictSame(
      body.items.map((each: Record<string, unknown>) => [
        each.valid_from,
        each.valid_to,
        each.display_name,
        each.deleted_at,
      ]),
      [
        ["2026-02-05T00:00:00Z", null, "Anne", "2026-02-05T00:00:00Z"],
        ["2026-02-04T00:00:00Z", "2026-02-05T00:00:00Z", "Anne", null],
        [null, "2026-02-04T00:00:00Z", "Ann", null],
      ],
    );
  });

  await t.test("a history has pages, and ids of any characters", async (t) => {
    const page = await history("resources/history?resource_id=lkc-1&page=2&page_size=3");
    t.strictSame([page.items.length, page.items[0].owner_id, page.total, page.pages], [1, "sa-1", 4, 2]);
    const past = await history("resources/history?resource_id=lkc-1&page=3&page_size=3");
    t.strictSame([past.items, past.total], [[], 4]);
    const odd = await history(`resources/history?resource_id=${encodeURIComponent(hostile)}`);
    t.strictSame(
      odd.items.map(({ resource_id, status }: Record<string, unknown>) => [resource_id, status]),
      [
        [hostile, "deleted"],
        [hostile, "active"],
      ],
    );
  });

  await t.test("the history of an unknown id is 404", async (t) => {
    for (const [query, status, code] of [
      ["resources/history?resource_id=other", 404, "resource_not_found"],
      ["resources/history?resource_id=LKC-1", 404, "resource_not_found"],
      ["identities/history?identity_id=lkc-1", 404, "identity_not_found"],
      ["resources/history", 400, "invalid_request"],
      ["identities/history?resource_id=lkc-1", 400, "invalid_request"],
      ["resources/history?resource_id=", 400, "invalid_request"],
    ] as const) {
      const response = await get(app, `${base}/${query}`);
      t.strictSame([response.status, response.body.code], [status, code], query);
    }
  });
});
