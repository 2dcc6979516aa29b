import fastify, { type FastifyContextConfig } from "fastify";
import fp from "fastify-plugin";
import t from "tap";
import {
  type ApiDocument,
  type Operation,
  operationsOf,
  resolvedResponse,
} from "../../src/http/description/openapi-types.js";
import { appWithoutStores } from "../../src/http/description/write-documents.js";
import { declarations } from "../../src/http/routes/index.js";

/**
 * Lists every operation with its declarations. `request` marks those that depend on the request. The name of a ledger
 * marks an ETag.
 */
const declared = {
  "GET /health": "anyHost quiet",
  "GET /metrics": "quiet",
  "GET /api/v1/readiness": "",
  "GET /api/v1/me": "",
  "GET /api/v1/sign-in": "",
  "POST /api/v1/session": "",
  "DELETE /api/v1/session": "",
  "GET /api/v1/sessions": "",
  "DELETE /api/v1/sessions/{session_id}": "",
  "GET /api/v1/tokens": "",
  "POST /api/v1/tokens": "",
  "DELETE /api/v1/tokens/{token_id}": "",
  "GET /api/v1/audit": "",
  "GET /api/v1/audit/export": "",
  "GET /api/v1/tenants/{tenant_name}/audit": "",
  "GET /api/v1/tenants/{tenant_name}/audit/export": "",
  "GET /api/v1/tenants": "",
  "GET /api/v1/tenants/{tenant_name}/status": "",
  "GET /api/v1/tenants/{tenant_name}/billing": "etag=chargebacks cursors=billing",
  "GET /api/v1/tenants/{tenant_name}/reconciliation": "heavy etag=chargebacks",
  "GET /api/v1/tenants/{tenant_name}/rules": "heavy etag=chargebacks",
  "GET /api/v1/tenants/{tenant_name}/worklist": "heavy etag=chargebacks",
  "GET /api/v1/tenants/{tenant_name}/tag-coverage": "heavy etag=chargebacks",
  "GET /api/v1/tenants/{tenant_name}/chargebacks":
    "heavy=request etag=chargebacks showsTags cursors=chargebacks",
  "GET /api/v1/tenants/{tenant_name}/chargebacks/dates": "etag=chargebacks",
  "GET /api/v1/tenants/{tenant_name}/chargebacks/aggregate": "heavy etag=chargebacks showsTags",
  "GET /api/v1/tenants/{tenant_name}/chargebacks/breakdown": "heavy etag=chargebacks showsTags",
  "GET /api/v1/tenants/{tenant_name}/chargebacks/breakdown/sql": "",
  "GET /api/v1/tenants/{tenant_name}/chargebacks/change": "heavy etag=chargebacks showsTags",
  "GET /api/v1/tenants/{tenant_name}/chargebacks/allocation-issues": "heavy etag=chargebacks showsTags",
  "GET /api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}": "",
  "PATCH /api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}": "",
  "GET /api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}/explain": "",
  "GET /api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}/tags": "",
  "POST /api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}/tags": "",
  "GET /api/v1/tenants/{tenant_name}/tags": "",
  "GET /api/v1/tenants/{tenant_name}/tag-keys": "heavy",
  "GET /api/v1/tenants/{tenant_name}/tags/{tag_id}": "",
  "PATCH /api/v1/tenants/{tenant_name}/tags/{tag_id}": "",
  "DELETE /api/v1/tenants/{tenant_name}/tags/{tag_id}": "",
  "GET /api/v1/tenants/{tenant_name}/topic-attributions":
    "etag=topic_attributions cursors=topic_attributions",
  "GET /api/v1/tenants/{tenant_name}/topic-attributions/dates": "etag=topic_attributions",
  "GET /api/v1/tenants/{tenant_name}/topic-attributions/aggregate": "heavy etag=topic_attributions",
  "GET /api/v1/tenants/{tenant_name}/topic-attributions/breakdown": "heavy etag=topic_attributions",
  "GET /api/v1/tenants/{tenant_name}/assignments": "",
  "GET /api/v1/tenants/{tenant_name}/assignments/map": "",
  "POST /api/v1/tenants/{tenant_name}/assignments": "",
  "PATCH /api/v1/tenants/{tenant_name}/assignments/{assignment_id}": "",
  "DELETE /api/v1/tenants/{tenant_name}/assignments/{assignment_id}": "",
  "GET /api/v1/tenants/{tenant_name}/accepted-causes": "",
  "POST /api/v1/tenants/{tenant_name}/accepted-causes": "",
  "DELETE /api/v1/tenants/{tenant_name}/accepted-causes/{accepted_cause_id}": "",
  "POST /api/v1/tenants/{tenant_name}/tags/bulk": "",
  "POST /api/v1/tenants/{tenant_name}/tags/bulk-by-filter": "heavy showsTags=request",
  "POST /api/v1/tenants/{tenant_name}/export": "heavy showsTags",
  "GET /api/v1/tenants/{tenant_name}/export": "heavy=request etag=chargebacks showsTags",
  "GET /api/v1/tenants/{tenant_name}/export/focus-metadata": "heavy",
  "GET /api/v1/tenants/{tenant_name}/statements": "heavy=request etag=chargebacks showsTags",
  "GET /api/v1/tenants/{tenant_name}/metrics": "quiet",
  "GET /api/v1/tenants/{tenant_name}/resources": "",
  "GET /api/v1/tenants/{tenant_name}/identities": "",
  "GET /api/v1/tenants/{tenant_name}/inventory/costs": "heavy",
  "GET /api/v1/tenants/{tenant_name}/inventory/summary": "",
  "GET /api/v1/tenants/{tenant_name}/resources/history": "",
  "GET /api/v1/tenants/{tenant_name}/identities/history": "",
  "POST /api/v1/tenants/{tenant_name}/pipeline/run": "",
  "GET /api/v1/tenants/{tenant_name}/pipeline/status": "",
  "GET /api/v1/tenants/{tenant_name}/pipeline/runs": "",
  "GET /api/v1/tenants/{tenant_name}/pipeline/runs/{run_id}": "",
  "GET /api/v1/tenants/{tenant_name}/deliveries": "",
  "GET /api/v1/tenants/{tenant_name}/deliveries/{delivery_id}/payers": "",
  "POST /api/v1/tenants/{tenant_name}/deliveries/{delivery_id}/accept": "",
  "GET /api/v1/tenants/{tenant_name}/usage": "",
  "GET /api/v1/tenants/{tenant_name}/events": "",
  "GET /api/v1/tenants/{tenant_name}/sql-port": "",
  "POST /api/v1/tenants/{tenant_name}/usage": "",
};

