/**
 * Calls every route of the service without credentials, with too few scopes, and for tenants that the caller may not
 * see.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import fastify, {
  type FastifyContextConfig,
  type FastifyInstance,
  type InjectOptions,
  type RouteOptions,
} from "fastify";
import t from "tap";
import { refusalToListen } from "../../src/config/settings/api.js";
import type { Scope } from "../../src/domain/scopes.js";
import { requiredScopes } from "../../src/http/plugins/access.js";
import { startHttpServer } from "../../src/http/server/server.js";
import { createToken, revokeToken } from "../../src/postgres/tokens.js";
import { holds } from "../holds.js";
import { get, startService } from "./service.js";

interface Route {
  readonly method: string;
  readonly path: string;
  /** The handler only reports that the path does not take the method. */
  readonly isRefusal: boolean;
  readonly config: FastifyContextConfig;
}

/** Returns every route of an app with its declarations. */
async function routesOf(build: () => Promise<FastifyInstance>) {
  const found: RouteOptions[] = [];
  const watch = (message: unknown) => {
    const { fastify: app } = message as { fastify: FastifyInstance };
    app.addHook("onRoute", (route) => void found.push(route));
  };
  subscribe("fastify.initialization", watch);
  const app = await build().finally(() => unsubscribe("fastify.initialization", watch));
  const routes = found.flatMap(({ method, url, config }) =>
    [method].flat().map(
      (each): Route => ({
        method: each,
        path: url,
        isRefusal: Array.isArray(method),
        config: config ?? never(),
      }),
    ),
  );
  return { app, routes };
}

/**
 * A route that changes something needs more than `read`. A method that a path does not take needs what the path needs.
 */
const unusual = {
  "GET /health": "public",
  "GET /": "public",
  "GET /access": "public",
  "GET /audit": "public",
  "GET /tenants/:name/:view": "public",
  "GET /openapi.json": "any, public as docs",
  "GET /metrics": "read, every tenant, public as metrics",
  "GET /api/v1/readiness": "read, public as readiness",
  "GET /api/v1/me": "any",
  "GET /api/v1/sign-in": "public",
  "POST /api/v1/session": "any",
  "DELETE /api/v1/session": "any",
  "GET /api/v1/sessions": "admin, every tenant",
  "DELETE /api/v1/sessions/:session_id": "admin, every tenant",
  "GET /api/v1/tokens": "admin, every tenant",
  "POST /api/v1/tokens": "admin, every tenant",
  "DELETE /api/v1/tokens/:token_id": "admin, every tenant",
  "GET /api/v1/audit": "admin, every tenant",
  "GET /api/v1/audit/export": "admin, every tenant",
  "GET /api/v1/tenants/:tenant_name/audit": "admin",
  "GET /api/v1/tenants/:tenant_name/audit/export": "admin",
  "PATCH /api/v1/tenants/:tenant_name/chargebacks/:dimension_id": "tags",
  "POST /api/v1/tenants/:tenant_name/chargebacks/:dimension_id/tags": "tags",
  "PATCH /api/v1/tenants/:tenant_name/tags/:tag_id": "tags",
  "DELETE /api/v1/tenants/:tenant_name/tags/:tag_id": "tags",
  "POST /api/v1/tenants/:tenant_name/tags/bulk": "tags",
  "POST /api/v1/tenants/:tenant_name/tags/bulk-by-filter": "tags",
  "POST /api/v1/tenants/:tenant_name/assignments": "assign",
  "PATCH /api/v1/tenants/:tenant_name/assignments/:assignment_id": "assign",
  "DELETE /api/v1/tenants/:tenant_name/assignments/:assignment_id": "assign",
  "POST /api/v1/tenants/:tenant_name/accepted-causes": "assign",
  "DELETE /api/v1/tenants/:tenant_name/accepted-causes/:accepted_cause_id": "assign",
  "POST /api/v1/tenants/:tenant_name/export": "read",
  "POST /api/v1/tenants/:tenant_name/pipeline/run": "run",
  "POST /api/v1/tenants/:tenant_name/deliveries/:delivery_id/accept": "run",
  "POST /api/v1/tenants/:tenant_name/usage": "run",
};

