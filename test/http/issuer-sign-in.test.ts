/** Users sign in at a real OpenID Connect issuer, by authorization code and PKCE. */
import type { FastifyInstance } from "fastify";
import t from "tap";
import { startIssuer } from "./issuer.js";
import { get, startService } from "./service.js";

const HOST = "127.0.0.1:8080";
const CALLBACK = `http://${HOST}/sign-in/callback`;
const DEEP = "/tenants/acme/explorer?group_by=team&start_date=2026-03-01";

/** A browser for the service and the issuer, without pages. */
function browser(app: FastifyInstance, headers: Record<string, string> = {}) {
  const ofService = new Map<string, string>();
  const ofIssuer = new Map<string, string>();
  const keep = (jar: Map<string, string>, lines: readonly string[]) => {
    for (const line of lines) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
  };
  const cookieOf = (jar: Map<string, string>) => [...jar].map((pair) => pair.join("=")).join("; ");
  return {
    cookies: ofService,
    async open(path: string) {
      const response = await app.inject({
        url: path,
        headers: { host: HOST, cookie: cookieOf(ofService), ...headers },
      });
      const setCookies = [response.headers["set-cookie"] ?? []].flat();
      keep(ofService, setCookies);
      return {
        status: response.statusCode,
        location: String(response.headers.location),
        setCookies,
        response,
      };
    },
    /** Follows the issuer until it sends the browser back. Returns the path of the service. */
    async atIssuer(location: string): Promise<string> {
      for (let at = location; ; ) {
        const { origin, pathname, search } = new URL(at);
        if (pathname === "/sign-in/callback") return pathname + search;
        const response = await fetch(at, { redirect: "manual", headers: { cookie: cookieOf(ofIssuer) } });
        keep(ofIssuer, response.headers.getSetCookie());
        const next = response.headers.get("location");
        if (next === null) throw new Error(`${response.status} ${await response.text()}`);
        at = new URL(next, origin).href;
      }
    },
  };
}

