import t from "tap";
import type { ChargebackRow } from "../../src/query/chargebacks/list.js";
import { holds } from "../holds.js";
import { notOfCloud } from "../not-of-cloud.js";
import {
  dimensionIds,
  mirrored,
  miscounted,
  recordTestDimensions,
  sendTagRequest,
  tag,
  writtenTags,
} from "../tags/tagging.js";
import { insertChargebacks, startService } from "./service.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;

t.test("…/chargebacks/{dimension_id} reads and tags a dimension", async (t) => {
  const { app, stores } = await startService(t);
  await insertChargebacks(stores, "acme", [
    { timestamp: "2026-01-01T00:00:00Z", amount: "5", identity_id: "sa-1", env_id: "env-1" },
    { timestamp: "2026-03-02T05:00:00Z", amount: "7.5", identity_id: "sa-1", env_id: "env-1", component: 1 },
    { timestamp: "2026-03-02T05:00:00Z", amount: "2.5", identity_id: "sa-1", env_id: "env-1", component: 0 },
    { timestamp: "2026-03-05T00:00:00Z", amount: "1", identity_id: "sa-2" },
  ]);
  await insertChargebacks(stores, "globex", [
    { timestamp: "2026-03-05T00:00:00Z", amount: "1", identity_id: "sa-9" },
  ]);
  for (const tenant of ["acme", "globex"]) await recordTestDimensions(stores, tenant);
  const [one = 0] = await dimensionIds(stores, "acme", "sa-1");
  const [two = 0] = await dimensionIds(stores, "acme", "sa-2");
  const [foreign = 0] = await dimensionIds(stores, "globex", "sa-9");
  const at = (id: number | string) => `acme/chargebacks/${id}`;
  const read = async (id: number) => (await sendTagRequest(app, "GET", at(id))).body;
  const labels = async (id: number) =>
    (await sendTagRequest(app, "GET", `${at(id)}/tags`)).body.map(
      (each: { tag_key: string; display_name: string }) => [each.tag_key, each.display_name].join("="),
    );

  await t.test("GET returns the fields and the newest row of a dimension without tags", async (t) => {
    const { status, body } = await sendTagRequest(app, "GET", at(one));
    t.equal(status, 200);
    t.same(body, {
      dimension_id: one,
      ecosystem: "generic_metrics_only",
      tenant_id: "acme",
      env_id: "env-1",
      resource_id: "r-1",
      product_category: "KAFKA",
      product_type: "STORAGE",
      identity_id: "sa-1",
      cost_type: "usage",
      timestamp: "2026-03-02T05:00:00Z",
      amount: "2.5",
      currency: "USD",
      ...notOfCloud,
      allocation_method: "usage_ratio",
      allocation_detail: "usage_ratio_allocation",
      passed_from: "",
      provisional: false,
      tags: [],
      tag_pairs: [],
      identity_name: null,
      identity_type: null,
      team: "UNASSIGNED",
      resource_name: null,
      resource_type: null,
      metadata: { component: 0, component_ratio: "1", tier: 0, env_id: "env-1", metric: "" },
    });
    holds(t, await read(two), { env_id: "", amount: "1", timestamp: "2026-03-05T00:00:00Z" });
  });

  await t.test("GET returns the metadata of the list and of the export, for every method", async (t) => {
    const { client } = await stores.tenant("globex");
    const at = "2026-03-06T00:00:00Z";
    const row = { timestamp: at, amount: "1", resource_id: "r-9" };
    const shared = { ...row, cost_type: "shared" as const };
    await insertChargebacks(stores, "globex", [
      { ...row, identity_id: "by-usage", metric: "in+out" },
      { ...row, identity_id: "without-usage", metric: "lost" },
      { ...row, identity_id: "owner", allocation_method: "direct_owner", env_id: "env-2" },
      { ...shared, identity_id: "even-1", allocation_method: "even_split", component: 1 },
      { ...shared, identity_id: "even-2", allocation_method: "even_split", component: 1 },
      { ...shared, identity_id: "UNALLOCATED", allocation_method: "terminal" },
    ]);
    await recordTestDimensions(stores, "globex");
    const usage = (metric: string, identity_id: string, micro_units: string) => ({
      timestamp: "2026-03-06 03:00:00",
      resource_id: "r-9",
      metric,
      identity_id,
      micro_units,
      scale: 30,
    });
    await client.insert({
      table: "usage",
      format: "JSONEachRow",
      values: [
        usage("in", "by-usage", "1500000"),
        usage("out", "by-usage", "1"),
        usage("in", "other", `5${"0".repeat(36)}`),
      ],
    });
    const { items } = (await sendTagRequest(app, "GET", "globex/chargebacks?resource_id=r-9")).body;
    t.equal(items.length, 6);
    for (const item of items) {
      const { body } = await sendTagRequest(app, "GET", `globex/chargebacks/${item.dimension_id}`);
      t.same({ ...body, tags: [], env_id: undefined }, { ...item, env_id: undefined }, item.identity_id);
      const { identity_id, cost_type } = item;
      const exported = await app.inject({
        method: "POST",
        url: "/api/v1/tenants/globex/export?raw=true",
        payload: { columns: ["metadata"], filters: { identity_id, cost_type } },
      });
      const [, cell = ""] = exported.body.split("\n");
      t.equal(cell.slice(1, -1).replaceAll('""', '"'), JSON.stringify(item.metadata), identity_id);
    }
    const weights = items.map(({ identity_id, metadata }: ChargebackRow) => [
      identity_id,
      metadata.weight,
      metadata.total_weight,
    ]);
    t.strictSame(weights.sort(), [
      ["UNALLOCATED", "1", "1"],
      ["by-usage", `0.${"0".repeat(29)}1500001`, `5.${"0".repeat(29)}1500001`],
      ["even-1", "1", "2"],
      ["even-2", "1", "2"],
      ["owner", "1", "1"],
      ["without-usage", undefined, undefined],
    ]);
  });

  await t.test("GET of a dimension without rows returns nulls", async (t) => {
    const { client } = await stores.tenant("acme");
    await client.command({
      query: `INSERT INTO dimensions (dimension_id, fingerprint, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type)
        VALUES (77, 77, 'e', 'acme', '', 'r', 'c', 'p', 'gone', 'shared')`,
    });
    const { status, body } = await sendTagRequest(app, "GET", at(77));
    t.equal(status, 200);
    holds(t, body, {
      identity_id: "gone",
      timestamp: null,
      amount: null,
      allocation_method: null,
      metadata: null,
      tags: [],
    });
  });

  await t.test("invalid ids are 400, and unknown ids and those of another tenant are 404", async (t) => {
    const malformed = [
      "abc",
      "-1",
      "1.0",
      "1e3",
      "01",
      "+1",
      "%20",
      "9007199254740992",
      "99999999999999999999",
      "1%00",
    ];
    for (const id of malformed) {
      for (const [method, path, body] of [
        ["GET", at(id), undefined],
        ["PATCH", at(id), {}],
        ["GET", `${at(id)}/tags`, undefined],
        ["POST", `${at(id)}/tags`, tag("k", "n")],
      ] as const) {
        const response = await sendTagRequest(app, method, path, body);
        holds(
          t,
          response,
          { status: 400, body: { code: "invalid_request", errors: [{ in: "path", name: "dimension_id" }] } },
          `${method} ${path}`,
        );
      }
    }
    for (const id of [4, 9007199254740991, foreign]) {
      for (const [method, path, body] of [
        ["GET", at(id), undefined],
        ["PATCH", at(id), {}],
        ["GET", `${at(id)}/tags`, undefined],
        ["POST", `${at(id)}/tags`, tag("k", "n")],
      ] as const) {
        const response = await sendTagRequest(app, method, path, body);
        holds(
          t,
          response,
          {
            status: 404,
            body: { code: "dimension_not_found", detail: `Chargeback dimension ${id} not found.` },
          },
          `${method} ${path}`,
        );
      }
    }
  });

  await t.test(
    "an unknown tenant is reported first, then invalid input, then a missing object",
    async (t) => {
      holds(t, await sendTagRequest(app, "GET", "nobody/chargebacks/abc"), {
        status: 404,
        body: { code: "tenant_not_found" },
      });
      holds(t, await sendTagRequest(app, "POST", `${at(4)}/tags`, { tag_key: "" }), {
        status: 400,
        body: { code: "invalid_request" },
      });
      holds(t, await sendTagRequest(app, "PATCH", at(4), { tag: [] }), {
        status: 400,
        body: { code: "invalid_request" },
      });
    },
  );

  await t.test("dates, aggregate and allocation-issues are not ids", async (t) => {
    const dates = ["2026-01-01", "2026-03-02", "2026-03-05"];
    holds(t, await sendTagRequest(app, "GET", at("dates")), { status: 200, body: { dates } });
    holds(t, await sendTagRequest(app, "GET", at("aggregate")), { status: 200, body: { total_rows: 3 } });
    t.not((await sendTagRequest(app, "GET", at("allocation-issues"))).body.errors?.[0]?.name, "dimension_id");
    holds(t, await sendTagRequest(app, "PATCH", at("dates"), {}), { status: 405 });
  });

  await t.test("POST returns 201 with the record and its location", async (t) => {
    const { status, headers, body } = await sendTagRequest(
      app,
      "POST",
      `${at(one)}/tags`,
      tag("team", "Platform"),
    );
    t.equal(status, 201);
    holds(t, body, {
      tag_id: Number,
      dimension_id: one,
      tag_value: UUID,
      ...tag("team", "Platform"),
      created_at: INSTANT,
    });
    t.equal(headers.location, `/api/v1/tenants/acme/tags/${body.tag_id}`);
    t.same((await sendTagRequest(app, "GET", `acme/tags/${body.tag_id}`)).body, body);
    t.same((await read(one)).tags, [body]);
    t.same(
      (await sendTagRequest(app, "GET", `${at(one)}/tags`)).body,
      [body],
      "the response is a list without paging",
    );
    t.same(await mirrored(stores, "acme"), [`${one} team=Platform`], "the list of chargebacks shows the tag");
    t.same((await sendTagRequest(app, "GET", "acme/chargebacks?identity_id=sa-1")).body.items[0].tags, [
      "Platform",
    ]);
  });

  await t.test("POST of a key that the dimension has is 409, and keys are case-sensitive", async (t) => {
    const taken = await sendTagRequest(app, "POST", `${at(one)}/tags`, tag("team", "Other"));
    holds(t, taken, { status: 409, body: { code: "tag_key_exists", detail: /"team"/ } });
    t.equal((await sendTagRequest(app, "POST", `${at(one)}/tags`, tag("Team", "Case"))).status, 201);
    t.equal((await sendTagRequest(app, "POST", `${at(two)}/tags`, tag("team", "Platform"))).status, 201);
    t.same(await labels(one), ["team=Platform", "Team=Case"]);
  });

  await t.test("POST counts limits in characters, and refuses control characters", async (t) => {
    const fits = [
      tag("k".repeat(100), "n".repeat(500), "c".repeat(100)),
      tag("🦩".repeat(100), "🦩".repeat(500), "🦩".repeat(100)),
      tag("'; DROP TABLE tags; --", `"quoted" \\ back\\\\slash '' $1 {x:String} %s`, "O'Brien"),
      tag("العربية", "👩‍👩‍👧‍👦 é e\u0301 ß İ", "  blanks  "),
      tag("{{a}} $a", "<script>alert(1)</script>", "=cmd|'/c calc'!A1"),
      tag("null", "NULL", "undefined"),
    ];
    for (const each of fits) {
      const { status, body } = await sendTagRequest(app, "POST", `${at(two)}/tags`, each);
      t.equal(status, 201, each.tag_key.slice(0, 30));
      holds(t, body, each);
    }
    const names = (await sendTagRequest(app, "GET", "acme/chargebacks?identity_id=sa-2")).body.items[0].tags;
    t.same(
      names,
      ["Platform", ...fits.map((each) => each.display_name)],
      "the texts come back from the store unchanged",
    );
    for (const [field, bad] of [
      ["tag_key", ""],
      ["tag_key", "k".repeat(101)],
      ["display_name", "n".repeat(501)],
      ["display_name", "🦩".repeat(501)],
      ["created_by", ""],
      ["created_by", "c".repeat(101)],
      ["tag_key", "a\u0000b"],
      ["display_name", "a\nb"],
      ["created_by", "a\u007fb"],
      ["display_name", "a\u0085b"],
      ["display_name", "half \ud83e"],
      ["tag_key", 7],
      ["tag_key", null],
      ["tag_key", ["a"]],
    ] as const) {
      const response = await sendTagRequest(app, "POST", `${at(two)}/tags`, {
        ...tag("fresh", "n"),
        [field]: bad,
      });
      holds(
        t,
        response,
        { status: 400, body: { code: "invalid_request", errors: [{ in: "body", name: field }] } },
        `${field} ${JSON.stringify(bad).slice(0, 20)}`,
      );
    }
    holds(t, await sendTagRequest(app, "POST", `${at(two)}/tags`, {}), {
      status: 400,
      body: {
        errors: [{ code: "missing", name: "tag_key" }, { name: "display_name" }, { name: "created_by" }],
      },
    });
    holds(
      t,
      await sendTagRequest(app, "POST", `${at(two)}/tags`, { ...tag("fresh", "n"), tag_value: "mine" }),
      {
        status: 400,
      },
    );
    t.equal((await labels(two)).length, 7);
  });

  await t.test("PATCH replaces, removes and adds tags, in this order", async (t) => {
    const before = (await read(one)).tags[0];
    const replaced = await sendTagRequest(app, "PATCH", at(one), {
      tags: [tag("team", "Search"), tag("tier", "Gold")],
    });
    t.equal(replaced.status, 200);
    t.same(replaced.body, await read(one), "the response is the dimension as GET returns it");
    t.same(await labels(one), ["team=Search", "tier=Gold"]);
    const [team, tier] = replaced.body.tags;
    t.ok(team.tag_id > before.tag_id, "a replaced tag has a new id");
    t.not(team.tag_value, before.tag_value);
    await sendTagRequest(app, "PATCH", at(one), {
      add_tags: [tag("cost", "Centre")],
      remove_tag_ids: [tier.tag_id, tier.tag_id],
    });
    t.same(await labels(one), ["team=Search", "cost=Centre"]);
    const [{ tag_id: search }] = (await read(one)).tags;
    const again = await sendTagRequest(app, "PATCH", at(one), {
      remove_tag_ids: [search],
      add_tags: [tag("team", "Payments")],
    });
    t.equal(again.status, 200, "a key that is removed can be added again");
    t.same(await labels(one), ["cost=Centre", "team=Payments"]);
    await sendTagRequest(app, "PATCH", at(one), {
      tags: [tag("a", "1")],
      add_tags: [tag("b", "2"), tag("team", "3")],
    });
    t.same(await labels(one), ["a=1", "b=2", "team=3"], "a key that was replaced can be used again");
    const same = await read(one);
    for (const nothing of [{}, { tags: null }, { add_tags: [], remove_tag_ids: [] }]) {
      t.same((await sendTagRequest(app, "PATCH", at(one), nothing)).body, same, JSON.stringify(nothing));
    }
    t.same(await mirrored(stores, "acme"), await writtenTags(stores, "acme"));
    t.same(
      (await sendTagRequest(app, "PATCH", at(one), { tags: [] })).body.tags,
      [],
      "an empty list removes all",
    );
  });

  await t.test("a PATCH that fails changes nothing", async (t) => {
    await sendTagRequest(app, "PATCH", at(one), { tags: [tag("team", "Platform"), tag("tier", "Gold")] });
    const before = await read(one);
    const [{ tag_id: ours }] = before.tags;
    const [{ tag_id: others }] = (await read(two)).tags;
    for (const [changes, status, code] of [
      [{ add_tags: [tag("new", "n"), tag("team", "again")] }, 409, "tag_key_exists"],
      [{ add_tags: [tag("new", "n"), tag("new", "n")] }, 409, "tag_key_exists"],
      [{ tags: [tag("x", "1"), tag("x", "2")] }, 409, "tag_key_exists"],
      [{ tags: [tag("x", "1")], add_tags: [tag("x", "2")] }, 409, "tag_key_exists"],
      [{ add_tags: [tag("new", "n")], remove_tag_ids: [others] }, 404, "tag_not_found"],
      [{ add_tags: [tag("new", "n")], remove_tag_ids: [ours, 999_999] }, 404, "tag_not_found"],
      [{ tags: [], remove_tag_ids: [ours] }, 404, "tag_not_found"],
      [{ add_tags: [tag("new", "n"), tag("", "n")] }, 400, "invalid_request"],
      [{ add_tags: tag("new", "n") }, 400, "invalid_request"],
      [{ remove_tag_ids: [-1] }, 400, "invalid_request"],
      [{ remove_tag_ids: ["1"] }, 400, "invalid_request"],
      [
        { add_tags: Array.from({ length: 1001 }, (_, index) => tag(`k${index}`, "n")) },
        400,
        "invalid_request",
      ],
      [{ add_tag: [] }, 400, "invalid_request"],
    ] as const) {
      const response = await sendTagRequest(app, "PATCH", at(one), changes);
      holds(t, response, { status, body: { code } }, JSON.stringify(changes).slice(0, 80));
      t.same(await read(one), before);
    }
    const wrong = { remove_tag_ids: Array.from({ length: 1000 }, () => "x") };
    t.equal(
      (await sendTagRequest(app, "PATCH", at(one), wrong)).body.errors.length,
      20,
      "the message does not list every wrong item",
    );
  });

  await t.test("the counts of tags are kept with their labels", async (t) => {
    t.same(await miscounted(stores), []);
  });
});

