import t from "tap";
import { fingerprintSql, plainDimensionIdSql } from "../../src/domain/dimension-id.js";
import { holds } from "../holds.js";
import { get, insertChargebacks, startService } from "./service.js";

const base = "/api/v1/tenants/acme/chargebacks";
const fields =
  "ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type";

interface Bucket {
  readonly dimensions: Readonly<Record<string, string>>;
  readonly time_bucket: string;
  readonly total_amount: string;
}

t.test("tag:KEY is a filter and a column", async (t) => {
  const { app, stores } = await startService(t);
  const { client } = await stores.tenant("acme");
  const amounts = async (query: string): Promise<string[]> => {
    const { status, body } = await get(app, `${base}?${query}`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.items.map(({ amount }: { amount: string }) => amount);
  };
  const sums = async (query: string): Promise<unknown[]> => {
    const { status, body } = await get(app, `${base}/aggregate?time_bucket=month&${query}`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.buckets.map(({ dimensions, total_amount }: Bucket) => [
      ...Object.values(dimensions),
      total_amount,
    ]);
  };

  const timestamp = "2026-03-01T00:00:00Z";
  await insertChargebacks(stores, "acme", [
    { timestamp, amount: "1", identity_id: "a" },
    { timestamp: "2026-03-02T00:00:00Z", amount: "2", identity_id: "a" },
    { timestamp, amount: "4", identity_id: "b" },
    { timestamp, amount: "8", identity_id: "b", cost_type: "shared" },
    { timestamp, amount: "16", identity_id: "c", env_id: "e-1" },
    { timestamp, amount: "32", identity_id: "d", resource_id: "r-2" },
    { timestamp, amount: "64", identity_id: "e" },
  ]);

  await t.test("all rows of a tenant without tags are untagged", async (t) => {
    t.same(await sums("group_by=tag:team"), [["UNTAGGED", "127"]]);
    t.same(await amounts("tag:team=payments"), []);
    t.equal((await amounts("tag:team=UNTAGGED")).length, 7);
  });

  await client.command({
    query: `INSERT INTO dimensions (dimension_id, fingerprint, ${fields})
      SELECT DISTINCT ${plainDimensionIdSql("fingerprint")}, ${fingerprintSql()} AS fingerprint, ${fields} FROM chargebacks`,
  });
  // The dimension of `e` has a hash collision, so its id is another one.
  await client.command({
    query: `INSERT INTO dimension_collisions SELECT fingerprint, 4242, 1 FROM dimensions WHERE identity_id = 'e'`,
  });
  await client.command({
    query: `INSERT INTO dimensions (dimension_id, fingerprint, ${fields}) SELECT 4242, fingerprint, ${fields} FROM dimensions WHERE identity_id = 'e'`,
  });
  await client.command({
    query:
      "ALTER TABLE dimensions DELETE WHERE identity_id = 'e' AND dimension_id != 4242 SETTINGS mutations_sync = 1",
  });
  let tagId = 0;
  const tag = async (where: string, key: string, name: string, deleted = 0) => {
    tagId += 1;
    await client.command({
      query: `INSERT INTO dimension_tags SELECT dimension_id, {id:UInt64} * 100 + rowNumberInAllBlocks(), {key:String}, {name:String}, 0, 1 FROM dimensions WHERE ${where}`,
      query_params: { id: tagId, key, name },
    });
    if (deleted === 1)
      await client.command({
        query: `INSERT INTO dimension_tags SELECT dimension_id, tag_id, tag_key, display_name, 1, 2 FROM dimension_tags WHERE intDiv(tag_id, 100) = {id:UInt64}`,
        query_params: { id: tagId },
      });
  };
  await tag("identity_id = 'a'", "team", "payments");
  await tag("identity_id = 'b' AND cost_type = 'usage'", "team", "search");
  await tag("identity_id = 'c'", "team", "a,b\\c");
  await tag("identity_id = 'e'", "team", "payments");
  await tag("identity_id = 'd'", "team", "gone", 1);
  await tag("identity_id IN ('a', 'c')", "Größe=x", "groß");
  await tag("identity_id = 'c'", "TEAM", "other");

  await t.test("groups by tag are display names or UNTAGGED, in the order of the names", async (t) => {
    t.same(await sums("group_by=tag:team"), [
      ["UNTAGGED", "40"],
      ["a,b\\c", "16"],
      ["payments", "67"],
      ["search", "4"],
    ]);
    t.same(
      await sums("group_by=tag:TEAM"),
      [
        ["UNTAGGED", "111"],
        ["other", "16"],
      ],
      "keys are case-sensitive",
    );
    t.same(await sums("group_by=tag:nobody"), [["UNTAGGED", "127"]]);
    t.same(
      await sums(
        "group_by=tag:team&group_by=cost_type&group_by=tag:Gr%C3%B6%C3%9Fe%3Dx&tag:team=payments&tag:team=UNTAGGED,payments",
      ),
      [
        ["payments", "usage", "UNTAGGED", "64"],
        ["payments", "usage", "groß", "3"],
      ],
    );
    const { body } = await get(
      app,
      `${base}/aggregate?group_by=tag:team&group_by=identity_id&cost_type=usage`,
    );
    t.same(Object.keys(body.buckets[0].dimensions), ["tag:team", "identity_id"]);
    holds(t, body, { total_amount: "119", total_rows: 6, total_buckets: 6, truncated: false });
  });

  await t.test("a tag with the name UNTAGGED counts as untagged in buckets and filters", async (t) => {
    await tag("identity_id = 'd'", "odd", "UNTAGGED");
    await tag("identity_id = 'a'", "odd", "even");
    t.same(await sums("group_by=tag:odd"), [
      ["UNTAGGED", "124"],
      ["even", "3"],
    ]);
    t.equal((await amounts("tag:odd=UNTAGGED")).length, 5);
  });

  for (const [query, wanted] of [
    ["tag:team=payments", ["1", "64", "2"]],
    ["tag:team=payments,search", ["1", "4", "64", "2"]],
    ["tag:team=search,nobody", ["4"]],
    ["tag:team=SEARCH", []],
    ["tag:team=a%5C,b%5C%5Cc", ["16"]],
    ["tag:team=a%5C,b%5Cc", ["16"]],
    ["tag:team=UNTAGGED", ["8", "32"]],
    ["tag:team=UNTAGGED,search", ["4", "8", "32"]],
    ["tag:team=payments,search&tag:team=search", ["4"]],
    ["tag:team=payments&tag:Gr%C3%B6%C3%9Fe%3Dx=gro%C3%9F", ["1", "2"]],
    ["tag%3Ateam=payments&identity_id=e", ["64"]],
    ["tag:team=gone", []],
    ["tag:team='%20OR%201%3D1%20--", []],
  ] as const) {
    await t.test(`?${query}`, async (t) => {
      const found = await amounts(query);
      t.same([...found].sort(), [...wanted].sort());
      const { body } = await get(app, `${base}?${query}`);
      t.equal(body.total, wanted.length);
      const total = wanted.reduce((sum, amount) => sum + Number(amount), 0);
      t.equal(
        (await get(app, `${base}/aggregate?${query}`)).body.total_amount,
        String(total),
        "the aggregate has the same rows",
      );
    });
  }

  for (const [query, named] of [
    ["tag:=x", /`tag:KEY` must be the key of a tag/],
    ["tag:team=", /display names of 1 to 500/],
    ["tag:team=a,", /tag:KEY/],
    [`tag:team=${"x".repeat(501)}`, /tag:KEY/],
    [`tag:${"k".repeat(101)}=x`, /tag:KEY/],
    ["tag:a%0Ab=x", /tag:KEY/],
    [Array.from({ length: 21 }, (_, index) => `tag:k${index}=x`).join("&"), /at most 20 times/],
    ["tags=x", /Unknown parameter `tags`/],
    ["Tag:team=x", /Unknown parameter `Tag:team`.*tag:KEY/],
  ] as const) {
    await t.test(`400: ${query.slice(0, 40)}`, async (t) => {
      const { status, body } = await get(app, `${base}?${query}`);
      t.equal(status, 400);
      holds(t, body.detail, named);
    });
  }

  await t.test("lists other than chargebacks refuse tag filters", async (t) => {
    t.equal((await get(app, "/api/v1/tenants/acme/billing?tag:team=x")).status, 400);
  });

  for (const column of ["tag:", "tag:a%0Ab", `tag:${"k".repeat(101)}`, "TAG:team"]) {
    await t.test(`400: group_by=${column.slice(0, 20)}`, async (t) => {
      const { status, body } = await get(app, `${base}/aggregate?group_by=${column}`);
      t.equal(status, 400);
      t.match(
        body.detail,
        /`group_by` must be one of .*, tag:KEY with the key of a tag, line_tag:KEY .* or column:NAME/,
      );
    });
  }
});