t.test("users sign in at the issuer", async (t) => {
  const issuer = await startIssuer(t);
  const settings = (more: Record<string, string> = {}, roles = "readers") => [
    "auth: oidc",
    "trusted_proxies: [127.0.0.1]",
    `oidc: ${JSON.stringify({
      issuer: issuer.url,
      jwks_url: `${issuer.url}/jwks`,
      audience: "costs",
      client_id: "chargehouse",
      request_scopes: "openid groups",
      ...more,
    })}`,
    "roles:",
    "  - { role: finops, scopes: [admin], every_tenant: true }",
    `  - { role: ${roles}, scopes: [read], tenants: [acme] }`,
  ];
  const { app, stores, build, config, log } = await startService(
    t,
    settings({ client_secret: "s3cret-of-client" }),
  );
  const otherwise = async (changes: Record<string, unknown>) =>
    await build({ config: { ...config, api: { ...config.api, ...changes } } });
  const withOidc = async (changes: Record<string, unknown>) => {
    if (config.api.oidc === undefined) throw new Error("no oidc");
    return await otherwise({ oidc: { ...config.api.oidc, ...changes } });
  };
  issuer.register([CALLBACK, "https://costs.example.org/sign-in/callback"], "s3cret-of-client");
  const sessions = async () => {
    const { rows } = await stores.postgres.query("SELECT count(*)::int AS n FROM sessions");
    return rows[0].n;
  };
  const lastCause = () => String(log.findLast(({ failure }) => failure !== undefined)?.cause);
  const failureIn = (location: string) => new URL(location, "http://x").searchParams.get("sign_in_failed");

  await t.test(
    "a user comes back to the same page, with a session and the rights of the roles",
    async (t) => {
      const { open, atIssuer, cookies } = browser(app);
      const begun = await open(`/sign-in?return_to=${encodeURIComponent(DEEP)}`);
      t.equal(begun.status, 303);
      t.match(
        begun.setCookies[0],
        /^chargehouse-sign-in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
      );
      const { searchParams } = new URL(begun.location);
      t.strictSame(
        ["response_type", "client_id", "redirect_uri", "scope", "code_challenge_method"].map((name) =>
          searchParams.get(name),
        ),
        ["code", "chargehouse", CALLBACK, "openid groups", "S256"],
      );
      for (const name of ["state", "nonce", "code_challenge"]) t.match(searchParams.get(name), /^[\w-]{43}$/);
      const back = await open(await atIssuer(begun.location));
      t.strictSame([back.status, back.location], [303, DEEP]);
      t.match(
        back.setCookies.join("\n"),
        /^chargehouse-session=chgs_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/m,
      );
      t.strictSame([...cookies.keys()], ["chargehouse-session"], "the cookie of the sign-in is removed");
      const { response } = await open("/api/v1/me");
      const { session_id, ...me } = response.json();
      t.strictSame(me, {
        auth: "oidc",
        name: "ada",
        scopes: ["read", "tags", "assign", "run", "admin"],
        every_tenant: true,
        tenants: ["acme", "globex"],
        ecosystems: { acme: "generic_metrics_only", globex: "generic_metrics_only" },
      });
      const { rows } = await stores.postgres.query(
        "SELECT actor, actor_kind, action, subject FROM audit_entries ORDER BY audit_id DESC LIMIT 1",
      );
      t.strictSame(rows, [{ actor: "ada", actor_kind: "oidc", action: "signIn", subject: { session_id } }]);

      const closer = await otherwise({ roles: config.api.roles.slice(1) });
      const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
      const headers = { host: HOST, cookie };
      t.strictSame(
        (await get(closer, "/api/v1/me", headers)).body.scopes,
        [],
        "the configuration counts now",
      );
      const ofOther = await withOidc({ issuer: "https://other.example.org" });
      t.equal(
        (await get(ofOther, "/api/v1/me", headers)).status,
        401,
        "users of another issuer are not known",
      );
      const tokens = await otherwise({ auth: "tokens", oidc: undefined });
      t.equal((await get(tokens, "/api/v1/me", headers)).status, 401);
    },
  );

  await t.test("signing out everywhere ends all sessions of the user, and of nobody else", async (t) => {
    const signedIn = async (name: string) => {
      issuer.state.person = { name, groups: ["readers"] };
      const user = browser(app, { "sec-fetch-site": "same-origin" });
      await user.open(await user.atIssuer((await user.open("/sign-in")).location));
      return user;
    };
    const [bob, again, eve] = [await signedIn("bob"), await signedIn("bob"), await signedIn("eve")];
    const cookie = `chargehouse-session=${bob.cookies.get("chargehouse-session")}`;
    const ended = await app.inject({
      method: "DELETE",
      url: "/api/v1/session?everywhere=true",
      headers: { host: HOST, cookie, "sec-fetch-site": "same-origin" },
    });
    t.strictSame(ended.json(), { ended_count: 2 });
    t.equal((await again.open("/api/v1/me")).status, 401);
    t.strictSame((await eve.open("/api/v1/me")).response.json().tenants, ["acme"]);
    issuer.state.person = { name: "ada", groups: ["finops"] };
  });

  await t.test("after the sign-in, the browser goes to a page of the console only", async (t) => {
    for (const target of [
      "https://evil.example/tenants/acme/overview",
      "//evil.example/tenants/acme/overview",
      "/\\evil.example/tenants/acme/overview",
      "/.//evil.example",
      "/%2F/evil.example",
      "\\\\evil.example",
      "/\t/evil.example",
      "javascript:alert(1)",
      "/api/v1/tenants/acme/export",
      "/sign-in",
      `/tenants/acme/explorer?${"x".repeat(2000)}`,
      "",
    ]) {
      const { open, atIssuer } = browser(app);
      const begun = await open(`/sign-in?return_to=${encodeURIComponent(target)}`);
      t.equal((await open(await atIssuer(begun.location))).location, "/", JSON.stringify(target));
    }
    const forged = browser(app);
    const begun = await forged.open("/sign-in");
    const kept = JSON.parse(
      Buffer.from(forged.cookies.get("chargehouse-sign-in") ?? "", "base64url").toString(),
    );
    const changed = { ...kept, return_to: "https://evil.example/" };
    forged.cookies.set("chargehouse-sign-in", Buffer.from(JSON.stringify(changed)).toString("base64url"));
    t.equal((await forged.open(await forged.atIssuer(begun.location))).location, "/", "a forged cookie");
  });

  await t.test("a sign-in counts only in the browser that began it, once and unchanged", async (t) => {
    const before = await sessions();
    const victim = browser(app);
    const attacker = browser(app);
    const ofAttacker = await attacker.atIssuer((await attacker.open("/sign-in")).location);
    const { exchanges } = issuer.state;
    t.equal(failureIn((await victim.open(ofAttacker)).location), "not_begun", "no cookie of a sign-in");
    await victim.open("/sign-in");
    t.equal(failureIn((await victim.open(ofAttacker)).location), "not_begun", "the state of another browser");
    const tampered = browser(app);
    const path = await tampered.atIssuer((await tampered.open("/sign-in")).location);
    const changedState = path.replace(/state=.{5}/, "state=AAAAA");
    t.equal(failureIn((await tampered.open(changedState)).location), "not_begun", "a changed state");
    t.equal(failureIn((await tampered.open(path)).location), "not_begun", "the cookie is used up");
    t.equal(issuer.state.exchanges, exchanges, "no code reached the issuer");
    for (const field of ["nonce", "verifier"]) {
      const user = browser(app);
      const back = await user.atIssuer((await user.open("/sign-in")).location);
      const cookie = Buffer.from(user.cookies.get("chargehouse-sign-in") ?? "", "base64url").toString();
      const changed = { ...JSON.parse(cookie), [field]: "A".repeat(43) };
      user.cookies.set("chargehouse-sign-in", Buffer.from(JSON.stringify(changed)).toString("base64url"));
      t.equal(failureIn((await user.open(back)).location), "refused", `another ${field}`);
    }
    const mixed = browser(app);
    const back = await mixed.atIssuer((await mixed.open("/sign-in")).location);
    const ofOther = back.replace(/iss=[^&]*/, `iss=${encodeURIComponent("https://other.example.org")}`);
    t.not(ofOther, back);
    t.equal(failureIn((await mixed.open(ofOther)).location), "refused", "a response of another issuer");
    t.equal(await sessions(), before, "no session began");
    t.equal((await attacker.open(ofAttacker)).location, "/", "the attacker is signed in at home");
  });

  await t.test("a failure of the issuer is named, and its cause is in the log", async (t) => {
    const ending = async (on: FastifyInstance) => {
      const { open, atIssuer } = browser(on);
      const begun = await open(`/sign-in?return_to=${encodeURIComponent(DEEP)}`);
      const { location } = begun.location.startsWith("http")
        ? await open(await atIssuer(begun.location))
        : begun;
      t.equal(location.replace(/[?&]sign_in_failed=\w+/, ""), DEEP, "the page is kept");
      return failureIn(location);
    };
    issuer.state.person = undefined;
    t.equal(await ending(app), "denied");
    t.match(lastCause(), /access_denied: the user cancelled/);
    issuer.state.person = { name: "ada\u0007", groups: [] };
    t.equal(await ending(app), "nameless");
    issuer.state.person = { name: "ada", groups: ["finops"] };
    t.equal(await ending(await withOidc({ issuer: "http://localhost:1" })), "unreachable");
    t.equal(await ending(await withOidc({ client_secret: "wrong-s3cret" })), "refused");
    t.match(lastCause(), /invalid_client/);
    t.notMatch(JSON.stringify(log), /s3cret|eyJ/, "the log has neither the secret nor tokens");
  });

  await t.test("guessed codes count as failed sign-ons", async (t) => {
    const limited = await otherwise({
      rate_limit: { max_per_minute: 6000, max_failed_sign_ons_per_minute: 3 },
    });
    const failures = [];
    for (let at = 0; at < 5; at++) {
      const { open } = browser(limited);
      const { searchParams } = new URL((await open("/sign-in")).location);
      const back = `/sign-in/callback?code=guess${at}&state=${searchParams.get("state")}&iss=${encodeURIComponent(issuer.url)}`;
      failures.push(failureIn((await open(back)).location));
    }
    t.strictSame(failures, ["refused", "refused", "refused", "throttled", "throttled"]);
  });

  await t.test(
    "behind a proxy with TLS, the address has https and the cookies belong to this host",
    async (t) => {
      const proxied = await otherwise({ allowed_hosts: ["costs.example.org"] });
      const headers = { host: "costs.example.org", "x-forwarded-proto": "https" };
      const { open, atIssuer, cookies } = browser(proxied, headers);
      const begun = await open("/sign-in");
      t.match(begun.setCookies[0], /^__Host-chargehouse-sign-in=.*; Secure; Max-Age=600$/);
      t.equal(
        new URL(begun.location).searchParams.get("redirect_uri"),
        "https://costs.example.org/sign-in/callback",
      );
      t.equal((await open(await atIssuer(begun.location))).location, "/");
      t.strictSame([...cookies.keys()], ["__Host-chargehouse-session"]);
      t.equal((await open("/api/v1/me")).response.json().name, "ada");
    },
  );

  await t.test("roles can be in the access token, if the service would accept it", async (t) => {
    issuer.state.rolesIn = "access_token";
    const rolesOn = async (on: FastifyInstance) => {
      issuer.state.person = { name: "carol", groups: ["readers"] };
      const { open, atIssuer } = browser(on);
      await open(await atIssuer((await open("/sign-in")).location));
      const { name, tenants } = (await open("/api/v1/me")).response.json();
      return [name, tenants];
    };
    t.strictSame(await rolesOn(app), ["carol", ["acme"]]);
    t.strictSame(await rolesOn(await withOidc({ audience: "wiki" })), ["carol", []]);
    issuer.state.rolesIn = "id_token";
  });

  await t.test("a public client needs no secret", async (t) => {
    issuer.register([CALLBACK]);
    issuer.state.person = { name: "ada", groups: ["finops"] };
    const { open, atIssuer } = browser(await withOidc({ client_secret: undefined }));
    await open(await atIssuer((await open("/sign-in")).location));
    t.equal((await open("/api/v1/me")).response.json().name, "ada");
  });

  await t.test("with any host allowed, a `Host` that is no address is refused", async (t) => {
    const open = await otherwise({ allowed_hosts: ["*"] });
    for (const path of ["/sign-in", "/sign-in/callback?code=a&state=b"])
      for (const host of ["[::1", "a b"]) {
        const { statusCode, body } = await open.inject({ url: path, headers: { host } });
        t.strictSame([statusCode, JSON.parse(body).code], [421, "host_not_allowed"], `${path} ${host}`);
      }
  });

  await t.test("the sign-in page names the issuer", async (t) => {
    const { host } = new URL(issuer.url);
    t.strictSame((await get(app, "/api/v1/sign-in")).body, { auth: "oidc", issuer_name: host });
    const named = await withOidc({ issuer_name: "Example login" });
    t.equal((await get(named, "/api/v1/sign-in")).body.issuer_name, "Example login");
    const bearerOnly = await withOidc({ client_id: undefined });
    t.equal((await get(bearerOnly, "/api/v1/sign-in")).body.issuer_name, null);
    t.equal((await get(bearerOnly, "/sign-in")).status, 404);
  });
});
