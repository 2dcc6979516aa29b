/** Every kind of response has its security headers for browsers. */
import type { LightMyRequestResponse } from "fastify";
import t from "tap";
import { createToken } from "../../src/postgres/tokens.js";
import { certificateFiles } from "../certificates.js";
import { startService } from "./service.js";

const data = {
  "content-security-policy": "default-src 'none';frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "origin-agent-cluster": "?1",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Headers that have nothing to do with security. */
const others =
  /^(content-(type|length|encoding|range)|date|connection|keep-alive|vary|x-request-id|etag|cache-control|www-authenticate|retry-after|allow|accept-ranges|last-modified)$/;

const secured = ({ headers }: LightMyRequestResponse) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !others.test(name)));

t.test("every response has security headers", async (t) => {
  const { config, stores, build } = await startService(t, ["auth: tokens", "console: false"]);
  const { token } = await createToken(
    stores.postgres,
    { name: "ada", scopes: ["admin"], tenants: null, days: 1 },
    { kind: "command", name: "ada" },
  );
  const authorization = `Bearer ${token}`;
  const { settings } = certificateFiles(t);
  const secure = {
    ...data,
    "cross-origin-opener-policy": "same-origin",
    "strict-transport-security": "max-age=15552000",
  };
  for (const [name, tls, wanted] of [
    ["without a certificate", undefined, data],
    ["with one", settings, secure],
  ] as const) {
    await t.test(name, async (t) => {
      const app = await build({ config: { ...config, api: { ...config.api, ...(tls && { tls }) } } });
      for (const [url, headers, status] of [
        ["/health", {}, 200],
        ["/metrics", { authorization }, 200],
        ["/openapi.json", {}, 200],
        ["/api/v1/tenants", { authorization }, 200],
        ["/api/v1/tenants", {}, 401],
        ["/api/v1/tenants/acme/status", { authorization: "Bearer wrong" }, 401],
        ["/api/v1/tenants/nobody/status", { authorization }, 404],
        ["/nowhere", {}, 404],
        ["/api/v1/tenants", { authorization, host: "elsewhere.example.org" }, 421],
        ["/api/v1/tenants/acme/billing?page=x", { authorization }, 400],
      ] as const) {
        const response = await app.inject({ url, headers });
        t.equal(response.statusCode, status, url);
        t.strictSame(secured(response), wanted, `${status} ${url}`);
      }
      const kept = async (url: string, sent: Record<string, string> = { authorization }) =>
        (await app.inject({ url, headers: sent })).headers["cache-control"];
      t.equal(await kept("/api/v1/tenants"), "no-store");
      t.equal(await kept("/api/v1/tenants/acme/status"), "no-store");
      t.equal(await kept("/metrics"), "no-store");
      t.equal(await kept("/api/v1/tenants", {}), "no-store", "a refusal has the headers, too");
      t.equal(await kept("/api/v1/tenants/acme/billing"), "private, no-cache", "the response has an ETag");
      const docs = await app.inject({ url: "/docs/" });
      t.equal(docs.statusCode, 200);
      t.strictSame(secured(docs), {
        ...wanted,
        "content-security-policy":
          "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; frame-ancestors 'none'",
      });
    });
  }
});
