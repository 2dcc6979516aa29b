import t from "tap";
import { readPostgres } from "../../src/postgres/statement.js";
import { type SearchTotal, searchPage, searchTotal } from "../../src/tags/search.js";
import { foldCase, searchText } from "../../src/tags/tag-text.js";
import { openTestStores } from "../stores.js";

t.test("letters that differ only in case match in both directions", async (t) => {
  for (const [one, other] of [
    ["straße", "STRASSE"],
    ["ΟΔΟΣ", "οδος"],
    ["οδοσα", "ΟΔΟΣΑ"],
    ["é", "e\u0301"],
    ["ﬁn", "FIN"],
    ["Ǆ", "ǆ"],
  ] as const)
    t.equal(foldCase(one), foldCase(other), one);
  t.not(foldCase("a"), foldCase("á"));
  t.equal(searchText({ tag_key: "team", display_name: "Säule" }), "TEAM\nSÄULE");
});

/**
 * 30,000 tags with 1,500 labels. Every third tag has a label of its own kind, so that needles find few labels, many
 * labels with few tags, and many labels with many tags. Each of the three strategies must return the same as a scan one
 * by one.
 */
t.test("every search strategy returns the same page as a scan of all tags", async (t) => {
  const { stores } = await openTestStores(t);
  const { postgres } = stores;
  await postgres.query(`
INSERT INTO tag_labels (tenant_name, label_hash, tag_key, display_name, search_text, tag_count)
SELECT tenant, sha256((tenant || n)::bytea), 'key', 'name', format('KEY%s%sNAME %s%s', chr(10), CASE WHEN n < 700 THEN 'RARE ' END, n, CASE WHEN n % 5 = 0 THEN '_%' END), 0
FROM unnest(ARRAY['acme', 'globex']) AS tenant, generate_series(1, 1500) AS n`);
  await postgres.query(`
INSERT INTO tags (tenant_name, dimension_id, tag_key, label_id, created_by)
SELECT tenant_name, row_number() OVER (ORDER BY place, label_id), 'key', label_id, 'x'
FROM tag_labels, generate_series(1, 30) AS place
WHERE tenant_name = 'acme' AND (strpos(search_text, 'RARE') = 0 OR place <= 2)`);
  await postgres.query(
    "UPDATE tag_labels AS l SET tag_count = (SELECT count(*) FROM tags AS t WHERE t.label_id = l.label_id)",
  );
  for (const [search, ways] of [
    ["name 1499", "follow"],
    ["name 7", "follow"],
    ["_%", "follow"],
    ["rare", "gather"],
    ["name", "walk"],
    ["nowhere", "follow"],
    ["", "every"],
  ] as const) {
    const found = { tenantName: "acme", search };
    const [sum] = await readPostgres<SearchTotal>(postgres, searchTotal(found));
    if (sum === undefined) throw new Error("no total");
    const { rows } = await postgres.query<{ tag_id: number }>(
      "SELECT tag_id FROM tags JOIN tag_labels USING (label_id) WHERE tags.tenant_name = 'acme' AND strpos(search_text, $1) > 0 ORDER BY tag_id",
      [search.toUpperCase()],
    );
    const all = rows.map((row) => row.tag_id);
    t.equal(sum.total, all.length, `total of "${search}"`);
    const way =
      search === "" ? "every" : sum.labels <= 500 ? "follow" : sum.total <= 20_000 ? "gather" : "walk";
    t.equal(way, ways, `the way of "${search}"`);
    for (const [offset, limit] of [
      [0, 10],
      [3, 100],
      [all.length - 5, 10],
      [all.length + 5, 10],
    ] as const) {
      const place = { after: -1, offset: Math.max(offset, 0), limit };
      const page = await readPostgres<{ tag_id: number }>(postgres, searchPage(found, sum, place));
      t.same(
        page.map((row) => row.tag_id),
        all.slice(place.offset, place.offset + limit),
        `"${search}" from ${place.offset}`,
      );
    }
    const after = all[Math.floor(all.length / 2)] ?? -1;
    const behind = await readPostgres<{ tag_id: number }>(
      postgres,
      searchPage(found, sum, { after, offset: 0, limit: 7 }),
    );
    t.same(
      behind.map((row) => row.tag_id),
      all.filter((id) => id > after).slice(0, 7),
      `"${search}" behind a tag`,
    );
  }
});
