import t from "tap";
import { forgetDimensions } from "../../src/tags/forget-dimensions.js";
import { writeTags } from "../../src/tags/transaction.js";
import { insertChargebacks, startService } from "../http/service.js";
import { until } from "../until.js";
import {
  dimensionIds,
  mirrored,
  miscounted,
  recordTestDimensions,
  sendTagRequest,
  tag,
  writtenTags,
} from "./tagging.js";

t.test("tags stay consistent under many concurrent writers", async (t) => {
  const { app, stores, build } = await startService(t);
  const identities = Array.from({ length: 40 }, (_, index) => `sa-${index}`);
  await insertChargebacks(
    stores,
    "acme",
    identities.map((identity_id) => ({ timestamp: "2026-03-05T00:00:00Z", amount: "1", identity_id })),
  );
  await recordTestDimensions(stores, "acme");
  const ids = await Promise.all(
    identities.map(async (each) => (await dimensionIds(stores, "acme", each))[0] ?? 0),
  );
  const [one = 0, two = 0] = ids;
  const other = await build();
  const apps = [app, other];
  const at = (turn: number) => apps[turn % 2] ?? app;

  await t.test("one of twenty concurrent writers gets a tag key", async (t) => {
    const turns = Array.from({ length: 20 }, (_, turn) => turn);
    const responses = await Promise.all(
      turns.map((turn) =>
        sendTagRequest(at(turn), "POST", `acme/chargebacks/${one}/tags`, tag("team", `n-${turn}`)),
      ),
    );
    const statuses = responses.map((response) => response.status);
    t.equal(statuses.filter((status) => status === 201).length, 1);
    t.equal(statuses.filter((status) => status === 409).length, 19);
    const won = responses.find((response) => response.status === 201)?.body;
    t.same((await sendTagRequest(app, "GET", `acme/chargebacks/${one}/tags`)).body, [won]);
  });

  await t.test("one of several concurrent replacements wins as a whole", async (t) => {
    const sets = Array.from({ length: 12 }, (_, set) => ["a", "b", "c"].map((key) => tag(key, `set-${set}`)));
    const responses = await Promise.all(
      sets.map((tags, turn) => sendTagRequest(at(turn), "PATCH", `acme/chargebacks/${two}`, { tags })),
    );
    t.same(new Set(responses.map((response) => response.status)), new Set([200]));
    const left: { display_name: string }[] = (
      await sendTagRequest(app, "GET", `acme/chargebacks/${two}/tags`)
    ).body;
    t.equal(left.length, 3);
    t.equal(new Set(left.map((each) => each.display_name)).size, 1);
  });

  await t.test("overlapping bulks in any order succeed and give each dimension one tag", async (t) => {
    const bulks = Array.from({ length: 10 }, (_, turn) => ({
      dimension_ids: (turn % 2 === 0 ? ids : [...ids].reverse()).slice(turn, turn + 30),
      ...tag("bulk", `n-${turn % 3}`),
      override_existing: turn % 3 === 0,
    }));
    const filters = Array.from({ length: 4 }, (_, turn) => ({
      ...tag("bulk", `f-${turn}`),
      override_existing: turn % 2 === 0,
    }));
    const responses = await Promise.all([
      ...bulks.map((body, turn) => sendTagRequest(at(turn), "POST", "acme/tags/bulk", body)),
      ...filters.map((body, turn) => sendTagRequest(at(turn), "POST", "acme/tags/bulk-by-filter", body)),
    ]);
    t.same(new Set(responses.map((response) => response.status)), new Set([200]));
    const created = responses.reduce((sum, response) => sum + response.body.created_count, 0);
    t.equal(created, 40);
    const { rows } = await stores.postgres.query(
      "SELECT count(*) AS tags, count(DISTINCT dimension_id) AS dimensions FROM tags WHERE tag_key = 'bulk'",
    );
    t.same(rows, [{ tags: 40, dimensions: 40 }]);
    for (const [index, { body }] of responses.entries()) {
      const { created_count, updated_count, skipped_count } = body;
      t.equal(
        created_count + updated_count + skipped_count,
        index < bulks.length ? bulks[index]?.dimension_ids.length : 40,
      );
    }
  });

  await t.test(
    "label counts and mirror are correct after concurrent renames, deletions and bulks on the same tags",
    async (t) => {
      const { body } = await sendTagRequest(app, "GET", "acme/tags?search=bulk&page_size=40");
      const tagIds = body.items.map((item: { tag_id: number }) => item.tag_id);
      const responses = await Promise.all([
        ...tagIds.flatMap((id: number, turn: number) => [
          sendTagRequest(at(turn), "PATCH", `acme/tags/${id}`, { display_name: `renamed-${turn % 4}` }),
          ...(turn % 3 === 0 ? [sendTagRequest(at(turn + 1), "DELETE", `acme/tags/${id}`)] : []),
        ]),
        sendTagRequest(app, "POST", "acme/tags/bulk-by-filter", {
          ...tag("bulk", "again"),
          override_existing: true,
        }),
      ]);
      t.same(
        responses.filter((response) => ![200, 204, 404].includes(response.status)),
        [],
      );
      await sendTagRequest(app, "GET", "acme/chargebacks?page_size=1");
      t.same(await mirrored(stores, "acme"), await writtenTags(stores, "acme"));
      t.same(await miscounted(stores), []);
      const all = (await sendTagRequest(app, "GET", "acme/tags?page_size=1")).body.total;
      t.equal(all, (await writtenTags(stores, "acme")).length);
    },
  );

  await t.test("Postgres itself rejects the tags that the API rejects", async (t) => {
    const label =
      "INSERT INTO tag_labels (tenant_name, label_hash, tag_key, display_name, search_text) VALUES ('acme', sha256('x'), $1, $2, '')";
    for (const [key, name] of [
      ["", "n"],
      ["k".repeat(101), "n"],
      ["k", "n".repeat(501)],
      ["k\u0001", "n"],
      ["k", "n\u0085"],
    ]) {
      await t.rejects(stores.postgres.query(label, [key, name]), { code: "23514" });
    }
    const again =
      "INSERT INTO tags (tenant_name, dimension_id, tag_key, label_id, created_by) VALUES ('acme', $1, 'team', 1, $2)";
    await t.rejects(stores.postgres.query(again, [one, "x"]), { code: "23505" });
    await t.rejects(stores.postgres.query(again, [7, "c".repeat(101)]), { code: "23514" });
    await t.rejects(
      stores.postgres.query(
        "INSERT INTO tags (tag_id, tenant_name, dimension_id, tag_key, label_id, created_by) VALUES (1, 'acme', 8, 'k', 1, 'x')",
      ),
      { code: "428C9" },
    );
  });

  await t.test("dimensions are dropped only while no tag is being written", async (t) => {
    const { postgres } = stores;
    const { client } = await stores.tenant("acme");
    await insertChargebacks(stores, "acme", [
      { timestamp: "2026-04-02T00:00:00Z", amount: "1", identity_id: "who is kept" },
    ]);
    let finish = () => {};
    const held = () => new Promise<void>((resolve) => (finish = resolve));
    const writing = writeTags({ postgres, tenantName: "acme" }, held);
    await until("the writer has its lock", async () => (await locks("granted")) === 1);
    let forgotten = -1;
    const forgetting = forgetDimensions({ client, postgres, tenantName: "acme", keepFrom: "2026-04-01" });
    void forgetting.then((count) => (forgotten = count));
    await until("it waits", async () => forgotten >= 0 || (await locks("NOT granted")) === 1);
    t.equal(forgotten, -1, "dimensions are not dropped while a writer is active");
    finish();
    await writing;
    t.equal(await forgetting, 40);
  });

  async function locks(state: "granted" | "NOT granted"): Promise<number> {
    const { rows } = await stores.postgres.query(
      `SELECT count(*)::int AS n FROM pg_locks
       WHERE locktype = 'advisory' AND ${state} AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return rows[0]?.n;
  }
});
