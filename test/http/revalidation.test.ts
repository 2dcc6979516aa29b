import t from "tap";
import { chargebackLedger, topicLedger } from "../../src/allocate/ledger.js";
import {
  beginPublishing,
  beginWithdrawing,
  finishAttribution,
  finishPublishing,
} from "../../src/allocate/sql/publishing-state.js";
import { fingerprintSql, plainDimensionIdSql } from "../../src/domain/dimension-id.js";
import { runStatement } from "../../src/postgres/statement.js";
import { holds } from "../holds.js";
import { until } from "../until.js";
import { get, insertBilling, insertChargebacks, startService } from "./service.js";

const acme = "/api/v1/tenants/acme";

t.test("ETag and 304 on reads of published days", async (t) => {
  const { app, stores, build } = await startService(t);
  const { postgres } = stores;
  const { client } = await stores.tenant("acme");
  await postgres.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only') ON CONFLICT DO NOTHING",
  );
  await postgres.query(
    "INSERT INTO leases (tenant_name, holder, epoch, expires_at) VALUES ('acme', 'test', 7, now() + interval '1 hour')",
  );
  const stage = (day: string, hash: string) =>
    postgres.query(
      `INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, staged_hash) VALUES ('acme', $1, true, $2)
       ON CONFLICT (tenant_name, tracking_date) DO UPDATE SET staged_hash = $2`,
      [day, hash],
    );
  const lease = { ledger: chargebackLedger, tenantName: "acme", epoch: 7 };
  const begin = (day: string) => runStatement(postgres, beginPublishing({ ...lease, days: [day] }));
  const finish = (day: string) =>
    runStatement(postgres, finishPublishing({ ...lease, days: [{ day, rows: 1 }] }));
  /** Publishes as a run does: intent, swap, result. */
  const publish = async (day: string, hash: string, amount: string) => {
    await stage(day, hash);
    await begin(day);
    for (const table of ["billing", "chargebacks"])
      await client.command({ query: `ALTER TABLE ${table} DROP PARTITION '${day}'` });
    await insertBilling(stores, "acme", [{ timestamp: `${day}T00:00:00Z`, total_cost: amount }]);
    await insertChargebacks(stores, "acme", [{ timestamp: `${day}T00:00:00Z`, amount }]);
    await finish(day);
  };
  const tagOf = async (path: string, which = app) =>
    String((await get(which, `${acme}/${path}`)).headers.etag);
  const status = async (path: string, etag: string, which = app) =>
    (await get(which, `${acme}/${path}`, { "if-none-match": etag })).status;

  /**
   * The next read with tags copies them to the mirror. Writing only the mirror's version would make it look freshly
   * filled.
   */
  const changeTags = () =>
    postgres.query(
      "INSERT INTO tag_outbox (tenant_name, tag_ids, dimension_ids) VALUES ('acme', '{1}', '{1}')",
    );

  await publish("2026-03-01", "a", "1");
  await publish("2026-03-02", "b", "2");
  const reads = [
    "billing",
    "chargebacks",
    "chargebacks/dates",
    "chargebacks/aggregate",
    "chargebacks?page_size=1&tag:team=UNTAGGED",
  ];

  for (const path of reads) {
    await t.test(`GET ${path}`, async (t) => {
      const first = await get(app, `${acme}/${path}`);
      t.equal(first.status, 200);
      holds(t, first.headers, { "cache-control": "private, no-cache", etag: /^W\/"[\w-]{27}"$/ });
      const etag = String(first.headers.etag);
      const again = await app.inject({ url: `${acme}/${path}`, headers: { "if-none-match": etag } });
      t.equal(again.statusCode, 304);
      t.equal(again.body, "");
      holds(t, again.headers, { "cache-control": "private, no-cache", etag });
      t.equal(
        await status(path, `"other", ${etag.slice(2)}`),
        304,
        "the request lists the ETag among others, as a strong one",
      );
      t.equal(await status(path, '"other"'), 200);
      t.equal(await status(path, "*"), 200, "* does not say which response the client has");
      const head = await app.inject({
        method: "HEAD",
        url: `${acme}/${path}`,
        headers: { "if-none-match": etag },
      });
      t.equal(head.statusCode, 304);
    });
  }

  await t.test("the ETag depends on the query, the tenant and the version of the service", async (t) => {
    const other = await build({ version: "1.2.4" });
    const tags = [
      ...(await Promise.all(
        [
          "chargebacks",
          "chargebacks?page=2",
          "chargebacks?cost_type=usage",
          "chargebacks?timezone=Asia/Tokyo",
          "billing",
        ].map((path) => tagOf(path)),
      )),
      String((await get(app, "/api/v1/tenants/globex/chargebacks")).headers.etag),
      await tagOf("chargebacks", other),
    ];
    t.equal(new Set(tags).size, tags.length);
  });

  await t.test(
    "after a publish the response is 200, even if the day has its old content again",
    async (t) => {
      const before = new Map<string, string>();
      for (const path of reads) before.set(path, await tagOf(path));
      await publish("2026-03-02", "c", "20");
      for (const path of reads) t.equal(await status(path, before.get(path) ?? ""), 200, path);
      t.equal((await get(app, `${acme}/chargebacks/aggregate`)).body.total_amount, "21");
      await publish("2026-03-02", "b", "2");
      for (const path of reads)
        t.equal(
          await status(path, before.get(path) ?? ""),
          200,
          `${path}: the rows are equal again, but the ETag is not`,
        );
    },
  );

  const unheard = { timestamp: "2026-03-01T00:00:00Z", resource_id: "nobody published it" };
  for (const [list, insert] of [
    ["billing", () => insertBilling(stores, "acme", [{ ...unheard, total_cost: "1" }])],
    ["chargebacks", () => insertChargebacks(stores, "acme", [{ ...unheard, amount: "1" }])],
  ] as const)
    await t.test(`GET ${list}: days are counted once, until one of them is published again`, async (t) => {
      const total = async (query = "") => (await get(app, `${acme}/${list}?${query}`)).body.total;
      t.equal(await total(), 2);
      await insert();
      t.equal(await total(), 2, "the counts are cached");
      t.equal(await total("page_size=1"), 2, "they are cached for every page");
      t.equal(await total("resource_id=nobody%20published%20it"), 1, "other filters are counted separately");
      t.equal(
        await total("end_date=2026-03-01&start_date=2026-03-01"),
        2,
        "other windows are counted separately",
      );
      await publish("2026-03-02", "b", "2");
      t.equal(await total(), 3, "the day is counted again");
      await publish("2026-03-01", "a", "1");
      t.equal(await total(), 2);
    });

  await t.test(
    "GET chargebacks/aggregate counts a day after the first buckets once, until the day is published again",
    async (t) => {
      const [first, second, third] = ["2026-02-01", "2026-02-02", "2026-02-03"] as const;
      for (const day of [first, second, third]) await publish(day, `${day} a`, "1");
      const identities = Array.from({ length: 10_000 }, (_, index) => `sa-${index}-of-many`);
      const timestamp = `${first}T00:00:00Z`;
      await insertChargebacks(
        stores,
        "acme",
        identities.map((identity_id) => ({ timestamp, identity_id, amount: "1" })),
      );
      const hear = () =>
        insertChargebacks(stores, "acme", [{ ...unheard, timestamp: `${second}T00:00:00Z`, amount: "100" }]);
      const totals = async (groups: string, more = "", start: string = first) => {
        const path = `${acme}/chargebacks/aggregate?start_date=${start}&end_date=${third}&group_by=${groups.replaceAll(",", "&group_by=")}${more}`;
        const { status, body } = await get(app, path);
        t.strictSame([status, body.buckets?.length], [200, 10_000], path);
        const { total_amount, total_buckets, total_rows } = body;
        return `${total_amount} in ${total_buckets} of ${total_rows}`;
      };
      const requested = [
        ["identity_id", ""],
        ["identity_id,product_type", ""],
        ["identity_id,tag:team", ""],
        ["identity_id,team", "&not:team=nobody"],
      ] as const;
      const all = async () => {
        const found = new Set<string>();
        for (const [groups, more] of requested) found.add(await totals(groups, more));
        return [...found].join(" or ");
      };
      t.equal(await all(), "10003 in 10003 of 10003");
      await hear();
      t.equal(await all(), "10003 in 10003 of 10003", "the day is cached");
      t.equal(
        await totals("identity_id", "", "2026-01-31"),
        "10003 in 10003 of 10003",
        "with a window that begins a day earlier, only that day is counted",
      );
      t.equal(
        await totals("identity_id,resource_id"),
        "10103 in 10004 of 10004",
        "other columns are counted separately",
      );
      t.equal(
        await totals("identity_id", "&not:team=x"),
        "10103 in 10003 of 10004",
        "other filters are counted separately",
      );
      t.equal(
        await totals("identity_id", "&timezone=Asia/Tokyo"),
        "10103 in 10003 of 10004",
        "days in other time zones are not cached",
      );
      await publish(third, `${third} b`, "2");
      t.equal(await all(), "10004 in 10003 of 10003", "only the new day is counted");
      await changeTags();
      t.equal(
        await totals("identity_id,product_type"),
        "10004 in 10003 of 10003",
        "the response has no tags",
      );
      t.equal(
        await totals("identity_id,tag:team"),
        "10104 in 10003 of 10004",
        "changed tags are counted again",
      );
      await stage(third, `${third} c`);
      await begin(third);
      t.equal(
        await totals("identity_id"),
        "10104 in 10003 of 10004",
        "during a publish, all days are counted",
      );
      await finish(third);
      await publish(second, `${second} b`, "3");
      t.equal(await all(), "10006 in 10003 of 10003");

      // A day has the same key in every date format of the server.
      const styled = async (style: string) => {
        await postgres.query(`ALTER SYSTEM SET datestyle = '${style}'`);
        await postgres.query("SELECT pg_reload_conf()");
        await until(style, async () => {
          const { rows } = await postgres.query("SELECT current_setting('datestyle') AS style");
          return rows[0].style === style;
        });
      };
      await styled("German, DMY");
      t.equal(await totals("identity_id"), "10006 in 10003 of 10003");
      await publish(second, `${second} c`, "4");
      t.equal(await totals("identity_id"), "10007 in 10003 of 10003");
      await styled("ISO, MDY");
    },
  );

  await t.test(
    "GET chargebacks/breakdown caches a response until one of its days is published again",
    async (t) => {
      const [first, second] = ["2026-02-21", "2026-02-22"] as const;
      for (const day of [first, second]) await publish(day, `${day} a`, "1");
      const path = `${acme}/chargebacks/breakdown?start_date=${first}&end_date=${second}&group_by=identity_id`;
      const send = async (more = "", which = app) => {
        const { status, body, headers } = await get(which, path + more);
        t.equal(status, 200, more);
        t.equal(headers["content-type"], "application/json; charset=utf-8");
        return [body.totals[0].total_amount, body.groups.length, headers.etag];
      };
      const [total, groups, etag] = await send();
      t.strictSame([total, groups], ["2", 1]);
      await insertChargebacks(stores, "acme", [{ ...unheard, timestamp: `${first}T00:00:00Z`, amount: "5" }]);
      t.strictSame(await send(), ["2", 1, etag], "the response is cached");
      t.equal((await send("&limit=3"))[0], "7", "another query is not cached yet");
      t.equal((await send("&currency=USD"))[0], "7");
      t.equal(
        (await send("", await build({ version: "1.2.4" })))[0],
        "7",
        "another process has its own cache",
      );
      t.equal((await app.inject({ method: "HEAD", url: path })).headers.etag, etag);
      await changeTags();
      t.equal((await send())[0], "7", "the tags have changed");
      await stage(second, `${second} b`);
      await begin(second);
      await insertChargebacks(stores, "acme", [
        { ...unheard, timestamp: `${first}T00:00:00Z`, amount: "10" },
      ]);
      t.strictSame(await send(), ["17", 1, undefined], "during a publish, nothing is cached");
      await finish(second);
      t.equal((await send())[0], "17");
      await publish(first, `${first} b`, "3");
      t.equal((await send())[0], "4");
      const nothing = `${acme}/chargebacks/breakdown?start_date=2026-01-21&end_date=2026-01-21`;
      t.strictSame((await get(app, nothing)).body.totals, []);
      await insertChargebacks(stores, "acme", [
        { ...unheard, timestamp: "2026-01-21T00:00:00Z", amount: "5" },
      ]);
      t.equal(
        (await get(app, nothing)).body.totals[0].total_amount,
        "5",
        "without published days, nothing is cached",
      );
    },
  );

  for (const path of [
    "chargebacks",
    "billing",
    "chargebacks/aggregate?group_by=resource_id",
    "chargebacks/allocation-issues",
  ])
    await t.test(`GET ${path}: a response is cached until one of its days is published again`, async (t) => {
      const day = "2026-01-28";
      await publish(day, "a", "1");
      const send = async (more: string, which = app) => {
        const question = `${path}${path.includes("?") ? "&" : "?"}start_date=${day}&end_date=${day}${more}`;
        const { statusCode, body } = await which.inject({ url: `${acme}/${question}` });
        t.equal(statusCode, 200, question);
        return body;
      };
      const isHeard = async (more = "", which = app) =>
        (await send(more, which)).includes("nobody published it");
      const hear = async () => {
        const news = { ...unheard, timestamp: `${day}T00:00:00Z` };
        await insertBilling(stores, "acme", [{ ...news, total_cost: "5" }]);
        const allocation_detail = "no_usage_for_active_identities";
        await insertChargebacks(stores, "acme", [{ ...news, amount: "5", allocation_detail }]);
      };
      const first = await send("");
      await hear();
      t.equal(await send(""), first, "the response is cached");
      t.equal(await isHeard(), false);
      t.equal(await isHeard("&currency=USD"), true, "another query is not cached yet");
      t.equal(
        await isHeard("", await build({ version: "1.2.4" })),
        true,
        "another process has its own cache",
      );
      await publish(day, "b", "2");
      await hear();
      t.equal(await isHeard(), true, "the day was published again");
    });

  for (const list of ["chargebacks", "billing"])
    await t.test(`GET ${list}: who follows cursors has the next pages read with their own`, async (t) => {
      const day = "2026-01-14";
      await publish(day, "a", "1");
      const add = async (names: readonly string[]) => {
        const rows = names.map((resource_id) => ({ resource_id, timestamp: `${day}T00:00:00Z` }));
        await insertBilling(
          stores,
          "acme",
          rows.map((row) => ({ ...row, total_cost: "5" })),
        );
        await insertChargebacks(
          stores,
          "acme",
          rows.map((row) => ({ ...row, amount: "5" })),
        );
      };
      // Three rows of each kind are equal in all columns of the order.
      await add(["s", "t", "u", "v", "w"].flatMap((name) => [name, name, name]));
      const pageOf = async (size: number, cursor: string | null) => {
        const more = cursor === null ? "" : `&cursor=${cursor}`;
        const { status, body } = await get(
          app,
          `${acme}/${list}?start_date=${day}&end_date=${day}&page_size=${size}${more}`,
        );
        t.equal(status, 200);
        return body;
      };
      const walk = async (size: number, onPage = async (_: number) => {}) => {
        const pages = [await pageOf(size, null)];
        for (let cursor = pages[0].next_cursor; cursor !== null; cursor = pages.at(-1).next_cursor) {
          await onPage(pages.length);
          pages.push(await pageOf(size, cursor));
        }
        for (const page of pages.slice(0, -1)) t.equal(page.items.length, size);
        for (const { total, page, page_size } of pages)
          t.strictSame({ total, page, page_size }, { total: pages[0].total, page: 1, page_size: size });
        return pages.flatMap(({ items }) => items.map((item: { resource_id: string }) => item.resource_id));
      };
      const all = ["r-1", ...["s", "t", "u", "v", "w"].flatMap((name) => [name, name, name])];
      for (const size of [1, 2, 3, 5, 7, 15]) t.strictSame(await walk(size), all, String(size));

      // This row sorts behind all others and was inserted without a publish, so only a page that is read from the store
      // again shows it.
      const heard = async (size: number, after: number) =>
        await walk(size, async (read) => {
          if (read === after) await add(["z"]);
        });
      t.strictSame(await heard(4, 2), all, "prefetched pages show the data of the first page");
      t.strictSame(
        await heard(6, 1),
        [...all, "z", "z"],
        "prefetching begins with the second page of a walk",
      );
      t.strictSame(await walk(8), [...all, "z", "z"]);

      await publish(day, "b", "1");
      await add(["s", "s", "s", "t", "t", "t"]);
      const second = await pageOf(2, (await pageOf(2, null)).next_cursor);
      await publish(day, "c", "1");
      await add(["s", "t", "u"]);
      const third = await pageOf(2, second.next_cursor);
      t.strictSame(
        third.items.map((item: { resource_id: string }) => item.resource_id),
        ["t", "u"],
        "a publish drops prefetched pages",
      );
    });

  await t.test("GET reconciliation sums a day once, until the day is published again", async (t) => {
    const [first, second] = ["2026-02-11", "2026-02-12"] as const;
    for (const day of [first, second]) await publish(day, `${day} a`, "1");
    const window = `start_date=${first}&end_date=${second}`;
    const sums = async (query: string) => {
      const { status, body } = await get(app, `${acme}/reconciliation?${window}${query}`);
      t.equal(status, 200, query);
      const of = ({ billing_amount, allocated_amount, chargeback_rows }: Record<string, unknown>) =>
        `${billing_amount}: ${allocated_amount} of ${chargeback_rows}`;
      return [...body.days, ...body.totals].map(of).join(", ");
    };
    const known = () => sums("&by_line=false");
    t.equal(await known(), "1: 1 of 1, 1: 1 of 1, 2: 2 of 2");
    await insertChargebacks(stores, "acme", [{ ...unheard, timestamp: `${first}T00:00:00Z`, amount: "5" }]);
    t.equal(await known(), "1: 1 of 1, 1: 1 of 1, 2: 2 of 2", "the days are cached");
    t.equal(await sums(""), "1: 6 of 2, 1: 1 of 1, 2: 7 of 3", "with by_line, all days are read");
    t.equal(
      await sums("&by_line=false&currency=USD"),
      "1: 6 of 2, 1: 1 of 1, 2: 7 of 3",
      "other filters are read separately",
    );
    await publish(second, `${second} b`, "20.5");
    t.equal(
      await known(),
      "1: 1 of 1, 20.5: 20.5 of 1, 21.5: 21.5 of 2",
      "a newly published day is read at once",
    );
    await publish(second, `${second} a`, "1");
    t.equal(await known(), "1: 1 of 1, 1: 1 of 1, 2: 2 of 2", "the day has its earlier hash again");
    await stage(second, `${second} c`);
    await begin(second);
    t.equal(await known(), "1: 6 of 2, 1: 1 of 1, 2: 7 of 3", "during a publish, all days are read");
    await finish(second);
    await publish(first, `${first} b`, "3");
    t.equal(await known(), "3: 3 of 1, 1: 1 of 1, 4: 4 of 2");
    const unpublished = async () => {
      const path = `${acme}/reconciliation?start_date=2026-02-15&end_date=2026-02-15&by_line=false`;
      return (await get(app, path)).body.totals.map(
        ({ chargeback_rows }: Record<string, unknown>) => chargeback_rows,
      );
    };
    t.strictSame(await unpublished(), []);
    await insertChargebacks(stores, "acme", [{ ...unheard, timestamp: "2026-02-15T00:00:00Z", amount: "5" }]);
    t.strictSame(await unpublished(), [], "days without published rows are cached as well");
    await publish("2026-02-15", "a", "1");
    t.strictSame(await unpublished(), [1]);
  });

  await t.test("a publish outside the window does not change the ETag", async (t) => {
    const path = "chargebacks?start_date=2026-03-01&end_date=2026-03-01";
    const etag = await tagOf(path);
    await publish("2026-03-03", "d", "3");
    t.equal(await status(path, etag), 304);
    t.equal(await status("chargebacks", await tagOf("chargebacks")), 304);
    const inZone = "chargebacks?start_date=2026-03-02&end_date=2026-03-02&timezone=America/Denver";
    const old = await tagOf(inZone);
    await publish("2026-03-03", "e", "4");
    t.equal(await status(inZone, old), 200, "a day in Denver extends into the next UTC day");
  });

  await t.test("a publish in the previous period changes the ETag if the period is compared", async (t) => {
    const path = "chargebacks/breakdown?start_date=2026-03-02&end_date=2026-03-02";
    const compared = ["compare=previous", "order=change", "movers=3"].map((each) => `${path}&${each}`);
    const before = new Map<string, string>();
    for (const each of [path, ...compared]) before.set(each, await tagOf(each));
    await publish("2026-03-01", "a2", "7");
    t.equal(await status(path, before.get(path) ?? ""), 304);
    for (const each of compared) t.equal(await status(each, before.get(each) ?? ""), 200, each);
    await publish("2026-03-01", "a", "1");
  });

  await t.test("during a publish, the response has no ETag and is never 304", async (t) => {
    const etag = await tagOf("chargebacks");
    await stage("2026-03-03", "f");
    t.equal(await status("chargebacks", etag), 304, "staged rows are not visible");
    await begin("2026-03-03");
    const during = await get(app, `${acme}/chargebacks`, { "if-none-match": etag });
    t.equal(during.status, 200);
    t.equal(during.headers.etag, undefined);
    await finish("2026-03-03");
    t.equal(await status("chargebacks", etag), 200);
    t.equal(await status("chargebacks", await tagOf("chargebacks")), 304);
  });

  await t.test("responses with days that retention is about to drop have no ETag", async (t) => {
    const late = await build({ clock: () => new Date("2026-11-05T22:59:00Z") }); // 250 days are retained.
    const path = "chargebacks?start_date=2026-03-01&end_date=2026-03-05";
    t.match(await tagOf(path, late), /^W/);
    const later = await build({ clock: () => new Date("2026-11-06T23:30:00Z") });
    t.equal(await tagOf(path, later), "undefined");
    const before = await tagOf(path, late);
    t.equal(await status(path, before, later), 200);
    await postgres.query(
      "DELETE FROM tracking_dates WHERE tenant_name = 'acme' AND tracking_date = '2026-03-01'",
    );
    for (const which of [late, later]) t.equal(await status(path, before, which), 200, "the day was dropped");
  });

  await t.test("a changed tag changes the response and its ETag at once", async (t) => {
    const fields =
      "ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type";
    await client.command({
      query: `INSERT INTO dimensions (dimension_id, fingerprint, ${fields})
        SELECT DISTINCT ${plainDimensionIdSql("fingerprint")}, ${fingerprintSql()} AS fingerprint, ${fields} FROM chargebacks`,
    });
    const ids = (await get(app, `${acme}/chargebacks`)).body.items as {
      dimension_id: number;
      tags: string[];
    }[];
    const etag = await tagOf("chargebacks");
    const response = await app.inject({
      method: "POST",
      url: `${acme}/chargebacks/${ids[0]?.dimension_id}/tags`,
      payload: { tag_key: "team", display_name: "Core", created_by: "me" },
    });
    t.equal(response.statusCode, 201, response.body);
    const after = await get(app, `${acme}/chargebacks`, { "if-none-match": etag });
    t.equal(after.status, 200);
    t.same(after.body.items[0].tags, ["Core"]);
    t.equal(await status("chargebacks", String(after.headers.etag)), 304);
    await postgres.query(
      "INSERT INTO tag_outbox (tenant_name, tag_ids, dimension_ids) VALUES ('globex', '{1}', '{1}')",
    );
    t.equal(
      await status("chargebacks", String(after.headers.etag)),
      304,
      "tags of another tenant do not matter",
    );
  });

  await t.test("costs by topic have ETags of their own", async (t) => {
    const day = "2026-03-02";
    const topics = ["topic-attributions", "topic-attributions/dates", "topic-attributions/aggregate"];
    const of = { tenantName: "acme", epoch: 7 };
    const attribute = async (hash: string, amount: string) => {
      await postgres.query(
        `INSERT INTO topic_attribution_dates (tenant_name, tracking_date, staged_hash) VALUES ('acme', $1, $2)
         ON CONFLICT (tenant_name, tracking_date) DO UPDATE SET staged_hash = $2`,
        [day, hash],
      );
      await runStatement(postgres, beginPublishing({ ...of, ledger: topicLedger, days: [day] }));
      await client.command({ query: `ALTER TABLE topic_attributions DROP PARTITION '${day}'` });
      await client.insert({
        table: "topic_attributions",
        format: "JSONEachRow",
        values: [
          {
            timestamp: `${day} 00:00:00`,
            topic_name: "orders",
            attribution_method: "even_split",
            attribution_detail: "even_split_allocation",
            amount_hi: amount,
          },
        ],
      });
      await runStatement(postgres, finishAttribution({ ...of, days: [{ day, rows: 1 }] }));
    };
    const names = async () =>
      new Map(await Promise.all(topics.map(async (path) => [path, await tagOf(path)] as const)));
    const expect = async (wanted: number, known: Map<string, string>, why: string) => {
      for (const path of topics)
        t.equal(await status(path, known.get(path) ?? ""), wanted, `${path}: ${why}`);
    };

    await attribute("a", "1");
    const first = await names();
    holds(
      t,
      [...first.values()],
      topics.map(() => /^W\/"/),
    );
    t.equal(new Set(first.values()).size, topics.length);
    await expect(304, first, "nothing has changed");
    const head = await app.inject({
      method: "HEAD",
      url: `${acme}/topic-attributions/aggregate`,
      headers: { "if-none-match": first.get("topic-attributions/aggregate") },
    });
    t.equal(head.statusCode, 304);

    const chargebacks = await tagOf("chargebacks");
    await attribute("b", "2");
    await expect(200, first, "costs are attributed again");
    t.equal(await status("chargebacks", chargebacks), 304, "chargebacks have not changed");
    t.equal((await get(app, `${acme}/topic-attributions/aggregate`)).body.total_amount, "2");

    const second = await names();
    await publish("2026-03-03", "g", "5");
    await postgres.query(
      "INSERT INTO tag_outbox (tenant_name, tag_ids, dimension_ids) VALUES ('acme', '{1}', '{1}')",
    );
    await expect(304, second, "neither chargebacks nor tags matter");
    await postgres.query("DELETE FROM tag_outbox WHERE tenant_name = 'acme'");

    await runStatement(postgres, beginWithdrawing({ ...of, days: [day] }));
    await expect(200, second, "being taken away");
    for (const path of topics) t.equal(await tagOf(path), "undefined", `${path} has no ETag meanwhile`);
    await client.command({ query: `ALTER TABLE topic_attributions DROP PARTITION '${day}'` });
    await runStatement(postgres, finishAttribution({ ...of, days: [{ day, rows: 0 }] }));
    await expect(200, second, "taken away");
    await expect(304, await names(), "and stays so");

    const late = await build({ clock: () => new Date("2026-11-06T23:30:00Z") }); // 250 days are retained.
    const path = "topic-attributions?start_date=2026-03-01&end_date=2026-03-05";
    t.match(await tagOf(path, late), /^W/);
    const later = await build({ clock: () => new Date("2026-11-07T23:30:00Z") });
    t.equal(await tagOf(path, later), "undefined", "the day is about to be dropped");
  });

  await t.test("an invalid request is 400, whatever If-None-Match is", async (t) => {
    t.equal(await status("chargebacks?page=0", await tagOf("chargebacks")), 400);
  });
});