t.test("the newest row is read once for each state of the published days", async (t) => {
  const { app, stores } = await startService(t);
  const { postgres } = stores;
  const row = { amount: "1", identity_id: "sa-1" };
  await insertChargebacks(stores, "acme", [{ ...row, timestamp: "2026-03-01T00:00:00Z" }]);
  await recordTestDimensions(stores, "acme");
  const [id = 0] = await dimensionIds(stores, "acme", "sa-1");
  await postgres.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only') ON CONFLICT DO NOTHING",
  );
  const publish = (hash: string) =>
    postgres.query(
      `INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, published_hash) VALUES ('acme', '2026-03-01', true, $1)
       ON CONFLICT (tenant_name, tracking_date) DO UPDATE SET published_hash = $1`,
      [hash],
    );
  const path = `acme/chargebacks/${id}`;
  const newest = async () => {
    const { status, body } = await sendTagRequest(app, "GET", path);
    return [status, body.timestamp, body.identity_name, body.tag_pairs];
  };

  t.same(await newest(), [200, "2026-03-01T00:00:00Z", null, []]);
  await insertChargebacks(stores, "acme", [{ ...row, timestamp: "2026-03-02T00:00:00Z" }]);
  t.same(
    await newest(),
    [200, "2026-03-02T00:00:00Z", null, []],
    "without a published day nothing is cached",
  );
  await publish("a");
  t.same(await newest(), [200, "2026-03-02T00:00:00Z", null, []]);
  await insertChargebacks(stores, "acme", [{ ...row, timestamp: "2026-03-03T00:00:00Z" }]);
  t.same(
    await newest(),
    [200, "2026-03-02T00:00:00Z", null, []],
    "nothing was published, so the row is cached",
  );
  await postgres.query(
    `INSERT INTO identities (tenant_name, identity_id, ecosystem, tenant_id, identity_type, display_name, last_seen_at)
     VALUES ('acme', 'sa-1', 'generic_metrics_only', 'acme', 'service_account', 'Ann', now())`,
  );
  t.same(await newest(), [200, "2026-03-02T00:00:00Z", "Ann", []], "names are those of the inventory now");
  await publish("b");
  t.same(await newest(), [200, "2026-03-03T00:00:00Z", "Ann", []], "a publish is visible at once");
  await insertChargebacks(stores, "acme", [{ ...row, timestamp: "2026-03-04T00:00:00Z" }]);
  await sendTagRequest(app, "POST", `${path}/tags`, tag("team", "Platform"));
  t.same((await newest())[3], ["team=Platform"], "labels are never cached");
  await postgres.query("UPDATE tracking_dates SET publishing_hash = 'c' WHERE tenant_name = 'acme'");
  t.same(
    await newest(),
    [200, "2026-03-04T00:00:00Z", "Ann", ["team=Platform"]],
    "during a publish nothing is cached",
  );
  const { client } = await stores.tenant("acme");
  await client.command({ query: "DROP TABLE chargebacks" });
  const failed = await Promise.all([newest(), newest()]);
  t.same(
    failed.map(([status]) => status),
    [500, 500],
  );
});