function textOf({ heavy, etag, showsTags, cursors, anyHost, quiet }: FastifyContextConfig): string {
  const said = (name: string, value: unknown) => {
    if (value === false || value === undefined) return [];
    return value === true ? [name] : [`${name}=${typeof value === "function" ? "request" : value}`];
  };
  return [
    said("heavy", heavy),
    said("etag", etag ? etag.ledger : false),
    said("showsTags", showsTags),
    said("cursors", cursors?.kind),
    said("anyHost", anyHost),
    said("quiet", quiet),
  ]
    .flat()
    .join(" ");
}

t.test("every route of the API declares its config", async (t) => {
  const app = await appWithoutStores("1.2.3");
  t.teardown(() => app.close());
  const configs: FastifyContextConfig[] = [];
  app.addHook("onResponse", async ({ routeOptions }) => void configs.push(routeOptions.config));
  const document: ApiDocument = (await app.inject({ url: "/openapi.json" })).json();
  const { components = {} } = document;
  configs.splice(0);
  const operations = new Map<string, Operation>();
  for (const { method, path, operation } of operationsOf(document)) {
    operations.set(`${method.toUpperCase()} ${path}`, operation);
    await app.inject({ method: method as "GET", url: path.replaceAll(/\{\w+\}/g, "1") });
  }
  const found = [...operations.keys()].map(
    (name, index) => [name, textOf(configs[index] ?? never())] as const,
  );

  await t.test("the list of declarations is complete", async (t) => {
    t.strictSame(Object.fromEntries([...found].sort()), Object.fromEntries(Object.entries(declared).sort()));
  });

  for (const [name, text] of found) {
    await t.test(`${name} documents what follows from it`, async (t) => {
      const responses = operations.get(name)?.responses ?? {};
      t.equal("304" in responses, text.includes("etag="), "a read with an ETag documents 304");
      const unavailable = responses["503"] && resolvedResponse(responses["503"], components);
      const codes = Object.keys(unavailable?.content?.["application/problem+json"]?.examples ?? {});
      t.equal(codes.includes("too_busy"), text.includes("heavy"), "a heavy read documents too_busy");
    });
  }
});

t.test("an unknown method is refused by the same host rules as its path", async (t) => {
  const app = await appWithoutStores("1.2.3");
  t.teardown(() => app.close());
  const quiet: unknown[] = [];
  app.addHook("onResponse", async ({ routeOptions }) => void quiet.push(routeOptions.config.quiet));
  const headers = { host: "elsewhere.example.org" };
  const statuses: number[] = [];
  for (const url of ["/health", "/metrics", "/api/v1/tenants"])
    statuses.push((await app.inject({ method: "DELETE", url, headers })).statusCode);
  t.strictSame(statuses, [405, 421, 421]);
  t.strictSame(quiet, [true, true, undefined]);
});

t.test("a route that declares nothing is an error at startup", async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  for (const name of ["access", "admission", "response-cache", "tag-mirror"])
    await app.register(fp(async () => undefined, { name }));
  await app.register(declarations);
  const handler = async () => "response";
  t.throws(() => app.get("/nothing", handler), {
    message: "GET /nothing must declare in its config: scope, heavy, etag, showsTags",
  });
  // @ts-expect-error: the compiler sees a declaration that is not whole.
  t.throws(() => app.get("/some", { config: { scope: "read", heavy: true, etag: false } }, handler), {
    message: "GET /some must declare in its config: showsTags",
  });
  app.get("/all", { config: { scope: "read", heavy: false, etag: false, showsTags: false } }, handler);
  t.equal((await app.inject({ url: "/all" })).body, "response");
});

function never(): never {
  throw new Error("an operation without a route");
}
