import t from "tap";
import { dimensionIds, recordTestDimensions, sendTagRequest, tag } from "../tags/tagging.js";
import { get, insertBilling, insertChargebacks, startService } from "./service.js";

t.test("GET /api/v1/tenants/{tenant_name}/tag-keys", async (t) => {
  const { app, stores } = await startService(t);
  const send = async (tenant = "acme") => {
    const url = `/api/v1/tenants/${tenant}/tag-keys?start_date=2026-03-01&end_date=2026-03-01`;
    const { status, body } = await get(app, url);
    t.equal(status, 200, JSON.stringify(body));
    return body;
  };

  await t.test("without tags there are no keys", async (t) => {
    t.strictSame(await send(), { tag_keys: [], line_tag_keys: [], columns: [] });
  });

  await insertChargebacks(stores, "acme", [
    { timestamp: "2026-01-01T00:00:00Z", amount: "1", identity_id: "sa-1" },
  ]);
  await insertChargebacks(stores, "globex", [
    { timestamp: "2026-01-01T00:00:00Z", amount: "1", identity_id: "sa-1" },
  ]);
  for (const tenant of ["acme", "globex"]) {
    await recordTestDimensions(stores, tenant);
    const [id] = await dimensionIds(stores, tenant, "sa-1");
    for (const key of ["team", "Zone", "äu", `only-${tenant}`])
      t.equal(
        (await sendTagRequest(app, "POST", `${tenant}/chargebacks/${id}/tags`, tag(key, "x"))).status,
        201,
      );
  }
  const line = (day: string, line_tags: Record<string, string>, resource_id: string) => ({
    timestamp: `2026-03-0${day}T00:00:00Z`,
    total_cost: "1",
    resource_id,
    line_tags,
  });
  await insertBilling(stores, "acme", [
    line("1", { team: "web", "Cost Center": "", "column:model": "m", "column:a b": "a tag" }, "i-1"),
    line("1", { "a'\\b": "x", team: "data", __proto__: "x", "control\u0007": "x" }, "i-2"),
    line("1", { ["k".repeat(513)]: "too long for a column" }, "i-3"),
    line("2", { later: "x" }, "i-1"),
  ]);

  await t.test(
    "the keys are those of the tenant's tags, and of the bill's lines in the period",
    async (t) => {
      t.strictSame(await send(), {
        tag_keys: ["Zone", "only-acme", "team", "äu"],
        line_tag_keys: ["Cost Center", "a'\\b", "column:a b", "team"],
        columns: ["model"],
      });
      t.strictSame(await send("globex"), {
        tag_keys: ["Zone", "only-globex", "team", "äu"],
        line_tag_keys: [],
        columns: [],
      });
    },
  );

  await t.test("amounts can be grouped by each key", async (t) => {
    const { line_tag_keys: keys } = await send();
    for (const key of keys) {
      const column = encodeURIComponent(`line_tag:${key}`);
      const { status } = await get(app, `/api/v1/tenants/acme/chargebacks/breakdown?group_by=${column}`);
      t.equal(status, 200, key);
    }
    t.equal(keys.length, 4);
  });

  await t.test("a key disappears with its last tag", async (t) => {
    const { items } = (await sendTagRequest(app, "GET", "acme/tags?search=Zone")).body;
    t.equal((await sendTagRequest(app, "DELETE", `acme/tags/${items[0].tag_id}`)).status, 204);
    t.strictSame((await send()).tag_keys, ["only-acme", "team", "äu"]);
  });

  await t.test("of 3,000 keys the first 1,000 are returned", async (t) => {
    const tags = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`k-${index}`, "x"]));
    await insertBilling(stores, "globex", [line("1", tags, "i-1")]);
    const { line_tag_keys: keys } = await send("globex");
    t.strictSame([keys.length, keys[0], keys[999]], [1000, "k-0", Object.keys(tags).sort()[999]]);
  });
});
