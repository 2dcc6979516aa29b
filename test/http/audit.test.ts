/** Each change has one entry in the audit log, written by the transaction of the change. Nothing else has entries. */
import type { InjectOptions } from "fastify";
import t from "tap";
import { createWorker } from "../../src/cli/worker.js";
import type { Scope } from "../../src/domain/scopes.js";
import { buildApp } from "../../src/http/app.js";
import { createToken } from "../../src/postgres/tokens.js";
import { openTestStores, temporaryFolder, testLogger } from "../stores.js";
import { recordTestDimensions } from "../tags/tagging.js";
import { get, insertChargebacks, startService } from "./service.js";

const acme = "/api/v1/tenants/acme";

t.test("the audit records every change", async (t) => {
  const { app, stores, build, config } = await startService(t, ["auth: tokens"]);
  const { postgres } = stores;
  const made = async (name: string, scopes: readonly Scope[]) => {
    const input = { name, scopes, tenants: ["acme"], days: 1 };
    const { token } = await createToken(postgres, input, { kind: "command", name: "ada" });
    const sent: Record<string, string> = { authorization: `Bearer ${token}`, "x-request-id": "trace-7" };
    return sent;
  };
  const headers = await made("tagger", ["tags"]);
  const admin = await made("auditor", ["admin"]);
  await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1" }]);
  await recordTestDimensions(stores, "acme");
  const { dimension_id } = (await get(app, `${acme}/chargebacks?start_date=2026-03-01`, headers)).body
    .items[0];
  const send = async (method: "POST" | "PATCH" | "DELETE", path: string, payload?: object, on = app) => {
    const request: InjectOptions = { method, url: `${acme}/${path}`, headers, ...(payload && { payload }) };
    const response = await on.inject(request);
    return { status: response.statusCode, body: response.body === "" ? undefined : response.json() };
  };
  const entries = async (url = `${acme}/audit`) => (await get(app, url, admin)).body;
  const shown = ({ action, subject }: { action: string; subject: object }) => [action, subject];

  await t.test("the audit shows who tagged what, and the caller is the author", async (t) => {
    const tag = { tag_key: "team", display_name: "Platform", created_by: "somebody else" };
    const { status, body } = await send("POST", `chargebacks/${dimension_id}/tags`, tag);
    t.equal(status, 201);
    t.equal(body.created_by, "tagger");
    const add_tags = [{ tag_key: "cost-center", display_name: "7" }];
    const changed = await send("PATCH", `chargebacks/${dimension_id}`, { add_tags });
    t.strictSame(
      changed.body.tags.map(({ created_by }: { created_by: string }) => created_by),
      ["tagger", "tagger"],
    );
    const many = { tag_key: "env", display_name: "prod", dimension_ids: [dimension_id] };
    t.equal((await send("POST", "tags/bulk", many)).body.created_count, 1);
    t.equal((await send("PATCH", `tags/${body.tag_id}`, { display_name: "Core" })).status, 200);
    t.equal((await send("DELETE", `tags/${body.tag_id}`)).status, 204);
    const { items, total } = await entries();
    t.equal(total, 5);
    const totalOf = async (query: string) => (await entries(`${acme}/audit?${query}`)).total;
    t.equal(await totalOf("action=deleteTag&actor=tagger"), 1);
    t.equal(await totalOf("actor=tagger"), 5);
    t.equal(await totalOf("action=deleteTag&actor=nobody"), 0);
    const counts = { created_count: 1, updated_count: 0, skipped_count: 0 };
    t.strictSame(items.map(shown), [
      ["deleteTag", { tag_id: body.tag_id, dimension_id, tag_key: "team", display_name: "Core" }],
      [
        "renameTag",
        {
          tag_id: body.tag_id,
          dimension_id,
          tag_key: "team",
          display_name: "Core",
          former_display_name: "Platform",
        },
      ],
      ["tagDimensions", { ...many, ...counts, created_by: "tagger", override_existing: false }],
      [
        "changeDimensionTags",
        { dimension_id, add_tags: [{ ...add_tags[0], created_by: "tagger" }], removed: [] },
      ],
      ["addDimensionTag", { ...tag, dimension_id, created_by: "tagger", tag_id: body.tag_id }],
    ]);
    const { actor, actor_kind, address, request_id, tenant_name } = items[0];
    t.strictSame(
      [actor, actor_kind, address, request_id, tenant_name],
      ["tagger", "token", "127.0.0.1", "trace-7", "acme"],
    );
  });

  await t.test("the audit has removed tags as they were, and addresses without ports", async (t) => {
    const trusting = { ...config, api: { ...config.api, trusted_proxies: ["127.0.0.1"] } };
    const behind = await build({ config: trusting });
    const { body } = await send("PATCH", `chargebacks/${dimension_id}`, { add_tags: [] });
    const removed = body.tags.map(({ tag_id, tag_key, display_name }: Record<string, unknown>) => {
      return { tag_id, tag_key, display_name };
    });
    t.strictSame(
      removed.map(({ tag_key }: { tag_key: string }) => tag_key),
      ["cost-center", "env"],
    );
    headers["x-forwarded-for"] = "192.0.2.1:4711";
    const url = `chargebacks/${dimension_id}`;
    t.equal((await send("PATCH", url, { remove_tag_ids: [removed[0].tag_id] }, behind)).status, 200);
    const tags = [{ tag_key: "env", display_name: "test" }];
    t.equal((await send("PATCH", url, { tags }, behind)).status, 200);
    delete headers["x-forwarded-for"];
    const { items } = await entries();
    t.strictSame(items.slice(0, 2).map(shown), [
      [
        "changeDimensionTags",
        { dimension_id, tags: [{ ...tags[0], created_by: "tagger" }], removed: [removed[1]] },
      ],
      ["changeDimensionTags", { dimension_id, remove_tag_ids: [removed[0].tag_id], removed: [removed[0]] }],
    ]);
    t.equal(items[0].address, "192.0.2.1");
  });

  await t.test("the audit has no entries for requests that were refused or changed nothing", async (t) => {
    const { total } = await entries();
    const tag = { tag_key: "env", display_name: "again" };
    t.equal((await send("POST", `chargebacks/${dimension_id}/tags`, tag)).status, 409);
    t.equal((await send("DELETE", "tags/999")).status, 404);
    t.equal(
      (await send("POST", "tags/bulk", { ...tag, dimension_ids: [dimension_id], dry_run: true })).status,
      200,
    );
    t.equal((await send("POST", "pipeline/run", {})).status, 403);
    const same = { tag_key: "env", display_name: "test" };
    const { tag_id } = (await get(app, `${acme}/tags`, headers)).body.items[0];
    for (const [method, path, payload] of [
      ["PATCH", `chargebacks/${dimension_id}`, { remove_tag_ids: [] }],
      ["PATCH", `tags/${tag_id}`, { display_name: "test" }],
      ["POST", "tags/bulk", { ...same, dimension_ids: [dimension_id] }],
      ["POST", "tags/bulk-by-filter", { ...same, identity_id: "nobody" }],
    ] as const)
      t.equal((await send(method, path, payload)).status, 200, path);
    t.equal((await entries()).total, total);
  });

  await t.test("the audit can be paged by cursor and exported as JSON lines", async (t) => {
    const all = (await entries()).items;
    const ids: number[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await entries(`${acme}/audit?page_size=2${cursor && `&cursor=${cursor}`}`);
      ids.push(...page.items.map(({ audit_id }: { audit_id: number }) => audit_id));
      cursor = page.next_cursor;
    }
    t.strictSame(
      ids,
      all.map(({ audit_id }: { audit_id: number }) => audit_id),
    );
    const file = await app.inject({ url: `${acme}/audit/export`, headers: admin });
    t.equal(file.headers["content-type"], "application/x-ndjson");
    const lines = file.body.trimEnd().split("\n");
    t.strictSame(lines.map((line) => JSON.parse(line)).reverse(), all);
  });

  await t.test("the full audit requires access to every tenant", async (t) => {
    t.equal((await get(app, "/api/v1/audit", admin)).status, 403);
    const everybody = await build({ config: { ...config, api: { ...config.api, auth: "none" } } });
    const { body } = await get(everybody, "/api/v1/audit");
    t.strictSame(
      body.items
        .slice(-2)
        .map(({ action, actor, actor_kind, tenant_name }: Record<string, unknown>) => [
          action,
          actor,
          actor_kind,
          tenant_name,
        ]),
      [
        ["createToken", "ada", "command", null],
        ["createToken", "ada", "command", null],
      ],
    );
    const tag = { tag_key: "open", display_name: "x", created_by: "said so" };
    const { body: open } = await send("POST", `chargebacks/${dimension_id}/tags`, tag, everybody);
    t.equal(open.created_by, "said so", "without authentication the actor is unknown");
    const [{ actor, actor_kind }] = (await entries()).items;
    t.strictSame([actor, actor_kind], [null, "anyone"]);
  });
});

