/** Causes of allocation issues that are accepted until a day, and allocation issues without some causes. */
import t from "tap";
import { joinNames } from "../../src/common/name-list.js";
import { createToken } from "../../src/postgres/tokens.js";
import { get, insertChargebacks, NOW, startService } from "./service.js";

const acme = "/api/v1/tenants/acme/accepted-causes";
const input = {
  allocation_detail: "no_identity_on_line",
  product_type: "STORAGE",
  rule: "",
  accepted_until: "2026-03-31",
  reason: "the team tags its buckets in March",
  created_by: "ada",
};

t.test("accepted causes by the API", async (t) => {
  const { app, build, stores } = await startService(t);
  const send = async (method: "POST" | "DELETE", payload?: object, url = acme) => {
    const response = await app.inject({ method, url, ...(payload && { payload }) });
    return { status: response.statusCode, body: response.body === "" ? undefined : response.json() };
  };
  type Item = Readonly<Record<string, unknown>>;
  const withoutTime = (items: readonly Item[]) => items.map(({ created_at: _, ...rest }) => rest);
  const listed = async (on = app) => withoutTime((await get(on, acme)).body);
  const audit = async () =>
    (await get(app, "/api/v1/tenants/acme/audit")).body.items.map(({ action, subject }: Item) => [
      action,
      subject,
    ]);
  const first = { accepted_cause_id: 1, ...input, is_current: true };

  await t.test("before the first run of a tenant, a cause is accepted", async (t) => {
    const { status, body } = await send("POST", input);
    t.strictSame([status, withoutTime([body])], [200, [first]]);
    t.strictSame(await audit(), [["acceptCause", { ...input, accepted_cause_id: 1 }]]);
    t.strictSame(await listed(), [first]);
  });

  await t.test("a request that is sent again changes nothing", async (t) => {
    const { status, body } = await send("POST", input);
    t.strictSame([status, withoutTime([body])], [200, [first]]);
    t.equal((await audit()).length, 1);
  });

  await t.test(
    "another day, reason or author replaces the decision, and the audit has the former",
    async (t) => {
      await send("POST", { ...input, rule: "storage" });
      const changes = { accepted_until: "2026-03-10", reason: "until today", created_by: "bob" };
      const { status, body } = await send("POST", { ...input, ...changes });
      t.strictSame([status, withoutTime([body])], [200, [{ ...first, ...changes }]]);
      const [latest] = await audit();
      t.strictSame(latest, [
        "acceptCause",
        {
          ...input,
          ...changes,
          accepted_cause_id: 1,
          former_accepted_until: "2026-03-31",
          former_reason: input.reason,
          former_created_by: "ada",
        },
      ]);
      const ids = (await listed()).map(({ accepted_cause_id: id }) => id);
      t.strictSame(ids, [1, 2], "the latest decision comes first, and causes differ by their rule");
    },
  );

  await t.test("a cause is accepted on its last day, and not on the next", async (t) => {
    t.strictSame(
      (await listed()).map(({ is_current }) => is_current),
      [true, true],
    );
    const later = await build({ clock: () => new Date("2026-03-11T00:00:00Z") });
    t.strictSame(
      (await listed(later)).map(({ is_current }) => is_current),
      [false, true],
    );
  });

  await t.test("invalid requests name each field, and change nothing", async (t) => {
    const cases: [changes: object, field: string][] = [
      [{ allocation_detail: "line_identity_allocation" }, "allocation_detail"],
      [{ allocation_detail: undefined }, "allocation_detail"],
      [{ product_type: "" }, "product_type"],
      [{ product_type: "a\tb" }, "product_type"],
      [{ rule: "a\nb" }, "rule"],
      [{ rule: undefined }, "rule"],
      [{ reason: "" }, "reason"],
      [{ reason: "x".repeat(501) }, "reason"],
      [{ created_by: undefined }, "created_by"],
      [{ accepted_until: "2026-02-30" }, "accepted_until"],
      [{ accepted_until: "2026-03-09" }, "accepted_until"],
      [{ accepted_until: "2027-03-12" }, "accepted_until"],
      [{ valid_to: "2026-03-31" }, "valid_to"],
    ];
    for (const [changes, field] of cases) {
      const { status, body } = await send("POST", { ...input, ...changes });
      t.strictSame([status, body.errors?.map(({ name }: { name: string }) => name)], [400, [field]], field);
    }
    const { body } = await send("POST", { ...input, accepted_until: "2026-03-09" });
    t.equal(body.detail, "`accepted_until` must be a day from today (2026-03-10, UTC) to 2027-03-11.");
    t.equal((await listed()).length, 2);
  });

  await t.test("a decision is taken back, and its content is in the audit only", async (t) => {
    const elsewhere = await send("DELETE", undefined, `${acme.replace("acme", "globex")}/2`);
    t.strictSame([elsewhere.status, elsewhere.body.code], [404, "accepted_cause_not_found"]);
    t.equal((await send("DELETE", undefined, `${acme}/2`)).status, 204);
    t.equal((await send("DELETE", undefined, `${acme}/2`)).status, 404);
    t.strictSame((await audit())[0], ["takeBackCause", { ...input, rule: "storage", accepted_cause_id: 2 }]);
    t.equal((await listed()).length, 1);
  });

  await t.test("a tenant has at most 100, however long their names are", async (t) => {
    const names = Array.from({ length: 105 }, (_, index) => `${"😀".repeat(990)}${index}`);
    const results = await Promise.all(
      names.map((product_type) => send("POST", { ...input, product_type, rule: "x".repeat(1000) })),
    );
    t.equal(results.filter(({ status }) => status === 200).length, 99);
    const refused = results.find(({ status }) => status !== 200);
    t.strictSame(
      [refused?.status, refused?.body.code, refused?.body.detail],
      [
        409,
        "too_many_accepted_causes",
        "The tenant has 100 accepted causes, also counting those whose day has passed. Take back one of them first.",
      ],
    );
    t.equal((await listed()).length, 100);
    t.equal((await send("POST", { ...input, reason: "again" })).status, 200, "one of the 100 is replaced");
    t.strictSame(await (await get(app, acme.replace("acme", "globex"))).body, []);
  });

  await stores.postgres.query("DELETE FROM tenants WHERE tenant_name = 'acme'");
  const left = await stores.postgres.query("SELECT FROM accepted_causes");
  t.equal(left.rowCount, 0, "accepted causes go with their tenant");
});

