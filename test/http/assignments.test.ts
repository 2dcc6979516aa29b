/** Assignments by the API: creating, listing, ending, deleting, and exporting them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readIdentityMap } from "../../src/config/allocation/identity-map.js";
import { createToken } from "../../src/postgres/tokens.js";
import { temporaryFolder } from "../stores.js";
import { get, startService } from "./service.js";

const acme = "/api/v1/tenants/acme/assignments";
const input = {
  resource_ids: ["i-1", "i-2", "i-1"],
  identity_id: " web ",
  valid_from: "2026-03-01",
  valid_to: "2026-03-05",
  reason: "the team took it over",
  created_by: "ada",
};

t.test("assignments by the API", async (t) => {
  const { app, stores } = await startService(t);
  const send = async (method: "POST" | "PATCH" | "DELETE", payload?: object, url = acme) => {
    const response = await app.inject({ method, url, ...(payload && { payload }) });
    return { status: response.statusCode, body: response.body === "" ? undefined : response.json() };
  };
  const listed = async (query = "") => (await get(app, `${acme}${query}`)).body;
  const item = (resource_id: string, assignment_id: number, changes: object = {}) => ({
    assignment_id,
    resource_id,
    identity_id: "web",
    valid_from: "2026-03-01",
    valid_to: "2026-03-05",
    reason: "the team took it over",
    created_by: "ada",
    ...changes,
  });
  type Item = ReturnType<typeof item> & { created_at: string };
  const withoutTime = (items: readonly Item[]) => items.map(({ created_at: _, ...rest }) => rest);

  await t.test("before the first run of a tenant, many resources are assigned at once", async (t) => {
    const { status, body } = await send("POST", input);
    t.equal(status, 200, JSON.stringify(body));
    t.strictSame(
      { ...body, items: withoutTime(body.items) },
      { created_count: 2, unchanged_count: 0, items: [item("i-1", 1), item("i-2", 2)] },
    );
  });

  await t.test("a request that is sent again changes nothing", async (t) => {
    const { body } = await send("POST", { ...input, resource_ids: ["i-2", "i-3"] });
    t.strictSame(
      { ...body, items: withoutTime(body.items) },
      { created_count: 1, unchanged_count: 1, items: [item("i-2", 2), item("i-3", 3)] },
    );
    const again = await send("POST", { ...input, resource_ids: ["i-2", "i-3"] });
    t.strictSame([again.body.created_count, again.body.unchanged_count], [0, 2]);
    const audit = (await get(app, "/api/v1/tenants/acme/audit")).body;
    t.equal(audit.total, 2, "a request without a change has no entry");
    const [{ action, subject }] = audit.items;
    t.strictSame(
      [action, subject.resource_ids, subject.created_count],
      ["assignResources", ["i-2", "i-3"], 1],
    );
  });

  await t.test(
    "assignments that share a day are refused, with both named, and nothing is changed",
    async (t) => {
      const overlaps: [changes: object, existing: string, wanted: string][] = [
        [
          { identity_id: "ops" },
          "2026-03-01 to 2026-03-05 (assignment 1)",
          '"ops" from 2026-03-01 to 2026-03-05',
        ],
        [{ valid_from: "2026-03-05", valid_to: null }, "", '"web" from 2026-03-05 without end'],
        [{ valid_from: "2026-02-01", valid_to: "2026-03-01" }, "", '"web" from 2026-02-01 to 2026-03-01'],
        [{ valid_from: "2026-03-02", valid_to: "2026-03-03" }, "", '"web" from 2026-03-02 to 2026-03-03'],
        [{ valid_from: "2026-02-01", valid_to: null }, "", '"web" from 2026-02-01 without end'],
        [{ valid_to: null }, "", '"web" from 2026-03-01 without end'],
      ];
      for (const [changes, existing, wanted] of overlaps) {
        const resource_ids = ["new", "i-1"];
        const { status, body } = await send("POST", { ...input, resource_ids, ...changes });
        t.strictSame([status, body.code], [409, "assignments_overlap"]);
        t.ok(
          body.detail.includes('Resource "i-1" belongs to "web" from 2026-03-01 to 2026-03-05'),
          body.detail,
        );
        t.ok(body.detail.includes(existing) && body.detail.includes(wanted), body.detail);
      }
      t.equal((await listed()).total, 3);
    },
  );

  await t.test("days next to each other do not overlap", async (t) => {
    const next = { ...input, resource_ids: ["i-1"], identity_id: "ops" };
    t.equal((await send("POST", { ...next, valid_from: "2026-03-06", valid_to: null })).status, 200);
    t.equal((await send("POST", { ...next, valid_from: "2026-02-28", valid_to: "2026-02-28" })).status, 200);
  });

  await t.test("the list has filters and pages, the newest first", async (t) => {
    const ids = async (query: string) =>
      (await listed(query)).items.map(({ assignment_id }: Item) => assignment_id);
    t.strictSame(await ids(""), [5, 4, 3, 2, 1]);
    t.strictSame(await ids("?page=2&page_size=2"), [3, 2]);
    t.strictSame(await ids("?resource_id=i-1"), [5, 4, 1]);
    t.strictSame(await ids("?resource_id=i-3&resource_id=i-2&identity_id=web"), [3, 2]);
    t.strictSame(await ids("?resource_id=i-1&valid_on=2026-02-28"), [5]);
    t.strictSame(await ids("?resource_id=i-1&valid_on=2026-03-01"), [1]);
    t.strictSame(await ids("?resource_id=i-1&valid_on=2026-03-05"), [1]);
    t.strictSame(await ids("?resource_id=i-1&valid_on=2026-03-06"), [4]);
    const past = await listed("?page=9&page_size=2");
    t.strictSame([past.items, past.total, past.pages], [[], 5, 3]);
    t.equal((await get(app, acme.replace("acme", "globex"))).body.total, 0, "another tenant has its own");
  });

  await t.test("an assignment ends on another day, or has no end", async (t) => {
    const { status, body } = await send("PATCH", { valid_to: "2026-03-03" }, `${acme}/2`);
    t.strictSame([status, withoutTime([body])], [200, [item("i-2", 2, { valid_to: "2026-03-03" })]]);
    t.equal((await send("PATCH", { valid_to: "2026-03-12" }, `${acme}/2`)).body.valid_to, "2026-03-12");
    const without = await send("PATCH", { valid_to: null }, `${acme}/2`);
    t.strictSame([without.status, without.body.errors[0].code], [400, "missing"]);
    const early = await send("PATCH", { valid_to: "2026-02-27" }, `${acme}/2`);
    t.strictSame([early.status, early.body.errors[0].name], [400, "valid_to"]);
    t.equal(early.body.detail, "`valid_to` must be 2026-03-01 or later: the assignment begins on that day.");
    const overlap = await send("PATCH", { valid_to: "2026-03-06" }, `${acme}/1`);
    t.strictSame([overlap.status, overlap.body.code], [409, "assignments_overlap"]);
    t.match(overlap.body.detail, /"ops" from 2026-03-06 without end \(assignment 4\)/);
    const missing = await send("PATCH", { valid_to: "2026-03-04" }, `${acme}/99`);
    t.strictSame([missing.status, missing.body.code], [404, "assignment_not_found"]);
    const elsewhere = await send("PATCH", { valid_to: "2026-03-04" }, `${acme.replace("acme", "globex")}/2`);
    t.strictSame([elsewhere.status, elsewhere.body.code], [404, "assignment_not_found"]);
  });

  await t.test("the map of a day is one that the configuration can have", async (t) => {
    await send("POST", { ...input, resource_ids: ['a "b", c', " x ", "p|q;r"], identity_id: "d, e" });
    const response = await app.inject({ method: "GET", url: `${acme}/map?valid_on=2026-03-05` });
    t.equal(response.headers["content-type"], "text/csv; charset=utf-8");
    const file = join(temporaryFolder(t), "map.csv");
    writeFileSync(file, response.body);
    const map = readIdentityMap(file);
    t.strictSame("problem" in map ? map : [...map.entries].sort(), [
      [" x ", "d, e"],
      ['a "b", c', "d, e"],
      ["i-1", "web"],
      ["i-2", "web"],
      ["i-3", "web"],
      ["p|q;r", "d, e"],
    ]);
    const today = await app.inject({ method: "GET", url: `${acme}/map` });
    t.equal(today.body, "value,identity\r\ni-1,ops\r\ni-2,web\r\n");
  });

  await t.test("a deleted assignment leaves its content in the audit only", async (t) => {
    t.equal((await send("DELETE", undefined, `${acme}/2`)).status, 204);
    t.equal((await send("DELETE", undefined, `${acme}/2`)).status, 404);
    const [{ action, subject }] = (await get(app, "/api/v1/tenants/acme/audit")).body.items;
    t.strictSame(
      [action, subject],
      [
        "deleteAssignment",
        {
          reason: "the team took it over",
          valid_to: "2026-03-12",
          valid_from: "2026-03-01",
          identity_id: "web",
          resource_id: "i-2",
          assignment_id: 2,
        },
      ],
    );
  });

  await t.test("invalid requests name each field, and change nothing", async (t) => {
    const { total } = await listed();
    const cases: [changes: object, field: string][] = [
      [{ identity_id: "UNALLOCATED" }, "identity_id"],
      [{ identity_id: "null" }, "identity_id"],
      [{ identity_id: "  " }, "identity_id"],
      [{ identity_id: "a\nb" }, "identity_id"],
      [{ resource_ids: [] }, "resource_ids"],
      [{ resource_ids: Array.from({ length: 10_001 }, (_, index) => `r-${index}`) }, "resource_ids"],
      [{ resource_ids: ["a\tb"] }, "resource_ids[0]"],
      [{ valid_from: "2026-02-30" }, "valid_from"],
      [{ valid_from: "2106-01-01", valid_to: null }, "valid_from"],
      [{ valid_to: "2026-02-28" }, "valid_to"],
      [{ reason: "" }, "reason"],
      [{ created_by: undefined }, "created_by"],
      [{ team: "x" }, "team"],
    ];
    for (const [changes, field] of cases) {
      const { status, body } = await send("POST", { ...input, ...changes });
      t.strictSame([status, body.errors?.map(({ name }: { name: string }) => name)], [400, [field]], field);
    }
    t.equal((await get(app, `${acme}?valid_on=2200-01-01`)).body.errors[0].name, "valid_on");
    t.equal((await listed()).total, total);
  });

  await t.test(
    "of writers at the same time, one assigns a resource, and the others are refused",
    async (t) => {
      const names = ["a", "b", "c", "d", "e", "f"];
      const results = await Promise.all(
        names.map((identity_id, index) =>
          send("POST", {
            ...input,
            resource_ids: index % 2 === 0 ? ["r-1", "r-2"] : ["r-2", "r-1"],
            identity_id,
            valid_from: `2026-03-0${index + 1}`,
            valid_to: null,
          }),
        ),
      );
      t.strictSame(results.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409]);
      const { items } = await listed("?resource_id=r-1&resource_id=r-2");
      t.equal(items.length, 2);
      t.equal(new Set(items.map(({ identity_id }: Item) => identity_id)).size, 1);
    },
  );

  const { rows } = await stores.postgres.query(
    "SELECT tenant_name, tenant_id, ecosystem FROM tenants WHERE tenant_name = 'acme'",
  );
  t.equal(rows.length, 1);
  await stores.postgres.query("DELETE FROM tenants WHERE tenant_name = 'acme'");
  const left = await stores.postgres.query("SELECT FROM assignments");
  t.equal(left.rowCount, 0, "assignments go with their tenant");
});

t.test("a tenant whose identity sources are without assigned refuses assignments", async (t) => {
  const { app } = await startService(t, [], { tenant: ["allocation: { identity: [{ tag: team }] }"] });
  t.equal((await get(app, acme)).body.are_read, false);
  const response = await app.inject({ method: "POST", url: acme, payload: input });
  t.strictSame(
    [response.statusCode, response.json().code, response.json().detail],
    [
      400,
      "assignments_not_read",
      "Tenant acme does not read assignments: add `assigned: resource_id` to its allocation.identity.",
    ],
  );
});

t.test("assigning needs its own scope, and the author is the caller", async (t) => {
  const { app, stores } = await startService(t, ["auth: tokens"]);
  const made = async (scope: "assign" | "tags") => {
    const token = { name: "cleo", scopes: [scope], tenants: ["acme"], days: 1 };
    const { token: secret } = await createToken(stores.postgres, token, { kind: "command", name: "ada" });
    return { authorization: `Bearer ${secret}` };
  };
  const post = async (headers: Record<string, string>) =>
    await app.inject({ method: "POST", url: acme, payload: input, headers });
  t.equal((await post(await made("tags"))).statusCode, 403);
  const headers = await made("assign");
  const response = await post(headers);
  t.strictSame([response.statusCode, response.json().items[0].created_by], [200, "cleo"]);
  const { total, are_read } = (await get(app, acme, headers)).body;
  t.strictSame([total, are_read], [2, true], "assign includes read");
});
