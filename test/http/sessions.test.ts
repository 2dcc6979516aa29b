/** Sessions of browsers: cookies, their rotation and end, and requests that other pages cause. */
import type { InjectOptions } from "fastify";
import t from "tap";
import type { Scope } from "../../src/domain/scopes.js";
import { createToken, revokeToken } from "../../src/postgres/tokens.js";
import { dimensionIds, recordTestDimensions, writtenTags } from "../tags/tagging.js";
import { until } from "../until.js";
import { get, insertChargebacks, startService } from "./service.js";

const CONSOLE = "https://console.example.org";
const HOST = "costs.example.org";
const OWN = { host: HOST, "sec-fetch-site": "same-origin", origin: `https://${HOST}` };
const local = { kind: "command", name: "ada" } as const;

t.test("a session stands for a token", async (t) => {
  const { app, stores, log } = await startService(t, [
    "auth: tokens",
    `allowed_hosts: [${HOST}]`,
    "trusted_proxies: [127.0.0.1]",
    "enable_cors: true",
    `cors_origins: ['${CONSOLE}']`,
    "rate_limit: { max_failed_sign_ons_per_minute: 20 }",
  ]);
  const { postgres } = stores;
  await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1" }]);
  await recordTestDimensions(stores, "acme");
  const [id] = await dimensionIds(stores, "acme", "sa-1");
  const made = async (name: string, scopes: readonly Scope[], tenants: readonly string[] | null = ["acme"]) =>
    await createToken(postgres, { name, scopes, tenants, days: 1 }, local);

  const send = async (request: InjectOptions) => {
    const response = await app.inject(request);
    const [setCookie, ...more] = [response.headers["set-cookie"] ?? []].flat();
    t.strictSame(more, [], "at most one cookie is set");
    return { status: response.statusCode, body: response.json(), setCookie };
  };
  const signIn = async (token: string, headers: Record<string, string> = OWN) => {
    const signedIn = await send({
      method: "POST",
      url: "/api/v1/session",
      headers: { ...headers, authorization: `Bearer ${token}` },
    });
    return { ...signedIn, cookie: signedIn.setCookie?.split(";")[0] ?? "" };
  };
  const me = async (cookie: string, headers: Record<string, string> = OWN) =>
    await send({ url: "/api/v1/me", headers: { ...headers, cookie } });
  const forward = async (cookie: string, change: string) => {
    const secret = cookie.split("=")[1];
    const hash = "sha256(convert_to($1, 'UTF8'))";
    const { rowCount } = await postgres.query(
      `UPDATE sessions SET ${change} WHERE secret_hash = ${hash} OR former_hash = ${hash}`,
      [secret],
    );
    t.equal(rowCount, 1);
  };
  const reader = await made("reader", ["read"]);
  const tagger = await made("tagger", ["tags"]);
  const admin = await made("admin", ["admin"], null);

  await t.test("the cookie of a session has the rights of its token", async (t) => {
    const { status, body, setCookie, cookie } = await signIn(reader.token);
    t.equal(status, 200);
    t.match(setCookie, /^chargehouse-session=chgs_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const found = await me(cookie);
    t.strictSame(found.body, {
      auth: "tokens",
      name: "reader",
      session_id: body.session_id,
      scopes: ["read"],
      every_tenant: false,
      tenants: ["acme"],
      ecosystems: { acme: "generic_metrics_only" },
    });
    t.equal(found.setCookie, undefined);
    const byToken = await get(app, "/api/v1/me", { authorization: `Bearer ${reader.token}` });
    t.equal(byToken.body.session_id, null);
    t.equal((await send({ url: "/api/v1/tenants/globex/billing", headers: { ...OWN, cookie } })).status, 404);
    const { rows } = await postgres.query("SELECT * FROM sessions");
    t.notMatch(JSON.stringify(rows), /chgs_/, "the secret is not stored");
    t.notMatch(JSON.stringify(log), /chgs_/, "the secret is not logged");
  });

  await t.test("over TLS, the cookie belongs to this host only", async (t) => {
    const behindProxy = { ...OWN, "x-forwarded-proto": "https" };
    const { setCookie, cookie } = await signIn(reader.token, behindProxy);
    t.match(
      setCookie,
      /^__Host-chargehouse-session=chgs_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    t.equal((await me(cookie, behindProxy)).status, 200);
    const bare = cookie.replace("__Host-", "");
    t.equal((await me(bare, behindProxy)).status, 401, "a cookie that another host can set is ignored");
    t.equal((await me(`${bare}; ${cookie}`, behindProxy)).status, 200);
  });

  await t.test("a cookie that occurs twice is ignored", async (t) => {
    const [first, second] = [await signIn(reader.token), await signIn(tagger.token)];
    t.equal((await me(`${first.cookie}; ${second.cookie}`)).status, 401);
  });

  await t.test("a sign-in issues a new secret, whatever cookie the browser has", async (t) => {
    const planted = await signIn(admin.token);
    const signedIn = await send({
      method: "POST",
      url: "/api/v1/session",
      headers: { ...OWN, cookie: planted.cookie, authorization: `Bearer ${reader.token}` },
    });
    t.not(signedIn.setCookie?.split(";")[0], planted.cookie);
    t.equal((await me(signedIn.setCookie?.split(";")[0] ?? "")).body.name, "reader");
    t.equal((await me(planted.cookie)).body.name, "admin", "the other session is unchanged");
    const again = await send({
      method: "POST",
      url: "/api/v1/session",
      headers: { ...OWN, cookie: planted.cookie },
    });
    t.strictSame(
      [again.status, again.body.code],
      [400, "session_needs_token"],
      "a session begets no session",
    );
  });

  await t.test("credentials in `Authorization` take precedence over the cookie", async (t) => {
    const { cookie } = await signIn(admin.token);
    const both = await send({
      url: "/api/v1/me",
      headers: { ...OWN, cookie, authorization: `Bearer ${reader.token}` },
    });
    t.strictSame([both.body.name, both.body.session_id], ["reader", null]);
    for (const authorization of ["Bearer chgt_none", "Basic YTpi", "nonsense"]) {
      const wrong = await send({ url: "/api/v1/me", headers: { ...OWN, cookie, authorization } });
      t.strictSame([wrong.status, wrong.body.code], [401, "unauthenticated"], authorization);
    }
  });

  await t.test("a change with the cookie needs the proof that a page of this service sent it", async (t) => {
    const { cookie } = await signIn(tagger.token);
    const secure = await signIn(tagger.token, { ...OWN, "x-forwarded-proto": "https" });
    const tag = async (headers: Record<string, string>, over = cookie) => {
      const { status, body } = await send({
        method: "POST",
        url: `/api/v1/tenants/acme/chargebacks/${id}/tags`,
        headers: { host: HOST, cookie: over, ...headers },
        payload: { tag_key: "team", display_name: "Platform" },
      });
      if (status === 201) {
        const url = `/api/v1/tenants/acme/tags/${body.tag_id}`;
        await app.inject({ method: "DELETE", url, headers: { ...OWN, cookie } });
        return 201;
      }
      t.strictSame(await writtenTags(stores, "acme"), [], "nothing was written");
      return `${status} ${body.code}`;
    };
    const [ignored, refused] = ["401 unauthenticated", "403 cross_site_request"];
    const cases: [Record<string, string>, 201 | string][] = [
      [{ "sec-fetch-site": "same-origin" }, 201],
      [{ origin: `https://${HOST}` }, 201],
      [{ origin: `http://${HOST}` }, 201],
      [{}, ignored],
      [{ "sec-fetch-site": "none" }, ignored],
      [{ "sec-fetch-site": "same-site", origin: CONSOLE }, ignored],
      [{ "sec-fetch-site": "cross-site", origin: CONSOLE }, ignored],
      [{ origin: CONSOLE }, ignored],
      [{ "sec-fetch-site": "same-site", origin: "https://wiki.example.org" }, refused],
      [{ "sec-fetch-site": "cross-site", origin: "https://evil.example" }, refused],
      [{ origin: "https://evil.example" }, refused],
      [{ origin: "null" }, refused],
    ];
    for (const [headers, wanted] of cases) t.equal(await tag(headers), wanted, JSON.stringify(headers));
    const overTls = async (origin: string) =>
      await tag({ "x-forwarded-proto": "https", origin }, secure.cookie);
    t.equal(await overTls(`https://${HOST}`), 201);
    t.equal(
      await overTls(`http://${HOST}`),
      ignored,
      "anybody on the network can write a page of plain HTTP",
    );
  });

  await t.test("a page of another origin can neither read with the cookie nor begin a session", async (t) => {
    const { cookie } = await signIn(reader.token);
    const read = async (headers: Record<string, string>) =>
      (await me(cookie, { host: HOST, ...headers })).status;
    t.equal(await read({}), 200, "browsers send neither header over plain HTTP");
    t.equal(await read({ "sec-fetch-site": "none" }), 200, "the user opened the address");
    t.equal(await read({ "sec-fetch-site": "same-site" }), 401);
    t.equal(await read({ "sec-fetch-site": "cross-site" }), 401);
    t.equal(await read({ origin: CONSOLE }), 401, "not even a page of cors_origins");
    const { headers } = await app.inject({
      url: "/api/v1/me",
      headers: { host: HOST, cookie, origin: CONSOLE },
    });
    t.equal(headers["access-control-allow-origin"], CONSOLE);
    t.equal(headers["access-control-allow-credentials"], undefined);
    const planted = await signIn(reader.token, { host: HOST, origin: CONSOLE });
    t.strictSame(
      [planted.status, planted.body.code, planted.setCookie],
      [403, "cross_site_request", undefined],
    );
  });

  await t.test("the secret rotates without throwing parallel tabs out", async (t) => {
    const { cookie: first } = await signIn(reader.token);
    await forward(first, "secret_at = now() - interval '16 minutes'");
    // All of them have read the row before one of them changes it.
    const lock = await postgres.connect();
    await lock.query("BEGIN");
    await lock.query("SELECT * FROM sessions FOR UPDATE");
    const sent = [1, 2, 3, 4].map(() => me(first));
    await until("the requests wait for the row", async () => {
      const waiting = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      return (await postgres.query(waiting)).rows[0].n === 4;
    });
    await lock.query("COMMIT");
    lock.release();
    const parallel = await Promise.all(sent);
    t.strictSame(
      parallel.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const issued = parallel.flatMap(({ setCookie }) => setCookie ?? []);
    t.equal(issued.length, 1, "one of the responses has the new secret");
    const second = issued[0]?.split(";")[0] ?? "";
    t.not(second, first);
    t.equal((await me(first)).status, 200, "the former secret is valid until the new one is used");
    t.equal((await me(second)).status, 200);
    t.equal((await me(first)).status, 200, "and a minute longer");
    await forward(second, "former_until = now()");
    t.equal((await me(first)).status, 401);
    t.equal((await me(second)).status, 200);
  });

  await t.test("a new secret that never arrived is issued again", async (t) => {
    const { cookie: first } = await signIn(reader.token);
    await forward(first, "secret_at = now() - interval '16 minutes'");
    const lost = (await me(first)).setCookie?.split(";")[0] ?? "";
    t.equal((await me(first)).setCookie, undefined, "it may still arrive");
    await forward(first, "secret_at = now() - interval '2 minutes'");
    const again = (await me(first)).setCookie?.split(";")[0] ?? "";
    t.match(again, /^chargehouse-session=chgs_/);
    t.equal((await me(lost)).status, 401);
    t.equal((await me(again)).status, 200);
  });

  await t.test("a session ends when it is idle, and at the latest after max_hours", async (t) => {
    for (const [change, status] of [
      ["last_used_at = now() - interval '59 minutes'", 200],
      ["last_used_at = now() - interval '61 minutes'", 401],
      ["signed_in_at = now() - interval '719 minutes'", 200],
      ["signed_in_at = now() - interval '721 minutes'", 401],
    ] as const) {
      const { cookie } = await signIn(reader.token);
      await forward(cookie, change);
      const { status: found, body } = await me(cookie);
      t.equal(found, status, change);
      if (status === 401) t.equal(body.detail, "The session has ended or expired. Sign in again.");
      else t.equal((await me(cookie)).status, 200);
    }
    const { cookie } = await signIn(reader.token);
    await forward(cookie, "last_used_at = now() - interval '59 minutes'");
    await me(cookie);
    await forward(cookie, "last_used_at = last_used_at - interval '2 minutes'");
    t.equal((await me(cookie)).status, 200, "a request keeps it alive");
    await signIn(reader.token);
    const { rows } = await postgres.query(
      "SELECT count(*)::int AS ended FROM sessions WHERE last_used_at < now() - interval '1 hour'",
    );
    t.equal(rows[0].ended, 0, "the next sign-in removes those that ended");
  });

  await t.test("revoking a token ends its sessions", async (t) => {
    const token = await made("short", ["read"]);
    const { cookie } = await signIn(token.token);
    t.equal((await me(cookie)).status, 200);
    await revokeToken(postgres, token.token_id, local);
    t.equal((await me(cookie)).status, 401);
  });

  await t.test("signing out ends the session, or all sessions of the caller", async (t) => {
    const token = await made("leaver", ["read"]);
    const [first, second, third] = [
      await signIn(token.token),
      await signIn(token.token),
      await signIn(token.token),
    ];
    const other = await signIn(reader.token);
    const signOut = async (cookie: string, query = "") =>
      await send({ method: "DELETE", url: `/api/v1/session${query}`, headers: { ...OWN, cookie } });
    const left = await signOut(first.cookie);
    t.strictSame(left.body, { ended_count: 1 });
    t.equal(left.setCookie, "chargehouse-session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    t.equal((await me(first.cookie)).status, 401);
    t.equal((await me(second.cookie)).status, 200);
    t.strictSame((await signOut(second.cookie, "?everywhere=true")).body, { ended_count: 2 });
    t.equal((await me(third.cookie)).status, 401);
    t.equal((await me(other.cookie)).status, 200, "sessions of others stay");
  });

  await t.test("an administrator lists and ends sessions, and the audit has who did", async (t) => {
    const token = await made("watched", ["read"]);
    const { cookie, body: watched } = await signIn(token.token);
    const authorization = `Bearer ${admin.token}`;
    const listed = await send({ url: "/api/v1/sessions", headers: { authorization } });
    const { signed_in_at, last_used_at, expires_at, ...shown } = listed.body[0];
    t.strictSame(shown, {
      session_id: watched.session_id,
      kind: "token",
      name: "watched",
      token_id: token.token_id,
      address: "127.0.0.1",
    });
    t.equal(Date.parse(expires_at) - Date.parse(signed_in_at), 12 * 3_600_000);
    t.ok(Math.abs(Date.parse(last_used_at) - Date.parse(signed_in_at)) <= 60_000);
    t.equal((await send({ url: "/api/v1/sessions", headers: { ...OWN, cookie } })).status, 403);
    const end = async () =>
      await send({
        method: "DELETE",
        url: `/api/v1/sessions/${watched.session_id}`,
        headers: { authorization },
      });
    t.strictSame((await end()).body, { ended_count: 1 });
    t.equal((await me(cookie)).status, 401);
    t.equal((await end()).body.code, "session_not_found");
    const { rows } = await postgres.query(
      `SELECT actor, actor_kind, action, subject FROM audit_entries
       WHERE subject->>'session_id' = $1 ORDER BY audit_id`,
      [watched.session_id],
    );
    const subject = { session_id: watched.session_id };
    t.strictSame(rows, [
      { actor: "watched", actor_kind: "token", action: "signIn", subject },
      { actor: "admin", actor_kind: "token", action: "endSession", subject: { ...subject, name: "watched" } },
    ]);
  });

  await t.test("unknown secrets count as failed sign-ons, and known sessions stay usable", async (t) => {
    const { cookie } = await signIn(reader.token);
    const unknown = (at: number) => `chargehouse-session=chgs_${String(at).padStart(43, "A")}`;
    const statuses = [];
    for (let at = 0; at < 25; at++) statuses.push((await me(unknown(at))).status);
    t.ok(statuses.includes(429), statuses.join());
    t.equal((await me(cookie)).status, 200);
    const { status, body } = await signIn(tagger.token);
    t.strictSame([status, body.code], [200, undefined], "a token that was valid before can begin a session");
  });
});

t.test("without authentication, there are no sessions", async (t) => {
  const { app } = await startService(t);
  const options = await get(app, "/api/v1/sign-in");
  t.strictSame(options.body, { auth: "none", issuer_name: null });
  const { statusCode, headers } = await app.inject({ method: "POST", url: "/api/v1/session" });
  t.strictSame([statusCode, headers["set-cookie"]], [400, undefined]);
  t.equal((await get(app, "/sign-in")).status, 404);
});
