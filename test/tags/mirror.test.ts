import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import t, { type Test } from "tap";
import { openClickHouseClient } from "../../src/clickhouse/client.js";
import { migrateClickHouse } from "../../src/stores/migrate-clickhouse.js";
import { migrationFolders } from "../../src/stores/open-stores.js";
import type { Stores } from "../../src/stores/stores.js";
import { checkMirror, mirrorWaiting } from "../../src/tags/mirror.js";
import { createTagMirror } from "../../src/tags/tag-mirror.js";
import { addTag, deleteTag, renameTag } from "../../src/tags/write.js";
import { holds } from "../holds.js";
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

const silent = pino({ level: "silent" });

t.test("each tenant's store has a mirror of its tags", async (t) => {
  const service = await startService(t);
  const { stores } = service;
  const { postgres } = stores;
  const identities = Array.from({ length: 12 }, (_, index) => `sa-${index}`);
  await insertChargebacks(
    stores,
    "acme",
    identities.map((identity_id) => ({ timestamp: "2026-03-05T00:00:00Z", amount: "1", identity_id })),
  );
  await recordTestDimensions(stores, "acme");
  const ids = await Promise.all(
    identities.map(async (each) => (await dimensionIds(stores, "acme", each))[0] ?? 0),
  );
  const [one = 0, two = 0, three = 0, unseen = 0] = ids;
  const on = (dimensionId: number) => ({ postgres, tenantName: "acme", dimensionId });
  const target = async () => ({
    client: (await stores.tenant("acme")).client,
    postgres,
    tenantName: "acme",
    signal: new AbortController().signal,
  });
  const same = async (t: Test, message: string) =>
    t.same(await mirrored(stores, "acme"), await writtenTags(stores, "acme"), message);
  const waiting = async () => (await postgres.query("SELECT FROM tag_outbox")).rowCount;

  // The store of the tenant is unreachable while `away` is true: nothing listens at its address.
  let away = false;
  const closed = openClickHouseClient({
    url: "http://127.0.0.1:1",
    username: "",
    password: "",
    database: "acme",
    applicationName: "test",
  });
  t.teardown(() => closed.close());
  const shaky: Stores = {
    ...stores,
    tenant: async (name) => ({ ...(await stores.tenant(name)), ...(away && { client: closed }) }),
  };
  const timing = { interval: 20, pause: 0, writerTimeout: 30_000, readerTimeout: 30_000 };
  const tags = createTagMirror({ stores: shaky, tenantNames: ["acme", "globex"], logger: silent, timing });
  const app = await service.build({ stores: shaky, tags });
  // Copies to Postgres like a run, all but one dimension, which nobody has requested.
  for (const id of ids.filter((each) => each !== unseen))
    await sendTagRequest(app, "GET", `acme/chargebacks/${id}`);

  await t.test(
    "tags are written, changed, removed, listed and searched while the store is down",
    async (t) => {
      away = true;
      const posted = await sendTagRequest(
        app,
        "POST",
        `acme/chargebacks/${one}/tags`,
        tag("team", "Platform"),
      );
      t.equal(posted.status, 201);
      const patched = await sendTagRequest(app, "PATCH", `acme/chargebacks/${two}`, {
        tags: [tag("team", "Search"), tag("x", "y")],
      });
      holds(t, patched, {
        status: 200,
        body: { identity_id: "sa-1", amount: null, timestamp: null },
      });
      t.strictSame(
        patched.body.tags.map((each: { tag_key: string; display_name: string }) => [
          each.tag_key,
          each.display_name,
        ]),
        [
          ["team", "Search"],
          ["x", "y"],
        ],
      );
      holds(t, await sendTagRequest(app, "DELETE", `acme/tags/${patched.body.tags[1].tag_id}`), {
        status: 204,
      });
      const renamed = await sendTagRequest(app, "PATCH", `acme/tags/${posted.body.tag_id}`, {
        display_name: "Foundations",
      });
      t.equal(renamed.status, 200);
      const bulk = await sendTagRequest(app, "POST", "acme/tags/bulk", {
        dimension_ids: [three, unseen],
        ...tag("team", "Bulk"),
      });
      holds(t, bulk, {
        status: 200,
        body: { created_count: 1, errors: [{ dimension_id: unseen, code: "store_unavailable" }] },
      });
      t.same(
        (await sendTagRequest(app, "GET", "acme/tags?search=E")).body.items.map(
          (each: { display_name: string }) => each.display_name,
        ),
        ["Foundations", "Search", "Bulk"],
      );
      t.equal((await sendTagRequest(app, "GET", `acme/chargebacks/${one}/tags`)).body.length, 1);
      holds(t, await sendTagRequest(app, "GET", `acme/chargebacks/${one}`), {
        status: 503,
        body: { code: "store_unavailable" },
      });
      holds(t, await sendTagRequest(app, "POST", `acme/chargebacks/${unseen}/tags`, tag("a", "b")), {
        status: 503,
      });
      holds(t, await sendTagRequest(app, "POST", "acme/tags/bulk-by-filter", tag("a", "b")), { status: 503 });
      t.same(await mirrored(stores, "acme"), []);
      t.ok(await waiting());
    },
  );

  await t.test("the next read after an outage of the store shows the tags", async (t) => {
    away = false;
    const { body } = await sendTagRequest(app, "GET", `acme/chargebacks?identity_id=sa-0`);
    t.same(body.items[0].tags, ["Foundations"]);
    await same(t, "all tags are mirrored");
    t.equal(await waiting(), 0);
  });

  await t.test("tags are mirrored after an outage even if nobody reads", async (t) => {
    away = true;
    await sendTagRequest(app, "POST", `acme/chargebacks/${one}/tags`, tag("later", "Later"));
    away = false;
    await until("mirrored", async () => (await waiting()) === 0);
    await same(t, "tags are mirrored without any read");
  });

  await t.test("a store whose process was killed has the tags once it is back", async (t) => {
    const pid = stores.embeddedClickHouse?.pid();
    if (pid === undefined) throw new Error("the store does not run");
    process.kill(pid, "SIGKILL");
    const { status } = await sendTagRequest(
      app,
      "POST",
      `acme/chargebacks/${two}/tags`,
      tag("killed", "Survives"),
    );
    t.equal(status, 201);
    await until("the store is back", async () => {
      const alive = stores.embeddedClickHouse?.pid();
      return (
        alive !== undefined && alive !== pid && (await (await stores.tenant("acme")).client.ping()).success
      );
    });
    await until("mirrored", async () => (await waiting()) === 0);
    await same(t, "the tags are there after the restart");
  });

  await t.test("several processes mirror at once without losing or reordering changes", async (t) => {
    const others = [1, 2, 3].map(() =>
      createTagMirror({ stores, tenantNames: ["acme"], logger: silent, timing }),
    );
    const tagged = await Promise.all(ids.slice(4, 10).map((id) => addTag(on(id), tag("race", "0"))));
    await Promise.all(
      tagged.map(async ({ tag_id: tagId }, index) => {
        for (let turn = 1; turn <= 8; turn += 1) {
          await renameTag({ postgres, tenantName: "acme", tagId }, String(turn));
          await others[(index + turn) % 3]?.afterWrite("acme");
        }
        if (index % 2 === 0) await deleteTag({ postgres, tenantName: "acme", tagId });
        await others[index % 3]?.afterWrite("acme");
      }),
    );
    await same(t, "each tag has its last state");
    t.equal((await mirrored(stores, "acme")).filter((each) => each.includes("race=8")).length, 3);
    await Promise.all(others.map((each) => each.stop()));
  });

  await t.test("changes that a crash left between the stores are written again", async (t) => {
    await addTag(on(one), tag("crash", "before"));
    const { client } = await target();
    // Written to ClickHouse under a later version, and not recorded in Postgres.
    const [found] = (await postgres.query("SELECT tag_id FROM tags WHERE tag_key = 'crash'")).rows;
    const { version } = (await postgres.query("SELECT nextval('tag_mirror_versions') AS version")).rows[0];
    const row = {
      dimension_id: one,
      tag_id: found.tag_id,
      tag_key: "crash",
      display_name: "before",
      is_deleted: 0,
      version,
    };
    await client.insert({ table: "dimension_tags", format: "JSONEachRow", values: [row] });
    await renameTag({ postgres, tenantName: "acme", tagId: found.tag_id }, "after");
    await mirrorWaiting(await target());
    await same(t, "the tag has its newest state");
  });

  await t.test("a store that was reset to an older state is refilled", async (t) => {
    const { client } = await target();
    await addTag(on(three), tag("old", "state"));
    await mirrorWaiting(await target());
    const drop =
      "ALTER TABLE dimension_tags DELETE WHERE version >= (SELECT max(version) FROM dimension_tags)";
    await client.command({ query: drop, clickhouse_settings: { mutations_sync: "1" } });
    t.equal(await checkMirror(await target()), true);
    await same(t, "tags that the store had lost are back");
    t.equal(await checkMirror(await target()), false, "the next check changes nothing");
  });

  await t.test("tags of a Postgres that was reset replace those in the store", async (t) => {
    const { client } = await target();
    const ghost = {
      dimension_id: one,
      tag_id: 999_999,
      tag_key: "ghost",
      display_name: "g",
      is_deleted: 0,
      version: 1_000_000,
    };
    await client.insert({ table: "dimension_tags", format: "JSONEachRow", values: [ghost] });
    t.equal(await checkMirror(await target()), true);
    await same(t, "the tag that Postgres does not have is gone");
    await addTag(on(three), tag("next", "state"));
    await mirrorWaiting(await target());
    await same(t, "later versions are newer");
  });

  await t.test("the service refills a database that was dropped and recreated", async (t) => {
    // The other instance stops, so that only the new one fills the mirror.
    await tags.stop();
    const server = await stores.serverClient("acme");
    await server.command({ query: "DROP DATABASE acme SYNC" });
    await migrateClickHouse(server, {
      dir: migrationFolders.clickhouse,
      database: "acme",
      postgres: postgres,
      logger: silent,
    });
    const fresh = createTagMirror({ stores, tenantNames: ["acme"], logger: silent, timing });
    t.same(await mirrored(stores, "acme"), []);
    await fresh.beforeRead("acme");
    t.ok((await writtenTags(stores, "acme")).length > 5);
    await same(t, "all tags are back");
    await fresh.stop();
  });

  await t.test("a tenant without tags has no mirror", async (t) => {
    const { client } = await stores.tenant("globex");
    t.equal(await checkMirror({ ...(await target()), client, tenantName: "globex" }), false);
    t.same(await miscounted(stores), []);
  });

  await t.test(
    "a tenant's first tag writes the mirror's id, so that the next check changes nothing",
    async (t) => {
      const { client } = await stores.tenant("globex");
      const globex = { ...(await target()), client, tenantName: "globex" };
      await insertChargebacks(stores, "globex", [{ timestamp: "2026-03-05T00:00:00Z", amount: "1" }]);
      await recordTestDimensions(stores, "globex");
      const [dimensionId = 0] = await dimensionIds(stores, "globex", "sa-1");
      await sendTagRequest(app, "GET", `globex/chargebacks/${dimensionId}`);
      await addTag({ postgres, tenantName: "globex", dimensionId }, tag("team", "First"));
      await mirrorWaiting(globex);
      const noted = async () =>
        (await postgres.query("SELECT mirror_id, version FROM tag_mirrors WHERE tenant_name = 'globex'"))
          .rows;
      const first = await noted();
      t.equal(await checkMirror(globex), false);
      t.strictSame(await noted(), first);
      t.same(await mirrored(stores, "globex"), await writtenTags(stores, "globex"));
    },
  );

  await t.test("many tenants are mirrored at once without a warning", async (t) => {
    const names = Array.from({ length: 15 }, (_, index) => `many-${index}`);
    await postgres.query("INSERT INTO tag_mirrors (tenant_name, version) SELECT unnest($1::text[]), 1", [
      names,
    ]);
    // A store that does not respond until all tenants have sent a request.
    const requested: ServerResponse[] = [];
    const server = createServer((_, response) => {
      requested.push(response);
      if (requested.length === names.length) for (const each of requested) each.writeHead(500).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const client = openClickHouseClient({
      url: `http://127.0.0.1:${port}`,
      username: "",
      password: "",
      database: "many",
      applicationName: "test",
    });
    t.teardown(async () => {
      await client.close();
      server.close();
    });
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on("warning", onWarning);
    t.teardown(() => process.off("warning", onWarning));
    const acme = await stores.tenant("acme");
    const slow = { ...stores, tenant: async (tenantName: string) => ({ ...acme, tenantName, client }) };
    const all = createTagMirror({ stores: slow, tenantNames: names, logger: silent, timing });
    await Promise.all(names.map((name) => all.beforeRead(name)));
    await all.stop();
    t.equal(requested.length, names.length);
    t.strictSame(warnings, []);
  });
});
