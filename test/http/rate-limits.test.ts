/** The service limits the requests of each caller and the failed sign-ons of each address. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import t, { type Test } from "tap";
import { loadConfig } from "../../src/config/load.js";
import type { Scope } from "../../src/domain/scopes.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { createToken, revokeToken } from "../../src/postgres/tokens.js";
import { tenantText } from "../config/loading.js";
import { startService } from "./service.js";

const local = { kind: "command", name: "ada" } as const;

/** Moves the clock forward. */
function passingTime(t: Test): (ms: number) => void {
  const now = Date.now;
  let passed = 0;
  Date.now = () => now() + passed;
  t.teardown(() => {
    Date.now = now;
  });
  return (ms) => {
    passed += ms;
  };
}

t.test("requests are limited per caller", async (t) => {
  const pass = passingTime(t);
  const { config, stores, build, log } = await startService(t, ["auth: tokens"]);
  const limited = async (more = "", rate = "max_per_minute: 5, max_failed_sign_ons_per_minute: 3") => {
    const text = `api:\n  rate_limit: {${rate}}\n${more}\ntenants:\n${tenantText("acme")}\n${tenantText("globex")}`;
    const loaded = loadConfig(text, { file: "c.yaml", env: {}, ecosystems, folder: "/" });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return await build({ config: { ...config, api: loaded.config.api } });
  };
  const made = async (name: string, scopes: readonly Scope[] = ["read"]) =>
    await createToken(stores.postgres, { name, scopes, tenants: null, days: 1 }, local);
  const asker =
    (app: FastifyInstance, url = "/api/v1/tenants") =>
    async (token?: string, remoteAddress = "10.0.0.1", headers: Record<string, string> = {}) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return await app.inject({ url, remoteAddress, headers: { ...authorization, ...headers } });
    };
  const statuses = async (send: () => Promise<{ statusCode: number }>, times: number) => {
    const found: number[] = [];
    for (let time = 0; time < times; time++) found.push((await send()).statusCode);
    return found;
  };

  await t.test("each caller has a limit of its own, whatever its address", async (t) => {
    const app = await limited("  auth: tokens");
    const send = asker(app);
    const [busy, quiet] = [await made("busy"), await made("quiet")];
    t.strictSame(await statuses(() => send(busy.token), 5), [200, 200, 200, 200, 200]);
    const refused = await send(busy.token, "10.0.0.2");
    t.equal(refused.statusCode, 429);
    t.equal(refused.headers["content-type"], "application/problem+json");
    const seconds = Number(refused.headers["retry-after"]);
    t.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `${seconds} seconds`);
    t.strictSame(refused.json(), {
      type: "about:blank",
      title: "Too many requests",
      status: 429,
      code: "too_many_requests",
      detail: `More than 5 requests in a minute (api.rate_limit.max_per_minute). Try again in ${seconds} seconds.`,
    });
    t.equal(
      (await asker(app, "/api/v1/tenants/nobody/status")(busy.token)).statusCode,
      429,
      "the refusal does not reveal which names exist",
    );
    t.equal((await send(quiet.token)).statusCode, 200, "another caller from the same address is not limited");
    for (const url of ["/health", "/metrics", "/"])
      t.not((await asker(app, url)(busy.token)).statusCode, 429, `${url} is not counted`);
    t.equal((await asker(app, "/nowhere")(busy.token)).statusCode, 404);
    pass(60_000);
    t.equal((await send(busy.token)).statusCode, 200);
  });

  await t.test("without credentials, each address has a limit of its own", async (t) => {
    const send = asker(await limited());
    t.strictSame(await statuses(() => send(undefined, "10.0.0.1"), 6), [200, 200, 200, 200, 200, 429]);
    t.equal((await send(undefined, "10.0.0.2")).statusCode, 200);
    t.strictSame(await statuses(() => send(undefined, "2001:db8:0:1::1"), 5), [200, 200, 200, 200, 200]);
    t.equal(
      (await send(undefined, "2001:db8:0:1:ffff::2")).statusCode,
      429,
      "an IPv6 customer is limited by network",
    );
    t.equal((await send(undefined, "2001:db8:0:2::1")).statusCode, 200);
    const forwarded = { "x-forwarded-for": "192.0.2.7" };
    t.equal(
      (await send(undefined, "10.0.0.1", forwarded)).statusCode,
      429,
      "headers of the client do not change its address",
    );
  });

  await t.test("only an address that guesses tokens has to wait", async (t) => {
    const send = asker(await limited("  auth: tokens", "max_failed_sign_ons_per_minute: 3"));
    const [known, unknown] = [await made("known"), await made("unknown")];
    t.equal((await send(known.token)).statusCode, 200);
    log.splice(0);
    const wrong = (n: number) => `chgt_${createHash("sha256").update(String(n)).digest("base64url")}`;
    for (const n of [1, 2, 3]) t.equal((await send(wrong(n))).statusCode, 401);
    const reported = log.filter(({ level }) => level === 40);
    t.strictSame(
      reported.map(({ msg, address }) => [msg, address]),
      [["too many failed sign-ons from an address; it has to wait", "10.0.0.1"]],
    );
    const refused = await send(wrong(4));
    t.equal(refused.statusCode, 429);
    const seconds = Number(refused.headers["retry-after"]);
    t.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `${seconds} seconds`);
    t.strictSame(refused.json(), {
      type: "about:blank",
      title: "Too many failed sign-ons",
      status: 429,
      code: "too_many_failed_sign_ons",
      detail: `Too many credentials from this address were not valid. Try again in ${seconds} seconds.`,
    });
    t.equal(
      (await send(unknown.token)).statusCode,
      429,
      "the refusal does not reveal whether a token is valid",
    );
    t.equal((await send(known.token)).statusCode, 200, "a caller who signed on before is served");
    t.equal((await send()).statusCode, 401, "a request without credentials is not a failed sign-on");
    t.equal((await send(unknown.token, "10.0.0.2")).statusCode, 200);
    t.equal((await send(unknown.token)).statusCode, 200, "a valid token is accepted after the wait");
    await revokeToken(stores.postgres, known.token_id, local);
    t.equal((await send(known.token)).statusCode, 401);
    t.equal((await send(known.token)).statusCode, 429, "a revoked token counts as a failed sign-on");
    t.strictSame(reported.length, log.filter(({ level }) => level === 40).length, "the log has one line");
    pass(60_000);
    t.equal((await send(wrong(5))).statusCode, 401);
  });

  /** Sends requests over connections from several loopback addresses. */
  const connecting = async (app: FastifyInstance) => {
    await app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = app.server.address() as AddressInfo;
    return async (localAddress: string, headers: Record<string, string>) => {
      const requested = request({
        host: "127.0.0.1",
        port,
        localAddress,
        path: "/api/v1/tenants",
        headers,
        agent: false,
      });
      const [response] = await once(requested.end(), "response");
      response.resume();
      return { statusCode: Number(response.statusCode) };
    };
  };

  await t.test("behind a trusted proxy with tokens, addresses are those that it forwards", async (t) => {
    const app = await limited("  auth: tokens\n  trusted_proxies: [127.1.0.7, 127.2.0.0/16]");
    const send = await connecting(app);
    const from = (peer: string, clients: string) =>
      send(peer, { authorization: "Bearer chgt_wrong", "x-forwarded-for": clients });
    t.strictSame(await statuses(() => from("127.1.0.7", "192.0.2.1"), 4), [401, 401, 401, 429]);
    t.equal(
      (await from("127.2.3.4", "192.0.2.1")).statusCode,
      429,
      "the address does not depend on which proxy forwards it",
    );
    t.equal(
      (await from("127.2.3.4", "192.0.2.1, 127.1.0.7")).statusCode,
      429,
      "nor does it with both proxies in a row",
    );
    t.equal((await from("127.1.0.7", "192.0.2.2")).statusCode, 401);
    t.strictSame(
      await statuses(() => from("127.1.0.8", "192.0.2.3"), 4),
      [401, 401, 401, 429],
      "headers from an untrusted neighbour are ignored",
    );
    t.equal((await from("127.1.0.8", "192.0.2.4")).statusCode, 429);
    const named = { "x-forwarded-user": "ada", "x-forwarded-groups": "all" };
    t.equal(
      (await send("127.1.0.7", named)).statusCode,
      401,
      "the proxy is trusted for addresses, and not for users",
    );
  });

  await t.test("behind an authenticating proxy, addresses are those that it forwards", async (t) => {
    const app = await limited(`  auth: proxy
  proxy: {addresses: [127.1.0.0/16, "fd00::/8"]}
  roles: [{role: all, scopes: [read], every_tenant: true}]`);
    const send = await connecting(app);
    const from = async (clients: string, peer = "127.1.0.7") =>
      await send(peer, { authorization: "Bearer chgt_wrong", "x-forwarded-for": clients });
    t.strictSame(await statuses(() => from("192.0.2.1"), 4), [401, 401, 401, 429]);
    t.equal((await from("192.0.2.2")).statusCode, 401);
    t.equal((await from("192.0.2.2, 192.0.2.1")).statusCode, 429, "the last address of the list counts");
    t.equal(
      (await from("192.0.2.1, 127.1.0.9")).statusCode,
      429,
      "the address of another proxy does not count",
    );
    t.equal((await from("192.0.2.1:4711, 127.1.0.9:80")).statusCode, 429, "ports do not matter");
    let port = 1024;
    const ofIpv6 = await statuses(() => from(`[2001:db8::1]:${port++}`), 4);
    t.strictSame(ofIpv6, [401, 401, 401, 429], "ports change with each request");
    t.strictSame(await statuses(() => from("192.0.2.9", "127.0.0.1"), 3), [401, 401, 401]);
    t.equal(
      (await from("192.0.2.10", "127.0.0.1")).statusCode,
      429,
      "headers from other addresses are ignored",
    );
    const named = { "x-forwarded-user": "ada", "x-forwarded-groups": "all" };
    t.strictSame(await statuses(() => send("127.1.0.7", named), 6), [200, 200, 200, 200, 200, 429]);
    t.equal((await send("127.1.0.7", { ...named, "x-forwarded-user": "bob" })).statusCode, 200);
  });
});
