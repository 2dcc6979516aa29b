/** An OpenID Connect issuer or an authenticating proxy authenticates callers. */
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { base64url, exportJWK, generateKeyPair, SignJWT } from "jose";
import t from "tap";
import { loadConfig } from "../../src/config/load.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { createToken } from "../../src/postgres/tokens.js";
import { tenantText } from "../config/loading.js";
import { get, startService } from "./service.js";

const ISSUER = "https://login.example.org/";
const roles = `
  roles:
    - {role: readers, scopes: [read], tenants: [acme]}
    - {role: taggers, scopes: [tags], tenants: [globex]}
    - {role: /finops, scopes: [admin], every_tenant: true}`;

t.test("single sign-on authenticates callers", async (t) => {
  const { config, stores, build, log } = await startService(t);
  const signingOn = (api: string) => {
    const text = `api:\n${api}\ntenants:\n${tenantText("acme")}\n${tenantText("globex")}`;
    const loaded = loadConfig(text, { file: "c.yaml", env: {}, ecosystems, folder: "/" });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return build({ config: { ...config, api: loaded.config.api } });
  };
  const { token } = await createToken(
    stores.postgres,
    { name: "bi", scopes: ["read"], tenants: ["globex"], days: 1 },
    { kind: "command", name: "ada" },
  );
  const [signer, other] = await Promise.all([1, 2].map(() => generateKeyPair("ES256")));
  if (signer === undefined || other === undefined) throw new Error("no keys");
  const jwk = { ...(await exportJWK(signer.publicKey)), kid: "1", alg: "ES256" };
  let requested = 0;
  const issuer = createServer((_, response) => {
    requested++;
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ keys: [jwk, { ...jwk, kid: "broken", x: "AAAA" }] }));
  });
  await new Promise<void>((listening) => issuer.listen(0, "127.0.0.1", listening));
  t.teardown(() => issuer.close());
  const { port } = issuer.address() as AddressInfo;
  const oidc = (keys: string) => `  auth: oidc
  oidc: {issuer: "${ISSUER}", audience: costs, jwks_url: "${keys}", name_claim: email, roles_claim: realm.groups}${roles}`;

  await t.test("a JWT of the issuer authenticates a caller", async (t) => {
    const app = await signingOn(oidc(`http://127.0.0.1:${port}/keys`));
    const claims = { iss: ISSUER, aud: "costs", email: "ada@example.org", realm: { groups: ["readers"] } };
    const signed = (
      changes: Record<string, unknown> = {},
      { key = signer.privateKey, end = "5m", kid = "1" } = {},
    ) => {
      const jwt = new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: "ES256", kid });
      return (end === "" ? jwt : jwt.setExpirationTime(end)).sign(key);
    };
    const me = async (jwt: string) => await get(app, "/api/v1/me", { authorization: `Bearer ${jwt}` });
    const found = await me(await signed());
    t.equal(found.status, 200);
    t.strictSame(found.body, {
      auth: "oidc",
      name: "ada@example.org",
      session_id: null,
      scopes: ["read"],
      every_tenant: false,
      tenants: ["acme"],
      ecosystems: { acme: "generic_metrics_only" },
    });
    const all = await me(await signed({ realm: { groups: ["unknown", "/finops"] } }));
    t.strictSame(
      [all.body.scopes, all.body.every_tenant, all.body.tenants],
      [["read", "tags", "assign", "run", "admin"], true, ["acme", "globex"]],
    );
    const listed = await me(await signed({ realm: { groups: "openid readers taggers" } }));
    t.strictSame(listed.body.tenants, ["acme", "globex"], "a string of roles is split at spaces");

    const unsigned = (alg: string, signature: string) =>
      [JSON.stringify({ alg, kid: "1" }), JSON.stringify({ ...claims, exp: 9_999_999_999 })]
        .map((part) => base64url.encode(part))
        .concat(signature)
        .join(".");
    const shared = await new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256", kid: "1" })
      .setExpirationTime("5m")
      .sign(new TextEncoder().encode(JSON.stringify(jwk).padEnd(64)));
    const refused: Readonly<Record<string, string>> = {
      "signed by another key": await signed({}, { key: other.privateKey }),
      "of a key that the issuer does not have": await signed({}, { kid: "2" }),
      "of a key that the issuer has broken": await signed({}, { kid: "broken" }),
      expired: await signed({}, { end: "1 minute ago" }),
      "without an end": await signed({}, { end: "" }),
      "not valid yet": await signed({ nbf: Math.floor(Date.now() / 1000) + 600 }),
      "of another issuer": await signed({ iss: "https://login.example.org" }),
      "for somebody else": await signed({ aud: "wiki" }),
      "for nobody": await signed({ aud: undefined }),
      "without a name": await signed({ email: undefined }),
      "with a name that is no text": await signed({ email: ["ada"] }),
      "with an empty name": await signed({ email: "" }),
      "with a name of two lines": await signed({ email: "ada\nroot" }),
      "with a name that is too long": await signed({ email: "a".repeat(101) }),
      "that is not signed": unsigned("none", ""),
      "signed with the public key as a secret": shared,
      "that is no JWT": "eyJ.x.y",
    };
    for (const [what, jwt] of Object.entries(refused)) {
      const { status, body, headers } = await me(jwt);
      t.strictSame([status, body.code], [401, "unauthenticated"], what);
      t.equal(headers["www-authenticate"], 'Bearer realm="chargehouse", error="invalid_token"', what);
    }
    const reasons = log.flatMap(({ reason }) => (typeof reason === "string" ? [reason] : []));
    t.strictSame(
      reasons.map((reason) => reason.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "INSTANT")),
      [
        "its signature is not by the key that it names",
        "the issuer has no key of its key id",
        "it expired at INSTANT",
        "it has no `exp`",
        "it is not valid before INSTANT",
        'its issuer is "https://login.example.org", not "https://login.example.org/"',
        'its audience is "wiki", not "costs"',
        'its audience is missing, not "costs"',
        "its `email` is missing or not text",
        "its `email` is missing or not text",
        "its algorithm is not allowed",
        "its algorithm is not allowed",
        "it is not a JWT",
      ],
      "the log has the reason",
    );
    t.ok(requested <= 2, "the keys stay cached, also if a token names an unknown key");
    t.notOk(JSON.stringify(log).includes((await signed()).split(".")[0] ?? ""), "no token is logged");

    await t.test("the scopes of a role only apply to the tenants of that role", async (t) => {
      const both = await signed({ realm: { groups: ["readers", "taggers"] } });
      const send = async (method: "GET" | "POST", tenant: string, path: string) => {
        const response = await app.inject({
          method,
          url: `/api/v1/tenants/${tenant}/${path}`,
          headers: { authorization: `Bearer ${both}` },
          ...(method === "POST" && { payload: {} }),
        });
        return `${response.statusCode} ${response.json().code ?? ""}`.trim();
      };
      t.equal(await send("GET", "acme", "tags"), "200");
      t.equal(await send("GET", "globex", "tags"), "200");
      t.equal(await send("POST", "acme", "tags/bulk"), "403 forbidden");
      t.equal(await send("POST", "globex", "tags/bulk"), "400 invalid_request");
      t.equal(await send("GET", "acme", "audit"), "403 forbidden");
      t.equal(await send("GET", "nobody", "tags"), "404 tenant_not_found");
    });

    await t.test("a user without a role is authenticated, and may do nothing", async (t) => {
      const authorization = `Bearer ${await signed({ realm: undefined })}`;
      t.strictSame((await get(app, "/api/v1/me", { authorization })).body.scopes, []);
      t.equal((await get(app, "/api/v1/tenants", { authorization })).status, 403);
      t.equal((await get(app, "/api/v1/tenants/acme/billing", { authorization })).status, 403);
    });

    await t.test("with single sign-on, programs can use tokens", async (t) => {
      const { status, body } = await me(token);
      t.strictSame([status, body.name, body.tenants], [200, "bi", ["globex"]]);
      t.equal((await get(app, "/api/v1/me")).status, 401);
    });

    await t.test("a token can be sent as a password", async (t) => {
      const requested = async (credentials: string) => {
        const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
        const { status, body } = await get(app, "/api/v1/me", { authorization });
        return [status, body.name ?? body.code];
      };
      t.strictSame(await requested(`anybody:${token}`), [200, "bi"]);
      t.strictSame(await requested(`:${token}`), [200, "bi"]);
      t.strictSame(await requested(`anybody:${token}x`), [401, "unauthenticated"]);
      t.strictSame(await requested(`${token}:`), [401, "unauthenticated"]);
      t.strictSame(
        await requested(`anybody:${await signed()}`),
        [401, "unauthenticated"],
        "a JWT is not accepted as a password",
      );
    });
  });

  await t.test("without the issuer's keys a JWT is refused with 503", async (t) => {
    const app = await signingOn(oidc("http://127.0.0.1:1/keys"));
    const jwt = await new SignJWT({ iss: ISSUER, aud: "costs", email: "ada@example.org" })
      .setProtectedHeader({ alg: "ES256", kid: "1" })
      .setExpirationTime("5m")
      .sign(signer.privateKey);
    const { status, body } = await get(app, "/api/v1/me", { authorization: `Bearer ${jwt}` });
    t.strictSame([status, body.code], [503, "store_unavailable"]);
  });

  await t.test("an authenticating proxy names the caller in headers", async (t) => {
    const app = await signingOn(`  auth: proxy
  proxy: {addresses: [127.0.0.2, 127.1.0.0/16]}${roles}`);
    const port = await listening(app);
    const me = async (localAddress: string, headers: Readonly<Record<string, string | string[]>>) =>
      await new Promise<{ status?: number | undefined; name?: string; tenants?: string[] }>(
        (resolve, reject) => {
          const requested = httpRequest({
            port,
            host: "127.0.0.1",
            localAddress,
            path: "/api/v1/me",
            headers,
          });
          requested.on("error", reject).on("response", async (response) => {
            const { name, tenants } = JSON.parse(Buffer.concat(await response.toArray()).toString());
            const { statusCode: status } = response;
            resolve(status === 200 ? { status, name, tenants } : { status });
          });
          requested.end();
        },
      );
    const ada = { "x-forwarded-user": "ada", "x-forwarded-groups": "x, readers,taggers" };
    const named = { status: 200, name: "ada", tenants: ["acme", "globex"] };
    t.strictSame(await me("127.0.0.2", ada), named);
    t.strictSame(await me("127.1.2.3", ada), named);
    const utf8 = Buffer.from("Ada Læsø").toString("latin1");
    t.strictSame(await me("127.0.0.2", { ...ada, "x-forwarded-user": utf8 }), { ...named, name: "Ada Læsø" });
    const nobody = { status: 401 };
    t.strictSame(await me("127.0.0.1", ada), nobody, "headers from other addresses are ignored");
    t.strictSame(await me("127.2.0.1", ada), nobody);
    t.strictSame(await me("127.0.0.2", {}), nobody);
    t.strictSame(
      await me("127.0.0.2", { ...ada, "x-forwarded-user": ["eve", "ada"] }),
      nobody,
      "the headers come from the client",
    );
    t.strictSame(await me("127.0.0.2", { ...ada, "x-forwarded-groups": ["/finops", "readers"] }), nobody);
    const { "x-forwarded-groups": _, ...roleless } = ada;
    t.strictSame(await me("127.0.0.2", roleless), { ...named, tenants: [] });
    const byToken = { status: 200, name: "bi", tenants: ["globex"] };
    t.strictSame(await me("127.0.0.1", { ...ada, authorization: `Bearer ${token}` }), byToken);
  });
});

async function listening(app: FastifyInstance): Promise<number> {
  await app.listen({ host: "127.0.0.1", port: 0 });
  return (app.server.address() as AddressInfo).port;
}
