/**
 * Lists, sums, files and views show names, types and teams beside ids, as the last gathering of the inventory found
 * them.
 */
import t from "tap";
import { copyNames } from "../../src/ingest/inventory/copy-names.js";
import { gatherInto } from "./gathered-inventory.js";
import { get, insertBilling, insertChargebacks, startService } from "./service.js";

const base = "/api/v1/tenants/acme";

t.test("reads show names, types and teams of the inventory", async (t) => {
  const { app, stores } = await startService(t);
  const { client } = await stores.tenant("acme");
  const { postgres } = stores;
  const read = async (path: string) => {
    const { status, body } = await get(app, `${base}/${path}`);
    t.equal(status, 200, `${path} ${JSON.stringify(body).slice(0, 200)}`);
    return body;
  };
  const csv = async (query: string) => (await app.inject({ url: `${base}/export?${query}` })).body;
  const rows = async (query: string) =>
    (await client.query({ query, format: "JSONCompactEachRow" })).json<unknown[]>();
  const copy = () =>
    copyNames({ client, postgres, tenantName: "acme", signal: new AbortController().signal });
  const sums = async (query: string) =>
    (await read(`chargebacks/aggregate?time_bucket=month&${query}`)).buckets.map(
      (bucket: { dimensions: object; display_names: object; total_amount: string }) => [
        ...Object.values(bucket.dimensions),
        bucket.display_names,
        bucket.total_amount,
      ],
    );

  const timestamp = "2026-03-01T00:00:00Z";
  await insertBilling(stores, "acme", [{ timestamp, total_cost: "31" }]);
  await insertChargebacks(stores, "acme", [
    { timestamp, amount: "1", identity_id: "a", env_id: "env-1" },
    { timestamp, amount: "2", identity_id: "b", resource_id: "r-2" },
    { timestamp, amount: "4", identity_id: "b", cost_type: "shared" },
    { timestamp, amount: "8", identity_id: "stranger" },
    { timestamp, amount: "16", identity_id: "UNALLOCATED", cost_type: "shared" },
  ]);
  const names = (row: Record<string, unknown>) => [
    row.identity_id,
    row.identity_name,
    row.identity_type,
    row.team,
    row.resource_id,
    row.resource_name,
    row.resource_type,
  ];

  await t.test("before the names are first copied, reads show only ids", async (t) => {
    const { items } = await read("chargebacks?identity_id=a");
    t.strictSame(items.map(names), [["a", null, null, "UNASSIGNED", "r-1", null, null]]);
    t.strictSame(await sums("group_by=team"), [["UNASSIGNED", {}, "31"]]);
    t.strictSame((await read("chargebacks?team=payments")).total, 0);
    t.strictSame((await read("chargebacks?team=UNASSIGNED")).total, 5);
    t.equal(
      await csv("columns=identity_name&columns=team&identity_id=a"),
      "identity_name,team\n,UNASSIGNED\n",
    );
    t.strictSame(await rows("SELECT team, toString(total_amount) FROM daily_cost_by_team"), [
      ["UNASSIGNED", "31"],
    ]);
  });

  const inventory = (name: string) => ({
    resources: [
      { resource_id: "r-1", display_name: "=orders", owner_id: "a" },
      { resource_id: "env-1", resource_type: "environment", display_name: "production" },
      { resource_id: "t", resource_type: "topic", display_name: "a topic" },
    ],
    identities: [
      { identity_id: "a", display_name: name, metadata: { team: "payments" } },
      { identity_id: "b", identity_type: "user", metadata: { team: "search, core" } },
      { identity_id: "c", metadata: { team: { not: "a text" } } },
      { identity_id: "UNALLOCATED", identity_type: "system", display_name: "Unallocated" },
    ],
  });
  await gatherInto(stores, "acme", { at: "2026-03-05T00:00:00Z", ...inventory("Ann") });
  t.equal(await copy(), true, "the first copy is written");
  t.equal(await copy(), false, "without a change the copy is not written again");

  await t.test("lists show names, types and teams", async (t) => {
    const { items } = await read("chargebacks");
    t.strictSame(items.map(names), [
      ["UNALLOCATED", "Unallocated", "system", "UNALLOCATED", "r-1", "=orders", "cluster"],
      ["b", null, "user", "search, core", "r-1", "=orders", "cluster"],
      ["stranger", null, null, "UNASSIGNED", "r-1", "=orders", "cluster"],
      ["a", "Ann", "principal", "payments", "r-1", "=orders", "cluster"],
      ["b", null, "user", "search, core", "r-2", null, null],
    ]);
    const [line] = (await read("billing")).items;
    t.strictSame([line.resource_name, line.resource_type], ["=orders", "cluster"]);
  });

  await t.test("sums can be grouped by team, and show names beside ids", async (t) => {
    t.strictSame(await sums("group_by=team"), [
      ["UNALLOCATED", {}, "16"],
      ["UNASSIGNED", {}, "8"],
      ["payments", {}, "1"],
      ["search, core", {}, "6"],
    ]);
    t.strictSame(await sums("group_by=identity_id&team=payments"), [["a", { identity_id: "Ann" }, "1"]]);
    t.strictSame(await sums("group_by=team&group_by=resource_id&team=search,%20core"), [
      ["search, core", "r-1", { resource_id: "=orders" }, "4"],
      ["search, core", "r-2", {}, "2"],
    ]);
    t.strictSame(await sums("group_by=environment_id&group_by=team&identity_id=a"), [
      ["env-1", "payments", { environment_id: "production" }, "1"],
    ]);
    t.strictSame((await sums("group_by=cost_type&team=UNASSIGNED")).flat(), ["usage", {}, "8"]);
    // Filters select ids, and the response has their names. An environment has a name of its own, whatever its
    // resources are.
    t.strictSame(await sums("group_by=identity_id&identity_id=a&identity_id=b"), [
      ["a", { identity_id: "Ann" }, "1"],
      ["b", {}, "6"],
    ]);
    t.strictSame(await sums("group_by=resource_id&group_by=environment_id&resource_id=r-1&identity_id=a"), [
      ["r-1", "env-1", { resource_id: "=orders", environment_id: "production" }, "1"],
    ]);
    t.strictSame(await sums("group_by=resource_id&resource_id=r-1&identity_id=a"), [
      ["r-1", { resource_id: "=orders" }, "1"],
    ]);
    t.strictSame(await sums("group_by=identity_id&not:identity_id=b&team=payments"), [
      ["a", { identity_id: "Ann" }, "1"],
    ]);
    const whole = await read("chargebacks/aggregate?group_by=team&group_by=cost_type&time_bucket=hour");
    t.strictSame([whole.total_amount, whole.total_buckets, whole.total_rows], ["31", 5, 5]);
  });

  await t.test("exports show names, by GET and by POST", async (t) => {
    const columns = [
      "identity_id",
      "identity_name",
      "identity_type",
      "team",
      "resource_name",
      "resource_type",
    ];
    const wanted = [
      columns.join(","),
      "a,Ann,principal,payments,'=orders,cluster",
      'b,,user,"search, core",,',
      "",
    ].join("\n");
    const query = columns.map((column) => `columns=${column}`).join("&");
    t.equal(
      await csv(`${query}&cost_type=usage&team=payments`),
      wanted
        .split("\n")
        .filter((_, line) => line !== 2)
        .join("\n"),
    );
    const payload = { columns, filters: { cost_type: "usage", team: "search, core" } };
    const posted = await app.inject({ method: "POST", url: `${base}/export`, payload });
    t.equal(
      posted.body,
      wanted
        .split("\n")
        .filter((_, line) => line !== 1)
        .join("\n"),
    );
  });

  await t.test("SQL views show names and dimension ids", async (t) => {
    const details = "identity_id, identity_name, identity_type, team, resource_name, toString(dimension_id)";
    const [item] = (await read("chargebacks?identity_id=a")).items;
    t.strictSame(await rows(`SELECT ${details} FROM chargeback_details WHERE identity_id = 'a'`), [
      ["a", "Ann", "principal", "payments", "=orders", String(item.dimension_id)],
    ]);
    t.strictSame(
      await rows(
        "SELECT team, toString(total_amount), toString(row_count) FROM daily_cost_by_team ORDER BY team",
      ),
      [
        ["UNALLOCATED", "16", "1"],
        ["UNASSIGNED", "8", "1"],
        ["payments", "1", "1"],
        ["search, core", "6", "2"],
      ],
    );
    t.strictSame(
      await rows(
        "SELECT identity_name, team, toString(total_amount) FROM daily_cost_by_identity WHERE identity_id = 'a'",
      ),
      [["Ann", "payments", "1"]],
    );
    t.strictSame(
      await rows(
        "SELECT resource_name, toString(sum(total_amount)) FROM daily_cost_by_resource GROUP BY ALL ORDER BY resource_name DESC",
      ),
      [
        ["=orders", "29"],
        ["", "2"],
      ],
    );
    t.strictSame(await rows("SELECT resource_name, resource_type FROM billing_line_items"), [
      ["=orders", "cluster"],
    ]);
    t.strictSame(await rows("SELECT resource_id, owner_id FROM resources ORDER BY resource_id"), [
      ["env-1", ""],
      ["r-1", "a"],
    ]);
    t.strictSame(await rows("SELECT identity_id, team, is_deleted FROM identities ORDER BY identity_id"), [
      ["UNALLOCATED", "UNALLOCATED", false],
      ["a", "payments", false],
      ["b", "search, core", false],
      ["c", "UNASSIGNED", false],
    ]);
  });

  await t.test("a new name is visible under a new ETag, and a deleted entity keeps its name", async (t) => {
    const url = `${base}/chargebacks?identity_id=a`;
    const before = await get(app, url);
    t.equal((await get(app, url, { "if-none-match": String(before.headers.etag) })).status, 304);
    const teams = { a: "platform", c: "platform" };
    await gatherInto(stores, "acme", { at: "2026-03-06T00:00:00Z", ...inventory("Anna"), teams });
    t.equal(await copy(), true);
    const after = await get(app, url, { "if-none-match": String(before.headers.etag) });
    const [item] = after.body.items;
    t.strictSame(
      [after.status, item.identity_name, item.team],
      [200, "Anna", "platform"],
      "identity_to_team takes precedence",
    );
    const { items } = await read("identities?search=c");
    const named = items.find((each: { identity_id: string }) => each.identity_id === "c");
    t.strictSame(named.metadata, { team: "platform" });
    await gatherInto(stores, "acme", { at: "2026-03-07T00:00:00Z", resources: [], identities: [] });
    t.equal(await copy(), true);
    t.strictSame(await rows("SELECT identity_name, is_deleted FROM identities WHERE identity_id = 'a'"), [
      ["Anna", true],
    ]);
    t.strictSame(
      (await rows("SELECT count() FROM inventory_generations"))[0],
      ["2"],
      "the previous copy stays, and older ones are dropped",
    );
  });

  await t.test(
    "names are copied again to a store that was recreated or restored from a backup",
    async (t) => {
      for (const table of ["inventory_names", "inventory_generations"])
        await client.command({ query: `TRUNCATE TABLE ${table}` });
      t.equal(await copy(), true);
      t.strictSame(await rows("SELECT identity_name FROM identities WHERE identity_id = 'a'"), [["Anna"]]);
      await client.command({ query: "INSERT INTO inventory_generations VALUES (1000000, 'another')" });
      t.equal(await copy(), true);
      t.strictSame(await rows("SELECT identity_name FROM identities WHERE identity_id = 'a'"), [["Anna"]]);
    },
  );

  await t.test("an incomplete copy of names is not visible", async (t) => {
    await client.command({
      query:
        "INSERT INTO inventory_names (generation, kind, entity_id, display_name) VALUES (9000000, 'identity', 'a', 'half')",
    });
    t.strictSame(await rows("SELECT identity_name FROM identities WHERE identity_id = 'a'"), [["Anna"]]);
  });
});