t.test("accepting needs the scope assign, and the author is the caller", async (t) => {
  const { app, stores } = await startService(t, ["auth: tokens"]);
  const made = async (scope: "assign" | "tags") => {
    const token = { name: "cleo", scopes: [scope], tenants: ["acme"], days: 1 };
    const { token: secret } = await createToken(stores.postgres, token, { kind: "command", name: "ada" });
    return { authorization: `Bearer ${secret}` };
  };
  const tagger = await made("tags");
  const post = async (headers: Record<string, string>) =>
    await app.inject({ method: "POST", url: acme, payload: input, headers });
  t.equal((await post(tagger)).statusCode, 403);
  const response = await post(await made("assign"));
  t.strictSame([response.statusCode, response.json().created_by], [200, "cleo"]);
  t.equal((await get(app, acme, tagger)).body.length, 1, "every reader sees it");
  const removed = await app.inject({ method: "DELETE", url: `${acme}/1`, headers: tagger });
  t.equal(removed.statusCode, 403);
});

t.test("reads of allocation issues leave out some causes, or have these alone", async (t) => {
  const { app, stores } = await startService(t);
  const base = "/api/v1/tenants/acme/chargebacks/allocation-issues";
  const issue = (amount: string, product_type: string, rule: string, detail = "no_identity_on_line") => ({
    timestamp: `${NOW.toISOString().slice(0, 10)}T00:00:00Z`,
    identity_id: "UNALLOCATED",
    allocation_method: "terminal",
    allocation_detail: detail,
    product_type,
    rule,
    amount,
  });
  await insertChargebacks(stores, "acme", [
    issue("1", "STORAGE", ""),
    issue("2", "STORAGE", "storage"),
    issue("4", "STORAGE", "", "owner_unknown"),
    issue("8", "NETWORK", ""),
    issue("16", "a,b\\c", "d\\,'e"),
    issue("32", "a", "b\\c,d\\,'e"),
  ]);
  const amounts = async (filter: "cause" | "not:cause", causes: readonly string[][], more = "") => {
    const query = causes.map((names) => `${filter}=${encodeURIComponent(joinNames(names))}`).join("&");
    const { status, body } = await get(app, `${base}?${query}${more}`);
    t.equal(status, 200, JSON.stringify(body));
    const items: { total_cost: string }[] = body.items;
    return {
      costs: items.map(({ total_cost }) => Number(total_cost)),
      total: body.total,
      pages: body.pages,
    };
  };
  const line = "no_identity_on_line";
  const escaped = [line, "a,b\\c", "d\\,'e"];
  t.strictSame(await amounts("not:cause", []), { costs: [32, 16, 8, 4, 3], total: 5, pages: 1 });
  t.strictSame(await amounts("not:cause", [[line, "STORAGE", ""]]), {
    costs: [32, 16, 8, 4, 2],
    total: 5,
    pages: 1,
  });
  t.strictSame(await amounts("not:cause", [escaped, [line, "STORAGE", "storage"]]), {
    costs: [32, 8, 4, 1],
    total: 4,
    pages: 1,
  });
  t.strictSame(await amounts("cause", [escaped, ["owner_unknown", "STORAGE", ""]]), {
    costs: [16, 4],
    total: 2,
    pages: 1,
  });
  t.strictSame(await amounts("not:cause", [escaped], "&page_size=3&page=2"), {
    costs: [3],
    total: 4,
    pages: 2,
  });
  t.strictSame(
    await amounts("not:cause", [escaped], "&page_size=3&page=9"),
    { costs: [], total: 4, pages: 2 },
    "a page past the end counts the same",
  );
  const summed = async (filter: string, path: string) => {
    const causes = encodeURIComponent(joinNames(escaped));
    const { body } = await get(app, `/api/v1/tenants/acme/${path}${filter}=${causes}`);
    return body;
  };
  const byCause = `chargebacks/breakdown?${["allocation_detail", "product_type", "rule"].map((column) => `group_by=${column}`).join("&")}&limit=1&`;
  for (const [filter, expected] of [
    ["not:cause", ["47", 5]],
    ["cause", ["16", 1]],
  ] as const) {
    const { totals } = await summed(filter, byCause);
    t.strictSame([totals[0].total_amount, totals[0].group_count], expected, `breakdown by ${filter}`);
  }
  t.equal((await summed("not:cause", "worklist?")).total, 4, "rows of one line are one item");
  const left = await summed("cause", "worklist?");
  t.strictSame([left.total, left.items[0].rule, left.items[0].amount], [1, "d\\,'e", "16"]);
  for (const wrong of [
    "",
    line,
    `${line},a`,
    `${line},,`,
    `${line},a,b,c`,
    `${line},a\\,b`,
    "direct,a,b",
    "no_identity_on_line\\,a,b,c",
  ]) {
    const { status, body } = await get(app, `${base}?not:cause=${encodeURIComponent(wrong)}`);
    t.strictSame([status, body.errors[0].name], [400, "not:cause"], wrong);
  }
  const many = (count: number) => Array.from({ length: count }, (_, index) => `not:cause=${line},p${index},`);
  t.equal((await get(app, `${base}?${many(100).join("&")}`)).status, 200);
  t.equal((await get(app, `${base}?${many(101).join("&")}`)).status, 400);
});
