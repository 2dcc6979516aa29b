import { gzipSync } from "node:zlib";
import t from "tap";
import { operationsOf, resolvedParameter } from "../../src/http/description/openapi-types.js";
import { holds } from "../holds.js";
import { documentOf } from "./contract.js";
import { get, startService } from "./service.js";

const acme = "/api/v1/tenants/acme";

t.test("all endpoints share their errors and headers", async (t) => {
  const service = await startService(t, [
    "enable_cors: true",
    "cors_origins: ['https://console.example.org']",
  ]);
  const { app, stores, log, build } = service;

  await t.test("Content-Encoding is ignored, so a compressed body is not JSON", async (t) => {
    const payload = gzipSync('{"format":"csv"}');
    for (const [method, url, encoding, status] of [
      ["GET", "/health", "foo", 200],
      ["GET", `${acme}/billing`, "br", 200],
      ["POST", `${acme}/export`, "gzip", 400],
      ["POST", `${acme}/export`, "foo", 400],
    ] as const) {
      const headers = { "content-encoding": encoding, "content-type": "application/json" };
      const response = await app.inject({ method, url, headers, ...(status === 400 && { payload }) });
      t.equal(response.statusCode, status, `${method} ${url} ${encoding}`);
    }
  });

  await t.test("a body that is not UTF-8 is refused", async (t) => {
    const payload = Buffer.from('{"tag_key":"a","display_name":"M\u00fcller"}', "latin1");
    const headers = { "content-type": "application/json" };
    const response = await app.inject({
      method: "POST",
      url: `${acme}/chargebacks/1/tags`,
      headers,
      payload,
    });
    t.strictSame(
      [response.statusCode, response.json().code, response.json().detail],
      [400, "malformed_body", "The body is not text in UTF-8."],
    );
  });

  await t.test("files for another origin have Vary: Origin as well", async (t) => {
    const headers = { origin: "https://console.example.org", accept: "text/csv" };
    const { headers: sent } = await app.inject({ method: "GET", url: `${acme}/export`, headers });
    const varies = String(sent.vary).split(", ");
    t.ok(varies.includes("Origin") && varies.includes("Accept"), String(sent.vary));
  });

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
    ["billing?timezone=", "`timezone` must not be empty: leave it out, or give it a value."],
    ["chargebacks?identity=sa-1", /Unknown parameter `identity`\. Allowed: page, /],
    [
      "chargebacks?identity_ids=sa-1",
      "Unknown parameter `identity_ids`, did you mean `identity_id`. Allowed: page, page_size, cursor, start_date, end_date, timezone, identity_id, product_type, resource_id, currency, product_category, environment_id, charge_category, service_provider, account_id, region_id, sku_id, rule, cost_type, allocation_method, allocation_detail, passed_from, team, tag:KEY; filters also with `not:` before them.",
    ],
    [
      "chargebacks/dates?start_date=2026-01-01",
      "Unknown parameter `start_date`. No parameters are allowed here.",
    ],
    ["pipeline/status?x=1", /No parameters/],
    [
      "chargebacks?not:resource_id=a%FF",
      "`not:resource_id` has an invalid percent-encoding: it must be that of text in UTF-8.",
    ],
    ["chargebacks?resource_id=100%", /^`resource_id` has an invalid percent-encoding/],
    ["chargebacks?%ff=a", /^`query` has an invalid percent-encoding/],
  ] as const) {
    await t.test(`400 ${url}`, async (t) => {
      const { status, headers, body } = await get(app, `${acme}/${url}`);
      t.equal(status, 400);
      t.equal(headers["content-type"], "application/problem+json");
      holds(t, body, {
        type: "about:blank",
        title: "Invalid request",
        status: 400,
        code: "invalid_request",
        detail,
        errors: [{ in: "query" }],
      });
    });
  }

  await t.test("all problems are reported at once, and long input is cut", async (t) => {
    const long = "x".repeat(3000);
    const { body } = await get(app, `${acme}/billing?page=0&page_size=0&${long}=1`);
    t.same(
      body.errors.map(({ code }: { code: string }) => code),
      ["unknown", "invalid", "invalid"],
    );
    t.ok(JSON.stringify(body).length < 1500);
  });

  await t.test("unknown paths are 404, and unknown methods 405", async (t) => {
    holds(t, (await get(app, "/nope")).body, { status: 404, code: "path_not_found" });
    holds(t, (await get(app, `${acme}/billing/`)).body, { status: 404, detail: /do not end with a slash/ });
    const response = await app.inject({ method: "DELETE", url: `${acme}/billing` });
    t.equal(response.statusCode, 405);
    t.equal(response.headers.allow, "GET, HEAD");
    t.equal(response.json().code, "method_not_allowed");
    const broken = { payload: "{", headers: { "content-type": "application/json" } };
    t.equal((await app.inject({ method: "POST", url: "/nope", ...broken })).statusCode, 404);
    t.equal((await app.inject({ method: "POST", url: `${acme}/billing`, ...broken })).statusCode, 405);
    t.equal((await app.inject({ method: "PUT", url: "/api/v1/tenants/nobody/billing" })).statusCode, 404);
  });

  await t.test("an empty body with the content type of JSON counts as no body", async (t) => {
    const headers = { "content-type": "application/json" };
    for (const [method, url, wanted] of [
      ["DELETE", `${acme}/tags/999`, "tag_not_found"],
      ["POST", `${acme}/export`, undefined],
      ["PATCH", `${acme}/chargebacks/999`, "dimension_not_found"],
      ["POST", `${acme}/chargebacks/999/tags`, "invalid_request"],
      ["POST", `${acme}/pipeline/run`, "pipeline_unavailable"],
    ] as const) {
      const response = await app.inject({ method, url, headers });
      const code = response.statusCode < 300 ? undefined : response.json().code;
      t.equal(code, wanted, `${method} ${url}`);
      const blank = await app.inject({ method, url, headers, payload: " " });
      holds(t, blank.json(), { status: 400, code: "malformed_body" }, "a blank is not JSON");
    }
  });

  await t.test("an internal error returns an id that is in the log, and not its cause", async (t) => {
    const { client } = await stores.tenant("globex");
    await client.command({ query: "RENAME TABLE billing TO billing_hidden" });
    const { status, headers, body } = await get(app, "/api/v1/tenants/globex/billing", {
      origin: "https://console.example.org",
    });
    t.equal(status, 500);
    t.equal(headers["access-control-allow-origin"], "https://console.example.org");
    t.notMatch(JSON.stringify(body), /billing_hidden|SELECT|DB::/);
    holds(
      t,
      log.find(({ error_id }) => error_id === body.error_id),
      { err: { message: /billing/ }, path: "/api/v1/tenants/globex/billing" },
    );
  });

  await t.test("X-Request-Id is returned and logged", async (t) => {
    t.equal(
      (await get(app, `${acme}/status`, { "x-request-id": "trace-7" })).headers["x-request-id"],
      "trace-7",
    );
    t.ok(log.find(({ request_id, path }) => request_id === "trace-7" && path === `${acme}/status`));
    for (const bad of ["a b", "x".repeat(129), '"<script>"']) {
      t.match((await get(app, "/nope", { "x-request-id": bad })).headers["x-request-id"], /^[0-9a-f-]{36}$/);
    }
  });

  await t.test("CORS headers are set for preflights and errors, and not for other origins", async (t) => {
    const preflight = (method: string, origin = "https://console.example.org") =>
      app.inject({
        method: "OPTIONS",
        url: `${acme}/billing`,
        headers: { origin, "access-control-request-method": method },
      });
    const response = await preflight("GET");
    t.equal(response.statusCode, 204);
    t.equal(response.headers["access-control-allow-methods"], "GET, POST, PATCH, DELETE");
    t.equal(response.headers["access-control-allow-origin"], "https://console.example.org");
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

  await t.test("without enable_cors there are no CORS headers", async (t) => {
    const { config } = service;
    const closed = await build({ config: { ...config, api: { ...config.api, enable_cors: false } } });
    t.notOk(
      (await get(closed, "/health", { origin: "https://console.example.org" })).headers[
        "access-control-allow-origin"
      ],
    );
    t.equal((await closed.inject({ method: "OPTIONS", url: "/health" })).statusCode, 405);
  });

  await t.test(
    "OPTIONS without a preflight is refused like any other method, with CORS and without",
    async (t) => {
      const { config } = service;
      const closed = await build({ config: { ...config, api: { ...config.api, enable_cors: false } } });
      const any = await build({ config: { ...config, api: { ...config.api, cors_origins: ["*"] } } });
      const origin = "https://console.example.org";
      for (const to of [app, closed, any]) {
        for (const headers of [{}, { origin }, { "access-control-request-method": "GET" }]) {
          for (const [url, status, code, allow] of [
            ["/health", 405, "method_not_allowed", "GET, HEAD"],
            [`${acme}/tags/bulk`, 405, "method_not_allowed", "POST"],
            ["/nope", 404, "path_not_found", undefined],
            ["/docs/nope/", 404, "path_not_found", undefined],
          ] as const) {
            const response = await to.inject({ method: "OPTIONS", url, headers });
            const seen = [response.statusCode, response.json().code, response.headers.allow];
            t.strictSame(seen, [status, code, allow], `${url} ${Object.keys(headers)}`);
            t.equal(response.headers["content-type"], "application/problem+json");
          }
        }
      }
    },
  );

  await t.test("an unknown page under /docs is 404, and no path leads out of the folder", async (t) => {
    for (const path of [
      "..%2e",
      "%2e%2e/package.json",
      "..%2f..%2fpackage.json",
      "..%5c..%5cpackage.json",
      ".x",
      "nope",
      "%00",
      "a%5cb",
    ]) {
      const response = await app.inject({ url: `/docs/static/${path}` });
      const { code } = response.json();
      t.strictSame(
        [response.statusCode, response.headers["content-type"], code],
        [404, "application/problem+json", "path_not_found"],
        path,
      );
    }
    for (const headers of [{ range: "bytes=999999999-" }, { "if-match": '"x"' }]) {
      const response = await app.inject({ url: "/docs/static/swagger-ui.css", headers });
      t.strictSame([response.statusCode, response.json().code], [400, "unreadable_request"]);
    }
  });

  await t.test("every operation refuses an empty parameter, unless it has a meaning", async (t) => {
    const document = documentOf(app);
    const meaning = new Set<string>();
    for (const { method, path, operation } of operationsOf(document)) {
      if (method !== "get" || path === "/health") continue;
      for (const given of operation.parameters ?? []) {
        const { in: where, name, schema } = resolvedParameter(given, document.components ?? {});
        if (where !== "query" || schema["x-prefix"] !== undefined) continue;
        const url = `${path.replace("{tenant_name}", "acme").replace(/\{\w+\}/g, "4")}?${name}=`;
        if (schema.items?.minLength === 0) {
          meaning.add(name.replace("not:", ""));
          t.not((await app.inject(url)).statusCode, 400, url);
          continue;
        }
        const { status, body } = await get(app, url);
        const detail = `\`${name}\` must not be empty: leave it out, or give it a value.`;
        const wrong = body.errors.filter(({ code }: { code: string }) => code !== "missing");
        t.strictSame([status, wrong], [400, [{ in: "query", name, detail, code: "invalid" }]], url);
      }
    }
    t.strictSame(
      [...meaning],
      [
        "environment_id",
        "charge_category",
        "service_provider",
        "account_id",
        "region_id",
        "sku_id",
        "rule",
        "passed_from",
      ],
    );
    const filters = { identity_id: "", resource_id: "", product_type: "" };
    const exported = await app.inject({ method: "POST", url: `${acme}/export`, payload: { filters } });
    t.strictSame([exported.statusCode, exported.json().errors.length], [400, 3]);
  });

  await t.test("only exports accept JSON with the content type of a form, as curl -d sends it", async (t) => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const send = (path: string, payload: string, more = {}) =>
      app.inject({ method: "POST", url: `${acme}${path}`, headers: { ...headers, ...more }, payload });
    t.equal((await send("/export", "{}")).statusCode, 200);
    t.equal((await send("/export", '{"columns": ["amount"]}')).body, "amount\n");
    t.equal((await send("/export", "")).statusCode, 200);
    for (const form of ["columns=amount", "{", "%7B%7D", "{}=", "[]"])
      t.equal((await send("/export", form)).statusCode, 400, form);
    t.equal((await send("/export", "{}", { "sec-fetch-site": "cross-site" })).statusCode, 403);
    t.equal((await send("/export", "{}", { origin: "https://evil.example" })).statusCode, 403);
    for (const path of ["/tags/bulk", "/tags/bulk-by-filter", "/pipeline/run"])
      t.equal((await send(path, "{}")).json().code, "malformed_body", path);
  });

  await t.test("liveness is 200 with any query, body and Host", async (t) => {
    for (const query of ["", "?", "?probe=1", "?probe=1&probe=2", "?%zz", "?tag:x", `?${"a".repeat(5000)}`]) {
      const response = await get(app, `/health${query}`, { host: "10.0.0.1", accept: "text/html" });
      t.strictSame([response.status, response.body], [200, { status: "ok", version: "1.2.3" }], query);
    }
    const headers = { "content-type": "text/plain", "sec-fetch-site": "cross-site" };
    const odd = await app.inject({ method: "GET", url: "/health", headers, payload: "{" });
    t.equal(odd.statusCode, 200);
  });

  await t.test("HEAD works for every GET, and returns only the headers", async (t) => {
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

  await t.test(
    "with auth: none credentials are not required, and never count as failed sign-ons",
    async (t) => {
      for (const { operation } of operationsOf(documentOf(app)))
        t.equal("429" in operation.responses, operation.operationId !== "getHealth", operation.operationId);
      const passed = ["Bearer what-a-proxy-let-pass", "Basic nonsense", "?"];
      for (const authorization of Array.from({ length: 20 }, () => passed).flat())
        t.equal((await get(app, `${acme}/billing`, { authorization })).status, 200, authorization);
    },
  );

  await t.test("responses are gzipped if the client accepts that", async (t) => {
    t.equal(
      (await app.inject({ url: "/openapi.json", headers: { "accept-encoding": "br, gzip" } })).headers[
        "content-encoding"
      ],
      "gzip",
    );
    t.notOk((await app.inject({ url: "/openapi.json" })).headers["content-encoding"]);
  });

  await t.test("GET /metrics counts requests by route, never by path", async (t) => {
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