const inWords = ({ scope, publicAs, everyTenant }: FastifyContextConfig) =>
  [scope, everyTenant ? "every tenant" : [], publicAs ? `public as ${publicAs}` : []].flat().join(", ");

const local = { kind: "command", name: "ada" } as const;

t.test("with api.auth: tokens, each route requires its scope", async (t) => {
  const { app, stores, config, build, log } = await startService(t, [
    "auth: tokens",
    "rate_limit: { max_failed_sign_ons_per_minute: 10000 }",
  ]);
  const { postgres } = stores;
  const made = async (scopes: readonly Scope[], tenants: readonly string[] | null = null, days = 1) => {
    const { token, token_id } = await createToken(postgres, { name: "bi", scopes, tenants, days }, local);
    return { authorization: `Bearer ${token}`, token_id };
  };
  const admin = await made(["admin"]);
  const ofGlobex = await made(["admin"], ["globex"]);
  /** Returns all scopes except those that include this one. */
  const lesser = {
    read: await made(["run"]),
    tags: await made(["read", "assign", "run"]),
    assign: await made(["read", "tags", "run"]),
    run: await made(["read", "tags", "assign"]),
    admin: await made(["read", "tags", "assign", "run"]),
  };
  const sendRequest = async (request: InjectOptions, on = app) => {
    const response = await on.inject(request);
    const isProblem = response.headers["content-type"] === "application/problem+json";
    return `${response.statusCode}${isProblem && request.method !== "HEAD" ? ` ${response.json().code}` : ""}`;
  };

  const closed = { ...config, api: { ...config.api, public: [] } };
  const { app: strict, routes } = await routesOf(() => build({ config: closed }));
  t.ok(routes.length > 250, `${routes.length} routes`);

  await t.test(
    "the list of routes that change something or require another scope than read is complete",
    async (t) => {
      const declared = routes
        .filter(({ path, isRefusal }) => !isRefusal && !/^(\/docs|\/assets\/|\*)/.test(path))
        .map(({ method, path, config: needs }) => [`${method} ${path}`, inWords(needs)] as const)
        .filter(([name, words]) => !name.startsWith("HEAD") && !(name.startsWith("GET") && words === "read"));
      t.strictSame(Object.fromEntries(declared.sort()), Object.fromEntries(Object.entries(unusual).sort()));
    },
  );

  for (const { method, path, config: needs } of routes) {
    const url = path.replace(":tenant_name", "acme").replaceAll(/:\w+|\*/g, "1");
    const request = (headers: Record<string, string> = {}) =>
      ({ method: method as "GET", url, headers }) as const;
    await t.test(`${method} ${path} needs ${inWords(needs)}`, async (t) => {
      const isHead = method === "HEAD";
      const without = await sendRequest(request(), strict);
      if (needs.scope === "public") return void t.notMatch(without, /^40[13]/);
      t.equal(without, isHead ? "401" : "401 unauthenticated");
      const wrong = `Bearer chgt_${"A".repeat(43)}`;
      t.equal(await sendRequest(request({ authorization: wrong }), strict), without);
      if (needs.scope === "any") return;
      const less = { authorization: lesser[needs.scope].authorization };
      t.equal(await sendRequest(request(less), strict), isHead ? "403" : "403 forbidden");
      const elsewhere = await sendRequest(request({ authorization: ofGlobex.authorization }), strict);
      if (path.includes(":tenant_name")) t.equal(elsewhere, isHead ? "404" : "404 tenant_not_found");
      if (needs.everyTenant) t.equal(elsewhere, isHead ? "403" : "403 forbidden");
    });
  }

  await t.test("a tenant that the caller may not see looks like one that does not exist", async (t) => {
    const headers = { authorization: ofGlobex.authorization };
    const [hidden, missing] = await Promise.all(
      ["acme", "nobody"].map((name) => get(app, `/api/v1/tenants/${name}/billing`, headers)),
    );
    t.strictSame(
      { ...hidden?.body, detail: hidden?.body.detail.replace("acme", "nobody") },
      { ...missing?.body },
    );
    const namesIn = (list: { tenant_name: string }[]) => list.map(({ tenant_name }) => tenant_name);
    t.strictSame(namesIn((await get(app, "/api/v1/tenants", headers)).body), ["globex"]);
    t.strictSame(namesIn((await get(app, "/api/v1/readiness", headers)).body.tenants), ["globex"]);
    t.equal((await get(app, "/api/v1/tenants/globex/billing", headers)).status, 200);
  });

  await t.test("GET /api/v1/me returns the caller, and the log names it", async (t) => {
    const { authorization } = await made(["tags"], ["globex", "gone"]);
    const { body, headers } = await get(app, "/api/v1/me", { authorization });
    t.strictSame(body, {
      auth: "tokens",
      name: "bi",
      session_id: null,
      scopes: ["read", "tags"],
      every_tenant: false,
      tenants: ["globex"],
      ecosystems: { globex: "generic_metrics_only" },
    });
    t.equal(headers["cache-control"], "no-store");
    holds(t, log.at(-1), { path: "/api/v1/me", caller: "bi" });
    t.notOk(JSON.stringify(log).includes(authorization.slice(7)));
  });

  await t.test("credentials in another form are not valid", async (t) => {
    const [, token = ""] = admin.authorization.split(" ");
    for (const [authorization, status] of [
      [`bearer  ${token} `, 200],
      [`Bearer ${token}x`, 401],
      [`Bearer ${token.slice(0, -1)}`, 401],
      [`Bearer ${token}, Bearer ${token}`, 401],
      [`Basic ${Buffer.from(`admin:${token}`).toString("base64")}`, 200],
      [`Basic ${Buffer.from(`${token}:`).toString("base64")}`, 401],
      [`Basic ${Buffer.from(`admin:${token}x`).toString("base64")}`, 401],
      [token, 401],
      ["Bearer", 401],
      ["Bearer chgt_' OR true --", 401],
    ] as const) {
      const response = await get(app, "/api/v1/me", { authorization });
      t.equal(response.status, status, authorization.replace(token, "TOKEN"));
    }
    t.equal((await get(app, `/api/v1/me?token=${token}`)).status, 401);
    const requested = async (headers: Record<string, string>) =>
      (await get(app, "/api/v1/me", headers)).headers["www-authenticate"];
    t.equal(await requested({}), 'Bearer realm="chargehouse"');
    t.equal(
      await requested({ authorization: "Bearer x" }),
      'Bearer realm="chargehouse", error="invalid_token"',
    );
  });

  await t.test("a token is valid until it is revoked or expires", async (t) => {
    const { authorization, token_id } = await made(["read"]);
    const status = async () => (await get(app, "/api/v1/me", { authorization })).status;
    t.equal(await status(), 200);
    await postgres.query("UPDATE api_tokens SET expires_at = now() WHERE token_id = $1", [token_id]);
    t.equal(await status(), 401, "the token has expired");
    await postgres.query("UPDATE api_tokens SET expires_at = now() + interval '1 day' WHERE token_id = $1", [
      token_id,
    ]);
    t.equal(await status(), 200);
    t.ok(await revokeToken(postgres, token_id, local));
    t.equal(await status(), 401, "the token was revoked");
    t.ok(await revokeToken(postgres, token_id, local), "a second revocation changes nothing");
    t.equal(await revokeToken(postgres, 999, local), false);
    const { rows } = await postgres.query("SELECT * FROM api_tokens WHERE token_id = $1", [token_id]);
    t.notOk(JSON.stringify(rows).includes(authorization.slice(7)));
    t.equal(rows[0].last_used_at.getMinutes(), 0);
  });

  await t.test("the API creates, lists and revokes tokens", async (t) => {
    const { authorization } = admin;
    const send = async (method: "POST" | "DELETE", url: string, payload?: object) => {
      const response = await app.inject({
        method,
        url,
        headers: { authorization },
        ...(payload && { payload }),
      });
      return { status: response.statusCode, body: response.json() };
    };
    const wanted = { name: "grafana", scopes: ["read"], tenants: ["acme"] };
    const { status, body } = await send("POST", "/api/v1/tokens", wanted);
    t.equal(status, 200);
    holds(t, body, { ...wanted, state: "valid", created_by: "bi", last_used_at: null, revoked_at: null });
    t.match(body.token, /^chgt_[A-Za-z0-9_-]{43}$/);
    const days = (Date.parse(body.expires_at) - Date.parse(body.created_at)) / 86_400_000;
    t.equal(days, 90);
    const { body: me } = await get(app, "/api/v1/me", { authorization: `Bearer ${body.token}` });
    t.strictSame([me.name, me.tenants], ["grafana", ["acme"]]);
    const listed = (await get(app, "/api/v1/tokens", { authorization })).body[0];
    const { token: _, ...record } = body;
    t.strictSame({ ...listed, last_used_at: null }, record);
    t.equal((await send("DELETE", `/api/v1/tokens/${body.token_id}`)).body.state, "revoked");
    t.equal((await get(app, "/api/v1/me", { authorization: `Bearer ${body.token}` })).status, 401);
    t.equal((await send("DELETE", "/api/v1/tokens/999")).body.code, "token_not_found");
    for (const [payload, detail] of [
      [{ ...wanted, tenants: undefined }, "The body must have either `tenants` or `every_tenant: true`."],
      [{ ...wanted, every_tenant: true }, "The body must have either `tenants` or `every_tenant: true`."],
      [{ ...wanted, tenants: ["x"] }, '`tenants` must be names of configured tenants; "x" is not one.'],
      [{ ...wanted, scopes: ["write"] }, /^`scopes\[0\]` must be one of read, tags, assign, run, admin/],
      [{ ...wanted, scopes: [] }, /^`scopes` must be/],
      [{ ...wanted, name: "a b" }, /^`name` must be 1 to 100 letters, digits/],
      [{ ...wanted, days: 3651 }, /^`days` must be an integer from 1 to 3650/],
    ] as const)
      holds(t, (await send("POST", "/api/v1/tokens", payload)).body, { status: 400, detail });
    const { rows } = await postgres.query(
      "SELECT actor, actor_kind, action, subject, address, request_id FROM audit_entries ORDER BY audit_id DESC LIMIT 2",
    );
    const who = { actor: "bi", actor_kind: "token", address: "127.0.0.1" };
    holds(t, rows, [
      { ...who, action: "revokeToken", subject: { token_id: body.token_id, name: "grafana" } },
      {
        ...who,
        action: "createToken",
        subject: { ...wanted, token_id: body.token_id, days: 90 },
      },
    ]);
    for (const change of [
      "UPDATE audit_entries SET actor = 'x'",
      "DELETE FROM audit_entries",
      "TRUNCATE audit_entries",
    ])
      await t.rejects(postgres.query(change), { message: /is refused: entries are only added/ });
  });

  await t.test(
    "routes that the configuration makes public need no credentials, and show no tenants",
    async (t) => {
      const open = { ...config, api: { ...config.api, public: ["docs", "metrics", "readiness"] as const } };
      const everything = await build({
        config: { ...open, api: { ...open.api, public: [...open.api.public] } },
      });
      for (const url of ["/docs", "/openapi.json", "/metrics", "/api/v1/readiness", "/health"]) {
        t.notMatch(await sendRequest({ url }, everything), /^40/, url);
        const wrong = { authorization: "Bearer wrong" };
        t.notMatch(
          await sendRequest({ url, headers: wrong }, everything),
          /^40/,
          `${url} with wrong credentials`,
        );
      }
      t.strictSame((await get(everything, "/api/v1/readiness")).body.tenants, []);
      t.notMatch((await everything.inject({ url: "/docs/json" })).body, /globex/);
      const headers = { authorization: ofGlobex.authorization };
      t.equal((await get(everything, "/api/v1/readiness", headers)).body.tenants.length, 1);
      t.equal(await sendRequest({ url: "/docs" }), "200", "the documentation is public by default");
      t.equal(
        await sendRequest({ url: "/metrics" }),
        "401 unauthenticated",
        "metrics are not public by default",
      );
    },
  );

  await t.test("a preflight needs no credentials, since browsers send it without", async (t) => {
    const cors = { enable_cors: true, cors_origins: ["https://console.example.org"] };
    const crossing = await build({ config: { ...config, api: { ...config.api, ...cors } } });
    const origin = "https://console.example.org";
    const requested = {
      "access-control-request-method": "GET",
      "access-control-request-headers": "authorization",
    };
    const url = "/api/v1/tenants";
    const preflight = await crossing.inject({ method: "OPTIONS", url, headers: { origin, ...requested } });
    t.equal(preflight.statusCode, 204);
    t.equal(preflight.headers["access-control-allow-headers"], "authorization");
    const refused = await crossing.inject({ url, headers: { origin } });
    t.equal(refused.statusCode, 401);
    t.equal(refused.headers["access-control-allow-origin"], origin);
  });
});