t.test(
  "runs, deliveries and uploads have one audit entry each, and requests without a change have none",
  async (t) => {
    const { config, stores } = await openTestStores(
      t,
      `api: { auth: tokens }
tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      usage: { uploads: { metrics: [cpu] } }
      sources: [{ name: cloud, location: ${temporaryFolder(t)} }]`,
    );
    const { postgres } = stores;
    const ending = new AbortController();
    const worker = await createWorker({
      config,
      stores,
      logger: testLogger,
      observers: [],
      signal: ending.signal,
    });
    t.teardown(async () => {
      ending.abort(new Error("the test is over"));
      await worker.settled();
    });
    const app = await buildApp({
      config,
      stores,
      logger: testLogger,
      version: "1",
      mode: "both",
      control: worker.control,
      clock: () => new Date("2026-06-30T12:00:00Z"),
    });
    t.teardown(() => app.close());
    const made = async (name: string, scopes: readonly Scope[]) => {
      const input = { name, scopes, tenants: ["acme"], days: 1 };
      const { token } = await createToken(postgres, input, { kind: "command", name: "ada" });
      return { authorization: `Bearer ${token}` };
    };
    const [runner, admin] = [await made("runner", ["run"]), await made("auditor", ["admin"])];
    const post = async (path: string, more: Partial<InjectOptions> = {}) => {
      const headers = { ...runner, ...more.headers };
      return await app.inject({ method: "POST", url: `${acme}/${path}`, ...more, headers });
    };
    const entries = async () =>
      (await get(app, `${acme}/audit`, admin)).body.items.map(
        ({ action, actor, subject }: { action: string; actor: string; subject: object }) => [
          action,
          actor,
          subject,
        ],
      );
    const newest = async () => (await entries())[0];

    const run = await post("pipeline/run", { payload: { force_gather: true } });
    t.equal(run.statusCode, 202);
    t.strictSame(await newest(), [
      "startPipelineRun",
      "runner",
      { force_gather: true, run_id: run.json().run_id },
    ]);

    const { rows } = await postgres.query<{ id: number }>(
      `INSERT INTO deliveries (tenant_name, source, scope, kind, content_id, settings_hash, billing_period, epoch, started_at, state, problem, lines, loaded_at, files)
     VALUES ('acme', 'aws', '2026-05', 'snapshot', 'c', 'h', '2026-05', 1, now(), 'waiting_for_acceptance', 'it is shorter', 2, now(), '[]') RETURNING delivery_id::int AS id`,
    );
    const id = rows[0]?.id ?? 0;
    const accept = () => post(`deliveries/${id}/accept`);
    t.equal((await accept()).statusCode, 200);
    const accepted = ["acceptDelivery", "runner", { delivery_id: id }];
    t.strictSame(await newest(), accepted);
    const { length } = await entries();
    t.equal((await accept()).statusCode, 200, "the entry exists before the response is sent");
    t.equal((await post("deliveries/999999/accept")).statusCode, 404);
    t.equal((await entries()).length, length);

    const upload = (quantity: string, key: string) =>
      post("usage", {
        headers: { "content-type": "text/csv", "idempotency-key": key },
        payload: `date,metric,resource_id,identity_id,quantity\n2026-06-24,cpu,r-1,web,${quantity}\n`,
      });
    const taken = await upload("1.5", "a");
    t.equal(taken.statusCode, 200);
    t.strictSame(await newest(), ["uploadUsage", "runner", { upload_id: taken.json().upload_id }]);
    t.equal((await upload("1.5", "a")).statusCode, 200, "the same upload is sent again");
    t.equal((await upload("x", "b")).statusCode, 400);
    t.equal((await upload("2", "a")).statusCode, 409);
    t.equal((await entries()).length, length + 1);
  },
);
