import t from "tap";
import { operationsOf } from "../../src/http/description/document.js";
import { documentOf } from "./contract.js";
import { get, startService } from "./service.js";

const acme = "/api/v1/tenants/acme";

t.test("errors, headers and other things all endpoints share", async (t) => {
  const service = await startService(t, [
    "enable_cors: true",
    "cors_origins: ['https://console.example.org']",
  ]);
  const { app, stores, log, build } = service;

  for (const [url, detail] of [
    ["billing?page=0", "`page` must be an integer from 1 to 9007199254740991."],
    ["billing?page=", /page/],
    ["billing?page=1.0", /page/],
    ["billing?page=1e3", /page/],
    ["billing?page=+1", /page/],
    ["billing?page=01", /page/],
    ["billing?page=1000000000000000000", /page/],
    ["billing?page=1&page=2", "`page` must be given once."],
    ["billing?page_size=1001", "`page_size` must be an integer from 1 to 1000."],
    ["billing?start_date=2026-1-1", "`start_date` must be a date YYYY-MM-DD in the years 1900 to 2299."],
    ["billing?start_date=2026-02-30", /start_date/],
    ["billing?start_date=20260101", /start_date/],
    ["billing?start_date=2026-01-01T00:00:00", /start_date/],
    ["billing?end_date=9999-12-31", /end_date/],
    ["billing?start_date=0001-01-01&timezone=Asia/Tokyo", /start_date/],
    ["billing?end_date=1900-01-01", /`start_date` was left out/],
    ["billing?start_date=2026-01-02&end_date=2026-01-01", "`start_date` must not be later than `end_date`."],
    ["billing?timezone=/etc/passwd", /IANA/],
    ["billing?timezone=../x", /IANA/],
    ["billing?timezone=US", /IANA/],
    ["billing?timezone=america/denver", /IANA/],
    ["billing?timezone=%2B05:00", /IANA/],
    ["billing?timezone=", /IANA/],
    ["chargebacks?identity=sa-1", /Unknown parameter `identity`\. Allowed: page, /],
    [
      "chargebacks?identity_ids=sa-1",
      "Unknown parameter `identity_ids`, did you mean `identity_id`. Allowed: page, page_size, cursor, start_date, end_date, timezone, identity_id, product_type, resource_id, cost_type, tag:KEY.",
    ],
    [
      "chargebacks/dates?start_date=2026-01-01",
      "Unknown parameter `start_date`. No parameters are taken here.",
    ],
    ["pipeline/status?x=1", /No parameters/],
  ] as const) {
    await t.test(`400 ${url}`, async (t) => {
      const { status, headers, body } = await get(app, `${acme}/${url}`);
      t.equal(status, 400);
      t.equal(headers["content-type"], "application/problem+json");
      t.match(body, {
        type: "about:blank",
        title: "Invalid request",
        status: 400,
        code: "invalid_request",
        detail,
        errors: [{ in: "query" }],
      });
    });
  }

  await t.test("all that is wrong is said at once, and long input is not repeated", async (t) => {
    const long = "x".repeat(3000);
    const { body } = await get(app, `${acme}/billing?page=0&page_size=0&${long}=1`);
    t.same(
      body.errors.map(({ code }: { code: string }) => code),
      ["unknown", "invalid", "invalid"],
    );
    t.ok(JSON.stringify(body).length < 1500);
  });

  await t.test("404 and 405", async (t) => {
    t.match((await get(app, "/nope")).body, { status: 404, code: "path_not_found" });
    t.match((await get(app, `${acme}/billing/`)).body, { status: 404, detail: /no slash at their end/ });
    const answer = await app.inject({ method: "DELETE", url: `${acme}/billing` });
    t.equal(answer.statusCode, 405);
    t.equal(answer.headers.allow, "GET, HEAD");
    t.equal(answer.json().code, "method_not_allowed");
    const broken = { payload: "{", headers: { "content-type": "application/json" } };
    t.equal((await app.inject({ method: "POST", url: "/nope", ...broken })).statusCode, 404);
    t.equal((await app.inject({ method: "POST", url: `${acme}/billing`, ...broken })).statusCode, 405);
    t.equal((await app.inject({ method: "PUT", url: "/api/v1/tenants/nobody/billing" })).statusCode, 404);
  });

  await t.test("a body that is announced as JSON and not sent is no body", async (t) => {
    const headers = { "content-type": "application/json" };
    for (const [method, url, wanted] of [
      ["DELETE", `${acme}/tags/999`, "tag_not_found"],
      ["POST", `${acme}/export`, undefined],
      ["PATCH", `${acme}/chargebacks/999`, "dimension_not_found"],
      ["POST", `${acme}/chargebacks/999/tags`, "invalid_request"],
      ["POST", `${acme}/pipeline/run`, "pipeline_unavailable"],
    ] as const) {
      const answer = await app.inject({ method, url, headers });
      const code = answer.statusCode < 300 ? undefined : answer.json().code;
      t.equal(code, wanted, `${method} ${url}`);
      const blank = await app.inject({ method, url, headers, payload: " " });
      t.match(blank.json(), { status: 400, code: "malformed_body" }, "but a blank is no JSON");
    }
  });

  await t.test("500: an id that is in the log, and nothing of the cause", async (t) => {
    const { client } = await stores.tenant("globex");
    await client.command({ query: "RENAME TABLE billing TO billing_hidden" });
    const { status, headers, body } = await get(app, "/api/v1/tenants/globex/billing", {
      origin: "https://console.example.org",
    });
    t.equal(status, 500);
    t.equal(headers["access-control-allow-origin"], "https://console.example.org");
    t.notMatch(JSON.stringify(body), /billing_hidden|SELECT|DB::/);
    t.match(
      log.find(({ error_id }) => error_id === body.error_id),
      { err: { message: /billing/ }, path: "/api/v1/tenants/globex/billing" },
    );
  });

  await t.test("X-Request-Id comes back, and is in the log", async (t) => {
    t.equal(
      (await get(app, `${acme}/status`, { "x-request-id": "trace-7" })).headers["x-request-id"],
      "trace-7",
    );
    t.ok(log.find(({ request_id, path }) => request_id === "trace-7" && path === `${acme}/status`));
    for (const bad of ["a b", "x".repeat(129), '"<script>"']) {
      t.match((await get(app, "/nope", { "x-request-id": bad })).headers["x-request-id"], /^[0-9a-f-]{36}$/);
    }
  });

  await t.test("CORS: preflight, errors, other origins", async (t) => {
    const preflight = (method: string, origin = "https://console.example.org") =>
      app.inject({
        method: "OPTIONS",
        url: `${acme}/billing`,
        headers: { origin, "access-control-request-method": method },
      });
    const answer = await preflight("GET");
    t.equal(answer.statusCode, 204);
    t.equal(answer.headers["access-control-allow-methods"], "GET, POST, PATCH, DELETE");
    t.equal(answer.headers["access-control-allow-origin"], "https://console.example.org");
    t.notOk((await preflight("GET", "https://evil.example.org")).headers["access-control-allow-origin"]);
    const headers = { origin: "https://console.example.org" };
    for (const url of [
      "/nope",
      `${acme}/billing?page=0`,
      "/api/v1/tenants/nobody/billing",
      `${acme}/chargebacks/%zz`,
    ]) {
      t.equal((await get(app, url, headers)).headers["access-control-allow-origin"], headers.origin, url);
      t.notOk(
        (await get(app, url, { origin: "https://evil.example.org" })).headers["access-control-allow-origin"],
        url,
      );
    }
    const long = {
      payload: `{"tags": "${"x".repeat(1_100_000)}"}`,
      method: "POST",
      url: `${acme}/tags/bulk`,
    } as const;
    const refused = await app.inject({
      ...long,
      headers: { ...headers, "content-type": "application/json" },
    });
    t.equal(refused.statusCode, 413);
    t.equal(refused.headers["access-control-allow-origin"], headers.origin);
  });

  await t.test("without enable_cors there are no such headers", async (t) => {
    const { config } = service;
    const closed = await build({ config: { ...config, api: { ...config.api, enable_cors: false } } });
    t.notOk(
      (await get(closed, "/health", { origin: "https://console.example.org" })).headers[
        "access-control-allow-origin"
      ],
    );
    t.equal((await closed.inject({ method: "OPTIONS", url: "/health" })).statusCode, 405);
  });

  await t.test("HEAD on every GET: the headers alone", async (t) => {
    const gets = operationsOf(documentOf(app)).filter(({ method }) => method === "get");
    t.ok(gets.length > 20);
    for (const { path } of gets) {
      const url = path.replace("{tenant_name}", "acme").replace(/\{\w+\}/g, "4");
      const [head, whole] = [await app.inject({ method: "HEAD", url }), await app.inject({ url })];
      t.equal(head.statusCode, whole.statusCode, url);
      t.equal(head.headers["content-type"], whole.headers["content-type"], url);
      t.equal(head.body, "", url);
    }
  });

  await t.test("nothing asks for credentials, and nothing counts requests", async (t) => {
    const document = documentOf(app);
    t.notOk(JSON.stringify(document).includes('"securitySchemes"'));
    for (const { operation } of operationsOf(document)) {
      for (const status of ["401", "403", "429"])
        t.notOk(status in operation.responses, operation.operationId);
    }
    for (const authorization of ["Bearer what-a-proxy-let-pass", "Basic nonsense", "?"])
      t.equal((await get(app, `${acme}/billing`, { authorization })).status, 200, authorization);
  });

  await t.test("gzip where the client accepts it", async (t) => {
    t.equal(
      (await app.inject({ url: "/openapi.json", headers: { "accept-encoding": "br, gzip" } })).headers[
        "content-encoding"
      ],
      "gzip",
    );
    t.notOk((await app.inject({ url: "/openapi.json" })).headers["content-encoding"]);
  });

  await t.test("GET /metrics: requests by route, never by path", async (t) => {
    const { body, headers } = await app.inject({ url: "/metrics" });
    t.match(headers["content-type"], /^text\/plain; version=0\.0\.4/);
    t.match(
      body,
      /chargehouse_http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/tenants\/:tenant_name\/billing",status="400"\} \d+/,
    );
    t.match(body, /chargehouse_process_cpu_seconds_total/);
    t.notMatch(body, /acme/);
  });
});
