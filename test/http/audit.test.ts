/** Who changed what: an entry for each change, by its own transaction, and for nothing else. */
import type { InjectOptions } from "fastify";
import t from "tap";
import type { Scope } from "../../src/config/scopes.js";
import { createToken } from "../../src/store/postgres/tokens.js";
import { recordDimensions } from "../tags/tagging.js";
import { get, insertChargebacks, startService } from "./service.js";

const acme = "/api/v1/tenants/acme";

t.test("the audit", async (t) => {
  const { app, stores, build, config } = await startService(t, ["auth: tokens"]);
  const { postgres } = stores;
  const made = async (name: string, scopes: readonly Scope[]) => {
    const input = { name, scopes, tenants: ["acme"], days: 1 };
    const { token } = await createToken(postgres, input, { kind: "command", name: "ada" });
    return { authorization: `Bearer ${token}`, "x-request-id": "trace-7" };
  };
  const headers = await made("tagger", ["tags"]);
  const admin = await made("auditor", ["admin"]);
  await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1" }]);
  await recordDimensions(stores, "acme");
  const { dimension_id } = (await get(app, `${acme}/chargebacks?start_date=2026-03-01`, headers)).body
    .items[0];
  const send = async (method: "POST" | "PATCH" | "DELETE", path: string, payload?: object, on = app) => {
    const request: InjectOptions = { method, url: `${acme}/${path}`, headers, ...(payload && { payload }) };
    const answer = await on.inject(request);
    return { status: answer.statusCode, body: answer.body === "" ? undefined : answer.json() };
  };
  const entries = async (url = `${acme}/audit`) => (await get(app, url, admin)).body;
  const shown = ({ action, subject }: { action: string; subject: object }) => [action, subject];

  await t.test("has who tagged what, and the caller is the author", async (t) => {
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
    const counts = { created_count: 1, updated_count: 0, skipped_count: 0 };
    t.strictSame(items.map(shown), [
      ["deleteTag", { tag_id: body.tag_id }],
      ["renameTag", { tag_id: body.tag_id, display_name: "Core" }],
      ["tagDimensions", { ...many, ...counts, created_by: "tagger", override_existing: false }],
      ["changeDimensionTags", { dimension_id, add_tags: [{ ...add_tags[0], created_by: "tagger" }] }],
      ["addDimensionTag", { ...tag, dimension_id, created_by: "tagger", tag_id: body.tag_id }],
    ]);
    const { actor, actor_kind, address, request_id, tenant_name } = items[0];
    t.strictSame(
      [actor, actor_kind, address, request_id, tenant_name],
      ["tagger", "token", "127.0.0.1", "trace-7", "acme"],
    );
  });

  await t.test("has nothing of what was refused, or changed nothing", async (t) => {
    const { total } = await entries();
    const tag = { tag_key: "env", display_name: "again" };
    t.equal((await send("POST", `chargebacks/${dimension_id}/tags`, tag)).status, 409);
    t.equal((await send("DELETE", "tags/999")).status, 404);
    t.equal(
      (await send("POST", "tags/bulk", { ...tag, dimension_ids: [dimension_id], dry_run: true })).status,
      200,
    );
    t.equal((await send("POST", "pipeline/run", {})).status, 403);
    t.equal((await entries()).total, total);
  });

  await t.test("is paged by cursor, and exported as lines", async (t) => {
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

  await t.test("of everything is for who may see every tenant", async (t) => {
    t.equal((await get(app, "/api/v1/audit", admin)).status, 403);
    const everybody = await build({ config: { ...config, api: { ...config.api, auth: "none" } } });
    const { body } = await get(everybody, "/api/v1/audit");
    t.strictSame(
      body.items
        .slice(-2)
        .map(({ action, actor, actor_kind, tenant_name }: Record<string, unknown>) => [
          ...[action, actor, actor_kind, tenant_name],
        ]),
      [
        ["createToken", "ada", "command", null],
        ["createToken", "ada", "command", null],
      ],
    );
    const tag = { tag_key: "open", display_name: "x", created_by: "said so" };
    const { body: open } = await send("POST", `chargebacks/${dimension_id}/tags`, tag, everybody);
    t.equal(open.created_by, "said so", "where nobody is asked who they are");
    const [{ actor, actor_kind }] = (await entries()).items;
    t.strictSame([actor, actor_kind], [null, "anyone"]);
  });
});
