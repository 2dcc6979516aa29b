import t from "tap";
import { holds } from "../holds.js";
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

t.test("…/tags reads and changes the tags of a tenant", async (t) => {
  const { app, stores } = await startService(t);
  const rows = Array.from({ length: 30 }, (_, index) => ({
    timestamp: `2026-03-0${1 + (index % 5)}T00:00:00Z`,
    amount: "1",
    identity_id: `sa-${index}`,
    resource_id: `r-${index % 3}`,
    product_type: index < 20 ? "STORAGE" : "NETWORK",
    cost_type: index % 2 === 0 ? ("usage" as const) : ("shared" as const),
  }));
  await insertChargebacks(stores, "acme", [
    ...rows,
    { timestamp: "2026-01-01T00:00:00Z", amount: "1", identity_id: "old" },
  ]);
  await insertChargebacks(stores, "globex", [
    { timestamp: "2026-03-01T00:00:00Z", amount: "1", identity_id: "sa-0" },
  ]);
  for (const tenant of ["acme", "globex"]) await recordTestDimensions(stores, tenant);
  const ids = await Promise.all(
    rows.map(async (row) => (await dimensionIds(stores, "acme", row.identity_id))[0] ?? 0),
  );
  const [foreign = 0] = await dimensionIds(stores, "globex", "sa-0");
  const [old = 0] = await dimensionIds(stores, "acme", "old");
  const list = async (query = "", tenant = "acme") => {
    const { status, body } = await sendTagRequest(app, "GET", `${tenant}/tags?${query}`);
    if (status !== 200) throw new Error(`${query}: ${status} ${body.detail}`);
    return body;
  };
  const names = async (query: string) =>
    (await list(query)).items.map((item: { display_name: string }) => item.display_name);
  const add = async (index: number, key: string, name: string) =>
    (await sendTagRequest(app, "POST", `acme/chargebacks/${ids[index]}/tags`, tag(key, name))).body;

  await t.test("without tags the page is empty", async (t) => {
    t.same(await list(), { items: [], total: 0, page: 1, page_size: 100, pages: 0, next_cursor: null });
    t.same(await names("search=x"), []);
  });

  const first = await add(0, "team", "Platform");
  await add(1, "team", "Search & Ranking");
  await add(2, "Env", "PRODUCTION 100%");
  await add(3, "env", "under_score");
  await add(4, "stra\u00dfe", "Cafe\u0301 👩‍👩‍👧‍👦");
  await add(5, "plat", "backslash \\ quote ' \" dollar $1");
  await sendTagRequest(app, "POST", `globex/chargebacks/${foreign}/tags`, tag("team", "Platform"));

  await t.test("GET returns each tag with its dimension, by tag_id", async (t) => {
    const { items, total, pages } = await list();
    holds(t, { total, pages }, { total: 6, pages: 1 });
    t.same(items[0], { ...first, identity_id: "sa-0", product_type: "STORAGE", resource_id: "r-0" });
    const order = items.map((item: { tag_id: number }) => item.tag_id);
    t.same(
      order,
      [...order].sort((a, b) => a - b),
    );
    holds(t, await list("", "globex"), { total: 1, items: [{ dimension_id: foreign, identity_id: "sa-0" }] });
  });

  await t.test(
    "a search finds parts of keys and names, case-insensitively and without wildcards",
    async (t) => {
      for (const [search, wanted] of [
        ["plat", ["Platform", "backslash \\ quote ' \" dollar $1"]],
        ["PLATFORM", ["Platform"]],
        ["env", ["PRODUCTION 100%", "under_score"]],
        ["tion 1", ["PRODUCTION 100%"]],
        ["%", ["PRODUCTION 100%"]],
        ["_", ["under_score"]],
        ["100%", ["PRODUCTION 100%"]],
        ["ram", []],
        ["mplat", []],
        ["*", []],
        [".", []],
        ["\\", ["backslash \\ quote ' \" dollar $1"]],
        ["'", ["backslash \\ quote ' \" dollar $1"]],
        ["' OR 1=1 --", []],
        ["$1", ["backslash \\ quote ' \" dollar $1"]],
        ["STRASSE", ["Cafe\u0301 👩‍👩‍👧‍👦"]],
        ["caf\u00e9", ["Cafe\u0301 👩‍👩‍👧‍👦"]],
        ["👩‍👧", ["Cafe\u0301 👩‍👩‍👧‍👦"]],
        [
          " ",
          ["Search & Ranking", "PRODUCTION 100%", "Cafe\u0301 👩‍👩‍👧‍👦", "backslash \\ quote ' \" dollar $1"],
        ],
        [first.tag_value.slice(0, 8), []],
      ] as const) {
        const query = `search=${encodeURIComponent(search)}`;
        t.same(await names(query), wanted, JSON.stringify(search));
        t.equal((await list(query)).total, wanted.length, `total of ${JSON.stringify(search)}`);
      }
      holds(t, await sendTagRequest(app, "GET", `acme/tags?search=${"x".repeat(501)}`), { status: 400 });
      holds(
        t,
        await sendTagRequest(app, "GET", "acme/tags?search=team%0AP"),
        { status: 400 },
        "no tag can contain this text",
      );
      holds(t, await sendTagRequest(app, "GET", "acme/tags?search=a&search=b"), { status: 400 });
      holds(t, await sendTagRequest(app, "GET", "acme/tags?serch=a"), {
        status: 400,
        body: { detail: /did you mean `search`/ },
      });
    },
  );

  await t.test("PATCH only changes the name, and searches find the new one", async (t) => {
    const renamed = await sendTagRequest(app, "PATCH", `acme/tags/${first.tag_id}`, {
      display_name: "Foundations",
    });
    t.same(renamed.body, { ...first, display_name: "Foundations" });
    t.equal(renamed.status, 200);
    t.same(await names("search=platform"), []);
    t.same(await names("search=foundations"), ["Foundations"]);
    t.same((await sendTagRequest(app, "GET", "acme/chargebacks?identity_id=sa-0")).body.items[0].tags, [
      "Foundations",
    ]);
    t.same(
      (await sendTagRequest(app, "PATCH", `acme/tags/${first.tag_id}`, { display_name: "Foundations" })).body,
      renamed.body,
    );
    for (const body of [
      {},
      { display_name: "" },
      { display_name: "n".repeat(501) },
      { display_name: "x", tag_key: "k" },
    ]) {
      holds(
        t,
        await sendTagRequest(app, "PATCH", `acme/tags/${first.tag_id}`, body),
        { status: 400 },
        JSON.stringify(body).slice(0, 40),
      );
    }
  });

  await t.test("PATCH and DELETE of an unknown tag or of another tenant's tag are 404", async (t) => {
    for (const path of [`globex/tags/${first.tag_id}`, "acme/tags/999999", "acme/tags/0"]) {
      for (const [method, body] of [
        ["GET", undefined],
        ["PATCH", { display_name: "x" }],
        ["DELETE", undefined],
      ] as const) {
        holds(
          t,
          await sendTagRequest(app, method, path, body),
          { status: 404, body: { code: "tag_not_found" } },
          `${method} ${path}`,
        );
      }
    }
    for (const id of ["x", "-1", "1.5", "9007199254740993"]) {
      holds(t, await sendTagRequest(app, "DELETE", `acme/tags/${id}`), {
        status: 400,
        body: { errors: [{ in: "path", name: "tag_id" }] },
      });
    }
    holds(
      t,
      await sendTagRequest(app, "PATCH", "acme/tags/999999", {}),
      { status: 400 },
      "invalid input is reported before a missing tag",
    );
    t.equal((await list("", "globex")).total, 1);
  });

  await t.test("DELETE returns 204 and then 404, and the id is never reused", async (t) => {
    const newest = await add(6, "short", "lived");
    holds(t, await sendTagRequest(app, "DELETE", `acme/tags/${newest.tag_id}`), {
      status: 204,
      body: undefined,
    });
    holds(t, await sendTagRequest(app, "DELETE", `acme/tags/${newest.tag_id}`), { status: 404 });
    t.same((await sendTagRequest(app, "GET", "acme/chargebacks?identity_id=sa-6")).body.items[0].tags, []);
    t.same(await names("search=lived"), []);
    const next = await add(6, "short", "lived");
    t.ok(next.tag_id > newest.tag_id);
    t.not(next.tag_value, newest.tag_value);
    holds(t, await sendTagRequest(app, "PATCH", `acme/tags/${newest.tag_id}`, { display_name: "stale" }), {
      status: 404,
    });
    await sendTagRequest(app, "DELETE", `acme/tags/${next.tag_id}`);
  });

  await t.test("POST …/bulk creates and skips tags, and lists unknown ids", async (t) => {
    const body = {
      dimension_ids: [ids[0], ids[10], ids[11], ids[10], 4, foreign, ids[11]],
      ...tag("team", "Bulk"),
    };
    const before = await writtenTags(stores, "acme");
    const preview = await sendTagRequest(app, "POST", "acme/tags/bulk", { ...body, dry_run: true });
    t.same(await writtenTags(stores, "acme"), before, "a dry run changes nothing");
    const { status, body: result } = await sendTagRequest(app, "POST", "acme/tags/bulk", body);
    t.equal(status, 200);
    t.same(preview.body, result, "the write returns the counts of the dry run");
    const missing = [4, foreign].sort((a, b) => a - b);
    t.same(result, {
      created_count: 2,
      updated_count: 0,
      skipped_count: 1,
      errors: missing.map((dimension_id) => ({ dimension_id, code: "dimension_not_found" })),
    });
    t.equal((await writtenTags(stores, "acme")).length, before.length + 2);
    t.same(await names("search=bulk"), ["Bulk", "Bulk"]);
    holds(t, await sendTagRequest(app, "POST", "acme/tags/bulk", { ...body, dimension_ids: [4] }), {
      status: 200,
      body: { created_count: 0, skipped_count: 0, errors: [{ dimension_id: 4 }] },
    });
  });

  await t.test("POST …/bulk with override changes name and author, and keeps id and value", async (t) => {
    const [before] = (await list("search=foundations")).items;
    const { body } = await sendTagRequest(app, "POST", "acme/tags/bulk", {
      dimension_ids: [ids[0], ids[12]],
      ...tag("team", "Override", "grace"),
      override_existing: true,
    });
    t.same(body, { created_count: 1, updated_count: 1, skipped_count: 0, errors: [] });
    t.same((await sendTagRequest(app, "GET", `acme/chargebacks/${ids[0]}/tags`)).body[0], {
      ...first,
      display_name: "Override",
      created_by: "grace",
    });
    t.ok(before);
    t.same(await names("search=override"), ["Override", "Override"]);
  });

  await t.test("POST …/bulk validates its body", async (t) => {
    const usual = { dimension_ids: [ids[0]], ...tag("k", "n") };
    const many = Array.from({ length: 10_001 }, (_, index) => index);
    for (const [change, name] of [
      [{ dimension_ids: [] }, "dimension_ids"],
      [{ dimension_ids: many }, "dimension_ids"],
      [{ dimension_ids: ["1"] }, "dimension_ids[0]"],
      [{ dimension_ids: [1.5] }, "dimension_ids[0]"],
      [{ dimension_ids: [-1] }, "dimension_ids[0]"],
      [{ dimension_ids: [2 ** 53] }, "dimension_ids[0]"],
      [{ dimension_ids: 1 }, "dimension_ids"],
      [{ dimension_ids: null }, "dimension_ids"],
      [{ override_existing: "yes" }, "override_existing"],
      [{ dry_run: 1 }, "dry_run"],
      [{ tag_key: "" }, "tag_key"],
      [{ display_name: "a\tb" }, "display_name"],
      [{ dimension_id: 1 }, "dimension_id"],
    ] as const) {
      const response = await sendTagRequest(app, "POST", "acme/tags/bulk", { ...usual, ...change });
      holds(t, response, { status: 400, body: { errors: [{ in: "body", name }] } }, name);
    }
    const repeated = { ...usual, dimension_ids: [...many.slice(0, 9_000), ...many.slice(0, 9_000)] };
    const { status, body } = await sendTagRequest(app, "POST", "acme/tags/bulk", repeated);
    t.strictSame([status, body.errors.length], [200, 9_000]);
    t.same(await names("search=k"), [
      "Search & Ranking",
      "backslash \\ quote ' \" dollar $1",
      "Bulk",
      "Bulk",
    ]);
  });

  await t.test("POST …/bulk-by-filter tags the dimensions in the list of chargebacks", async (t) => {
    const by = async (filter: object, key: string) => {
      const body = { ...tag(key, "Filtered"), ...filter };
      const before = await writtenTags(stores, "acme");
      const preview = await sendTagRequest(app, "POST", "acme/tags/bulk-by-filter", {
        ...body,
        dry_run: true,
      });
      t.same(await writtenTags(stores, "acme"), before, "a dry run changes nothing");
      const done = await sendTagRequest(app, "POST", "acme/tags/bulk-by-filter", body);
      t.same(preview.body, done.body, "the write returns the counts of the dry run");
      return done.body;
    };
    const created = (count: number) => ({
      created_count: count,
      updated_count: 0,
      skipped_count: 0,
      errors: [],
    });
    t.same(await by({}, "f0"), created(30), "the default period is the lookback");
    t.same(await by({ product_type: "NETWORK" }, "f1"), created(10));
    t.same(await by({ identity_id: "sa-7" }, "f2"), created(1));
    t.same(await by({ resource_id: "r-1", cost_type: "shared" }, "f3"), created(5));
    t.same(await by({ start_date: "2026-03-01", end_date: "2026-03-02" }, "f4"), created(12));
    t.same(
      await by({ start_date: "2026-02-28", end_date: "2026-02-28", timezone: "America/Denver" }, "f5"),
      created(6),
    );
    t.same(await by({ end_date: "2026-01-01" }, "f6"), created(1));
    t.same(await by({ identity_id: "nobody" }, "f7"), created(0));
    t.same(await by({}, "f1"), { created_count: 20, updated_count: 0, skipped_count: 10, errors: [] });
    t.same(await by({ override_existing: true }, "f1"), {
      created_count: 0,
      updated_count: 30,
      skipped_count: 0,
      errors: [],
    });
    t.same((await sendTagRequest(app, "GET", `acme/chargebacks/${old}/tags`)).body.length, 1);

    t.same(
      await by({ "tag:f2": "Filtered" }, "g0"),
      created(1),
      "filters by tags include tags that were just written",
    );
    t.same(await by({ "tag:f2": "UNTAGGED,Filtered" }, "g1"), created(30));
    const both = { "tag:f1": "Filtered", "tag:f2": "UNTAGGED", product_type: "NETWORK" };
    const listed = (
      await sendTagRequest(app, "GET", `acme/chargebacks?page_size=1000&${new URLSearchParams(both)}`)
    ).body;
    const ids = new Set(listed.items.map((row: { dimension_id: number }) => row.dimension_id));
    t.ok(ids.size > 0 && ids.size < 30);
    t.same(await by(both, "g2"), created(ids.size));
    const tagged = (await list("search=g2&page_size=1000")).items as { dimension_id: number }[];
    t.same(
      new Set(tagged.map((each) => each.dimension_id)),
      ids,
      "the write changes the dimensions that the list shows under these filters",
    );
    t.same(await by({ "tag:f2": "Nobody" }, "g3"), created(0));
    t.same(
      await by({ "tag:f2": ["UNTAGGED,Filtered", "Filtered"] }, "g4"),
      created(1),
      "all filters of a list must match",
    );
    t.same(
      await by({ "tag:g0": "Filtered", override_existing: true }, "g0"),
      { created_count: 0, updated_count: 1, skipped_count: 0, errors: [] },
      "the filter may use the tag that is changed",
    );
    for (const [filter, name] of [
      [{ "tag:f1": "" }, "tag:f1"],
      [{ "tag:f1": null }, "tag:f1"],
      [{ "tag:f1": [] }, "tag:f1"],
      [{ "tag:f1": ["Filtered", null] }, "tag:f1"],
      [{ "tag:": "Filtered" }, "tag:"],
      [{ tags: [{ key: "f1", names: ["Filtered"] }] }, "tags"],
      [{ start_date: "2026-03-02", end_date: "2026-03-01" }, "start_date"],
      [{ timezone: "Nowhere/Land" }, "timezone"],
      [{ cost_type: "USAGE" }, "cost_type"],
      [{ dimension_ids: [1] }, "dimension_ids"],
      [{ identity: "x" }, "identity"],
    ] as const) {
      holds(
        t,
        await sendTagRequest(app, "POST", "acme/tags/bulk-by-filter", { ...tag("x", "n"), ...filter }),
        {
          status: 400,
          body: { errors: [{ in: "body", name }] },
        },
      );
    }
    holds(t, await sendTagRequest(app, "POST", "acme/tags/bulk-by-filter"), {
      status: 400,
      body: { code: "invalid_request" },
    });
  });

  await t.test("pages and cursors have the same order, with and without a search", async (t) => {
    const { rows: all } = await stores.postgres.query<{ tag_id: number }>(
      "SELECT tag_id FROM tags WHERE tenant_name = 'acme' ORDER BY tag_id",
    );
    for (const query of ["", "search=filter", "search=a"]) {
      const whole = (await list(`${query}&page_size=1000`)).items.map(
        (item: { tag_id: number }) => item.tag_id,
      );
      if (query === "")
        t.same(
          whole,
          all.map((row) => row.tag_id),
        );
      const pages: number[] = [];
      for (let page = 1; page <= Math.ceil(whole.length / 25); page += 1) {
        const { items, pages: count, total } = await list(`${query}&page_size=25&page=${page}`);
        t.equal(count, Math.ceil(whole.length / 25));
        t.equal(total, whole.length);
        pages.push(...items.map((item: { tag_id: number }) => item.tag_id));
      }
      t.same(pages, whole, `${query} by page number`);
      const walked: number[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const response: { items: { tag_id: number }[]; next_cursor: string | null } = await list(
          `${query}&page_size=25${cursor === "" ? "" : `&cursor=${cursor}`}`,
        );
        walked.push(...response.items.map((item) => item.tag_id));
        cursor = response.next_cursor;
      }
      t.same(walked, whole, `${query} by cursor`);
    }
    holds(t, await list("page=9007199254740991"), { items: [], next_cursor: null, page: 9007199254740991 });
    const { next_cursor: cursor } = await list("page_size=25&search=filter");
    t.ok(cursor);
    for (const query of [
      `cursor=${cursor}`,
      `cursor=${cursor}&search=b`,
      "cursor=abc",
      `cursor=${cursor}&search=filter&page=2`,
    ]) {
      t.equal((await sendTagRequest(app, "GET", `acme/tags?${query}`)).status, 400, query);
    }
    t.equal(
      (await sendTagRequest(app, "GET", `globex/tags?search=filter&cursor=${cursor}`)).status,
      400,
      "the cursor belongs to another tenant",
    );
  });

  await t.test("all written tags are mirrored and counted", async (t) => {
    for (const tenant of ["acme", "globex"])
      t.same(await mirrored(stores, tenant), await writtenTags(stores, tenant));
    t.same(await miscounted(stores), []);
  });
});