t.test("with api.auth: none, the service is open on loopback only", async (t) => {
  const { app, config, stores, logger } = await startService(t);
  const { body } = await get(app, "/api/v1/me", { authorization: "Bearer anything" });
  t.strictSame(body, {
    auth: "none",
    name: null,
    session_id: null,
    scopes: ["read", "tags", "assign", "run", "admin"],
    every_tenant: true,
    tenants: ["acme", "globex"],
    ecosystems: { acme: "generic_metrics_only", globex: "generic_metrics_only" },
  });
  const payload = { name: "later", scopes: ["admin"], every_tenant: true };
  const left = await app.inject({ method: "POST", url: "/api/v1/tokens", payload });
  t.equal(left.json().code, "tokens_not_used", "nobody can create a token to use later");

  await t.test("with api.auth: none, the service only listens on loopback", async (t) => {
    for (const [host, listens] of [
      ["127.0.0.1", true],
      ["127.8.8.8", true],
      ["localhost", true],
      ["::1", true],
      ["0.0.0.0", false],
      ["::", false],
      ["0", false],
      ["10.0.0.1", false],
      ["127.0.0.1.example.org", false],
      ["costs.example.org", false],
    ] as const) {
      t.equal(refusalToListen({ host, auth: "none", insecure: false }) === undefined, listens, host);
      t.equal(refusalToListen({ host, auth: "none", insecure: true }), undefined);
      t.equal(refusalToListen({ host, auth: "tokens", insecure: false }), undefined);
    }
    const options = { stores, logger, control: undefined, version: "1", mode: "api" } as const;
    const open = { ...config, api: { ...config.api, host: "0.0.0.0", port: 0 } };
    await t.rejects(startHttpServer({ ...options, config: open }), {
      message: /^api\.host is 0\.0\.0\.0, which is not loopback, and api\.auth is none/,
    });
    const insecure = { ...open, api: { ...open.api, insecure: true } };
    const server = await startHttpServer({ ...options, config: insecure });
    await server.close();
  });
});

t.test("a route that does not declare its scope is an error at startup", async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  await app.register(requiredScopes);
  t.throws(() => app.get("/anything", async () => "response"), {
    message: "GET /anything must declare in its config: scope",
  });
});

function never(): never {
  throw new Error("a route without its declarations");
}
