import { gunzipSync } from "node:zlib";
import t from "tap";
import { holds } from "../holds.js";
import { insertChargebacks, startService } from "./service.js";

const url = "/api/v1/tenants/acme/export";

t.test("POST /api/v1/tenants/{tenant_name}/export", async (t) => {
  const { app, stores } = await startService(t);
  const post = (body: object, query = "", headers: Record<string, string> = {}) =>
    app.inject({ method: "POST", url: `${url}${query}`, payload: body, headers });
  const csv = async (body: object, query = "") => {
    const response = await post(body, query);
    t.equal(response.statusCode, 200, JSON.stringify(body));
    return response.body;
  };
  const header =
    "timestamp,resource_id,product_category,product_type,identity_id,cost_type,amount,allocation_method,tags\n";

  await t.test("without rows the file only has its header", async (t) => {
    t.equal(await csv({}), header);
    t.equal(await csv({ columns: ["metadata"] }), "metadata\n");
  });

  await insertChargebacks(stores, "acme", [
    { timestamp: "2026-03-01T00:00:00Z", amount: "10.5", identity_id: "sa-1", env_id: "e-1" },
    {
      timestamp: "2026-03-01T00:00:00Z",
      amount: "-0.25",
      identity_id: "=cmd|' /C calc'!A0",
      cost_type: "shared",
      allocation_method: "even_split",
      allocation_detail: "even_split_allocation",
    },
    {
      timestamp: "2026-03-02T12:34:56Z",
      amount: "1000000",
      identity_id: 'say "hi", they\nsaid',
      resource_id: "-r",
    },
    {
      timestamp: "2026-03-02T12:34:56Z",
      amount: "0.000000000001",
      identity_id: "@at,comma",
      resource_id: "x",
    },
    { timestamp: "2026-01-01T00:00:00Z", amount: "7", identity_id: "old" },
  ]);

  await t.test(
    "the default file has the lookback's rows in the order of the list, with quotes where needed and formulas disarmed",
    async (t) => {
      t.equal(
        await csv({}),
        header +
          `2026-03-01T00:00:00Z,r-1,KAFKA,STORAGE,'=cmd|' /C calc'!A0,shared,-0.25,even_split,\n` +
          "2026-03-01T00:00:00Z,r-1,KAFKA,STORAGE,sa-1,usage,10.5,usage_ratio,\n" +
          `2026-03-02T12:34:56Z,'-r,KAFKA,STORAGE,"say ""hi"", they\nsaid",usage,1000000,usage_ratio,\n` +
          `2026-03-02T12:34:56Z,x,KAFKA,STORAGE,"'@at,comma",usage,0.000000000001,usage_ratio,\n`,
      );
    },
  );

  await t.test("raw=true does not change cells", async (t) => {
    t.equal(
      await csv({ columns: ["identity_id", "resource_id"], start_date: "2026-03-02" }, "?raw=true"),
      'identity_id,resource_id\n"say ""hi"", they\nsaid",-r\n"@at,comma",x\n',
    );
  });

  await t.test("columns can have any order and repeat, and an empty list is the default", async (t) => {
    const body = { columns: ["amount", "identity_id", "amount"], filters: { cost_type: "shared" } };
    t.equal(await csv(body, "?raw=true"), "amount,identity_id,amount\n-0.25,=cmd|' /C calc'!A0,-0.25\n");
    t.equal((await csv({ columns: [] })).split("\n")[0], header.trim());
  });

  await t.test("every column can be exported, and metadata is JSON", async (t) => {
    const columns = [
      "ecosystem",
      "tenant_id",
      "timestamp",
      "amount",
      "allocation_detail",
      "tags",
      "metadata",
    ];
    t.equal(
      await csv({ columns, filters: { identity_id: "sa-1" } }),
      `${columns.join(",")}\n` +
        'generic_metrics_only,acme,2026-03-01T00:00:00Z,10.5,usage_ratio_allocation,,"{""component"":0,""component_ratio"":""1"",""tier"":0,""env_id"":""e-1"",""metric"":""""}"\n',
    );
    t.equal(
      (await csv({ columns: ["metadata"] })).split("\n").length,
      6,
      "the file has one header, and one line for each row",
    );
  });

  await t.test("dates follow the time zone", async (t) => {
    const body = {
      columns: ["amount"],
      start_date: "2026-02-28",
      end_date: "2026-02-28",
      timezone: "America/Denver",
    };
    t.equal(await csv(body), "amount\n-0.25\n10.5\n");
    t.equal(await csv({ columns: ["amount"], end_date: "2026-01-01" }), "amount\n7\n");
  });

  await t.test("tags are display names by id, joined with ;", async (t) => {
    const { client } = await stores.tenant("acme");
    const hash = `reinterpretAsUInt128(sipHash128(toString(ecosystem), toString(tenant_id), toString(env_id), toString(resource_id),
      toString(product_category), toString(product_type), toString(identity_id), toString(cost_type)))`;
    await client.command({
      query: `INSERT INTO dimensions (dimension_id, fingerprint, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type) SELECT bitAnd(reinterpretAsUInt64(${hash}), 9007199254740991), ${hash}, ecosystem, tenant_id, env_id,
        resource_id, product_category, product_type, identity_id, cost_type FROM chargebacks`,
    });
    await client.command({
      query: String.raw`INSERT INTO dimension_tags SELECT dimension_id, tag.1, 'k', tag.2, 0, 1
        FROM dimensions ARRAY JOIN [(2, 'a;b'), (1, '=x\\y')] AS tag WHERE identity_id = 'sa-1'`,
    });
    const body = { columns: ["identity_id", "tags"], start_date: "2026-03-01", end_date: "2026-03-01" };
    t.equal(await csv(body), "identity_id,tags\n'=cmd|' /C calc'!A0,\nsa-1,'=x\\\\y;a\\;b\n");
    t.equal(await csv(body, "?raw=true"), "identity_id,tags\n=cmd|' /C calc'!A0,\nsa-1,=x\\\\y;a\\;b\n");
  });

  await t.test("tag_pairs are key=display name in the order of tags, as in the list of rows", async (t) => {
    const { client } = await stores.tenant("acme");
    await client.command({
      query: String.raw`INSERT INTO dimension_tags SELECT dimension_id, 3, 'a=b\c', 'd=e', 0, 1 FROM dimensions WHERE identity_id = 'sa-1'`,
    });
    const body = { columns: ["tag_pairs"], filters: { identity_id: "sa-1" }, start_date: "2026-03-01" };
    t.equal(await csv(body), "tag_pairs\nk==x\\\\y;k=a\\;b;a\\\\=b\\\\\\\\c=d=e\n");
    const { items } = (
      await app.inject({ url: "/api/v1/tenants/acme/chargebacks?identity_id=sa-1&start_date=2026-03-01" })
    ).json();
    t.strictSame(
      items.map(({ tags, tag_pairs }: Record<string, string[]>) => [tags, tag_pairs]),
      [
        [
          ["=x\\y", "a;b", "d=e"],
          ["k==x\\y", "k=a;b", "a\\=b\\\\c=d=e"],
        ],
      ],
    );
    await client.command({ query: "DELETE FROM dimension_tags WHERE tag_id = 3" });
  });

  await t.test(
    "the file has a media type, and its name and head say how complete the period is",
    async (t) => {
      const period = { start_date: "2026-03-01", end_date: "2026-03-02" };
      const completeness = async () => {
        const { headers, body } = await post({ ...period, columns: ["amount"] }, "?head=true");
        t.equal(headers["content-type"], "text/csv; charset=utf-8");
        const [, name] = /filename="chargebacks_acme_2026-03-01_2026-03-02_(.*)\.csv"$/.exec(
          String(headers["content-disposition"]),
        ) ?? [""];
        return [name, ...body.split("\n").slice(0, 6)];
      };
      const head = (covered: number, state: string) => [
        "Tenant,acme",
        "Period (UTC),2026-03-01,2026-03-02",
        `Covered days,${covered} of 2`,
        `State,${state}`,
        "",
        "amount",
      ];
      t.strictSame(await completeness(), ["0-of-2-days_incomplete", ...head(0, "incomplete")]);
      await stores.postgres.query(`
      INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'e') ON CONFLICT DO NOTHING;
      INSERT INTO gathered_days (tenant_name, tracking_date, outcome) VALUES ('acme', '2026-03-01', 'no_bill')`);
      t.strictSame(await completeness(), ["1-of-2-days_incomplete", ...head(1, "incomplete")]);
      const publish = (hash: string) =>
        stores.postgres.query(`
        INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, resources_gathered, chargeback_calculated, published_hash)
        VALUES ('acme', '2026-03-02', true, true, true, '${hash}')
        ON CONFLICT (tenant_name, tracking_date) DO UPDATE SET published_hash = excluded.published_hash`);
      await publish("a-provisional");
      t.strictSame(await completeness(), ["provisional", ...head(2, "provisional")]);
      await publish("a");
      t.strictSame(await completeness(), ["final", ...head(2, "final")]);
      t.equal((await post(period, "?head=true&format=parquet")).statusCode, 400);
      await stores.postgres.query("DELETE FROM tracking_dates; DELETE FROM gathered_days");
    },
  );

  await t.test("responses are gzipped if the client accepts that", async (t) => {
    const response = await post({}, "", { "accept-encoding": "gzip" });
    t.equal(response.headers["content-encoding"], "gzip");
    t.equal(gunzipSync(response.rawPayload).toString(), await csv({}));
  });

  await t.test("a missing body counts as a body without fields", async (t) => {
    t.equal((await app.inject({ method: "POST", url })).body, await csv({}));
  });

  for (const [body, named] of [
    [{ columns: ["amonut"] }, /`columns\[0\]` must be one of timestamp, .*metadata/],
    [{ columns: ["dimension"] }, /columns\[0\]/],
    [{ columns: "amount" }, /`columns` must be a list/],
    [{ filters: { identityid: "a" } }, /Unknown field `identityid`, did you mean `identity_id`/],
    [{ filters: { identity_id: 1 } }, /`filters.identity_id` must be text/],
    [{ filters: { identity_id: null } }, /`filters.identity_id` must be text/],
    [{ filters: [] }, /`filters` must be an object/],
    [{ colums: ["amount"] }, /Unknown field `colums`, did you mean `columns`/],
    [{ start_date: "2026-03-02", end_date: "2026-03-01" }, /`start_date` must not be later/],
    [{ start_date: 20260301 }, /`start_date` must be a date/],
    [{ timezone: "Mars/Olympus" }, /`timezone` must be a name of the IANA/],
    [[], /The body must be an object/],
  ] as const) {
    await t.test(`400: ${JSON.stringify(body)}`, async (t) => {
      const response = await post(body);
      t.equal(response.statusCode, 400);
      t.equal(response.headers["content-type"], "application/problem+json");
      holds(t, response.json(), { code: "invalid_request", detail: named });
    });
  }

  await t.test("a body that is not JSON, or not sent as JSON, is 400", async (t) => {
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
      const response = await app.inject({
        method: "POST",
        url,
        payload: "{",
        headers: { "content-type": type },
      });
      t.equal(response.statusCode, 400, type);
      t.equal(response.json().code, "malformed_body", type);
    }
  });

  await t.test("an unknown tenant is 404, also with a broken body", async (t) => {
    const headers = { "content-type": "application/json" };
    const response = await app.inject({
      method: "POST",
      url: "/api/v1/tenants/nobody/export",
      payload: "{",
      headers,
    });
    t.equal(response.statusCode, 404);
  });
});
