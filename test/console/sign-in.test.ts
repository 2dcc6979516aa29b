/** Signing in and out, in a real browser with a real service that requires it. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import type { Scope } from "../../src/domain/scopes.js";
import { createToken, revokeToken } from "../../src/postgres/tokens.js";
import { NGINX, startNginx } from "../deploy/nginx.js";
import { freePort } from "../free-port.js";
import { startIssuer } from "../http/issuer.js";
import { get, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { temporaryFolder } from "../stores.js";
import { dimensionIds, recordTestDimensions, writtenTags } from "../tags/tagging.js";
import { until } from "../until.js";
import { noBarriers, openMenu, startConsole } from "./pages.js";

const period = "start_date=2026-03-01&end_date=2026-03-01";
const tags = `/tenants/acme/tags?${period}`;
const local = { kind: "command", name: "ada" } as const;

/** Serves one page, and returns its address. */
async function startPage(t: Test, html: string, host: "127.0.0.1" | "localhost"): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html").end(html);
  });
  await new Promise<void>((listening) => server.listen(0, host, listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${host}:${(server.address() as AddressInfo).port}/`;
}

const signOut = async (page: Page) => {
  await openMenu(page);
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
};

t.test("users sign in with a token", needs("chromium", NGINX), async (t) => {
  const { app, stores, open, url, log } = await startConsole(t, ["auth: tokens"]);
  await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1.25" }]);
  await recordTestDimensions(stores, "acme");
  const [id] = await dimensionIds(stores, "acme", "sa-1");
  const made = async (scopes: readonly Scope[]) => {
    const input = { name: scopes.join("-"), scopes, tenants: ["acme"], days: 1 };
    return await createToken(stores.postgres, input, local);
  };
  const [reader, tagger] = [await made(["read"]), await made(["tags"])];
  const page = await open(tags);
  const signIn = async (token: string, on = page) => {
    await on.getByLabel("Token").fill(token);
    await on.getByRole("button", { name: "Sign in" }).click();
  };

  await t.test("an invalid token leads back to the sign-in form", async (t) => {
    await noBarriers(t, page, "sign in");
    await signIn("chgt_none");
    await page.getByText("The service rejected this token.").waitFor();
    await signIn("not a token…");
    await page.getByText("The service rejected this token.").waitFor();
    t.strictSame(await page.context().cookies(), []);
  });

  await t.test("the console hides what the token does not allow", async (t) => {
    await signIn(reader.token);
    await page.getByRole("heading", { name: "Labels", exact: true }).waitFor();
    t.equal(page.url(), url + tags, "the address is kept");
    t.equal(await page.locator("form.tag-form").count(), 0);
    t.strictSame(
      await page.getByLabel("Tenant", { exact: true }).locator("option").allTextContents(),
      ["acme"],
      "other tenants are not listed",
    );
    await signOut(page);
    await signIn(tagger.token);
    await page.locator("form.tag-form").waitFor();
    t.equal(await page.getByLabel("Author").count(), 0, "the author is known from the token");
  });

  await t.test("scripts can read neither the token nor the secret of the session", async (t) => {
    const cookies = await page.context().cookies();
    t.strictSame(
      cookies.map(({ name, httpOnly, sameSite, expires }) => ({ name, httpOnly, sameSite, expires })),
      [{ name: "chargehouse-session", httpOnly: true, sameSite: "Strict", expires: -1 }],
    );
    const readable = "JSON.stringify([document.cookie, { ...sessionStorage }, { ...localStorage }])";
    t.notMatch(await page.evaluate(readable), /chg[ts]_/);
  });

  await t.test("a new tag has the caller as its author", async (t) => {
    const form = page.locator("form.tag-form");
    await form.locator("input").nth(0).fill("team");
    await form.locator("input").nth(1).fill("Core");
    await form.locator("button[type=submit]").click();
    await form.locator("button.primary").click();
    await page.locator(".each-tag tbody tr").waitFor();
    const { body } = await get(app, "/api/v1/tenants/acme/tags", { authorization: `Bearer ${reader.token}` });
    t.strictSame(
      body.items.map(({ created_by }: { created_by: string }) => created_by),
      ["tags"],
    );
  });

  await t.test("a download is the file that the API returns", async (t) => {
    await page.goto(`${url}/tenants/acme/explorer?${period}`);
    const link = page.getByRole("link", { name: "CSV", exact: true });
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    t.equal(
      download.suggestedFilename(),
      "chargebacks_acme_2026-03-01_2026-03-01_0-of-1-days_incomplete.csv",
    );
    const file = await app.inject({
      url: String(await link.getAttribute("href")),
      headers: { authorization: `Bearer ${reader.token}` },
    });
    const columns =
      "timestamp,resource_id,product_category,product_type,identity_id,cost_type,amount,currency,allocation_method,tags";
    t.equal(file.body.split("\n")[0], columns);
    t.equal(file.body.trim().split("\n").length, 2);
    t.equal(readFileSync(await download.path(), "utf8"), file.body);
  });

  await t.test("a link in another tab needs no sign-in, and one sign-out is for all tabs", async (t) => {
    const other = await page.context().newPage();
    await other.goto(url + tags);
    await other.locator("form.tag-form").waitFor();
    await signOut(page);
    await page.getByLabel("Token").waitFor();
    await other.getByLabel("Token").waitFor();
    t.equal(other.url(), url + tags);
    await signIn(tagger.token, other);
    await other.locator("form.tag-form").waitFor();
    await page.getByRole("link", { name: "CSV", exact: true }).waitFor();
    t.equal(await page.getByLabel("Token").count(), 0, "one sign-in is for all tabs as well");
    await other.close();
  });

  await t.test("pages of other origins change nothing with the session of the browser", async (t) => {
    const before = await writtenTags(stores, "acme");
    const target = `${url}/api/v1/tenants/acme/chargebacks/${id}/tags`;
    const tag = JSON.stringify({ tag_key: "stolen", display_name: "x" });
    const attack = `<form method="post" enctype="text/plain" action="${target}" target="into">
      <input name='{"tag_key":"stolen","display_name":"x","a":"' value='"}'></form><iframe name="into"></iframe>
      <script>
        const options = { method: "POST", credentials: "include", mode: "no-cors", body: ${JSON.stringify(tag)} };
        Promise.allSettled([
          fetch(${JSON.stringify(target)}, options),
          fetch(${JSON.stringify(target)}, { ...options, mode: "cors", headers: { "content-type": "application/json" } }),
          fetch(${JSON.stringify(`${url}/api/v1/session`)}, { ...options, mode: "cors", method: "DELETE" }),
          fetch(${JSON.stringify(`${url}/api/v1/me`)}, { credentials: "include" }).then((read) => read.json()),
        ]).then((results) => {
          document.title = "attacked " + results.map(({ status }) => status).join();
          document.forms[0].submit();
        });
      </script>`;
    // The port is another origin of the same site, to whose requests the browser adds even strict cookies.
    for (const host of ["127.0.0.1", "localhost"] as const) {
      const evil = await page.context().newPage();
      const logged = log.length;
      await evil.goto(await startPage(t, attack, host));
      const arrived = () =>
        log
          .slice(logged)
          .filter(({ msg, path }) => msg === "request" && path === new URL(target).pathname)
          .map(({ method, status }) => `${method} ${status}`);
      await until(
        "the attack is over",
        async () => arrived().filter((each) => each.startsWith("POST")).length === 2,
      );
      t.match(await evil.title(), /^attacked \w+,rejected,rejected,rejected$/);
      t.strictSame([...new Set(arrived())].sort(), ["OPTIONS 401", "POST 403"], host);
      await evil.close();
    }
    t.strictSame(await writtenTags(stores, "acme"), before, "nothing was written");
    const own = await page.evaluate(
      `fetch("${target}", { method: "POST", headers: { "content-type": "application/json" }, body: ${JSON.stringify(tag)} })
        .then(({ status }) => status)`,
    );
    t.equal(own, 201, "the session still works in its own pages");
  });

  await t.test("a tenant that the user may not see is named, and so is the user", async (t) => {
    for (const tenant of ["globex", "nowhere"]) {
      await page.goto(`${url}/tenants/${tenant}/overview`);
      await page.getByText(`You have no access to ${tenant}, or it does not exist`).waitFor();
      t.equal(await page.getByText("You are signed in as tags.").count(), 1);
    }
  });

  await t.test("behind a proxy whose sign-in has ended, the page reloads and comes back", async (t) => {
    const [proxy, login] = [await freePort(), await freePort()];
    const back = `http://127.0.0.1:${proxy}`;
    await startNginx(
      t,
      temporaryFolder(t),
      `server {
        listen 127.0.0.1:${proxy};
        location = /proxy-sign-in { add_header Set-Cookie "proxy=in; Path=/; HttpOnly"; return 302 $arg_to; }
        location / {
          if ($cookie_proxy != "in") { return 302 http://localhost:${login}/?to=$request_uri; }
          proxy_pass ${url};
          proxy_set_header Host $http_host;
        }
      }
      server {
        listen 127.0.0.1:${login};
        location / { default_type text/html; return 200 '<a href="${back}/proxy-sign-in?to=$arg_to">Proxy login</a>'; }
      }`,
    );
    const tab = await page.context().newPage();
    await until("nginx responds", async () => (await fetch(back).catch(() => undefined)) !== undefined);
    await tab.goto(`${back}${tags}`);
    await tab.getByRole("link", { name: "Proxy login" }).click();
    await tab.locator("form.tag-form").waitFor();
    await tab.waitForLoadState("networkidle");
    await tab.context().clearCookies({ name: "proxy" });
    await tab.getByRole("link", { name: "Inventory" }).click();
    await tab.getByRole("link", { name: "Proxy login" }).click();
    await tab.getByRole("heading", { name: "Inventory" }).waitFor();
    t.equal(tab.url().split("?")[0], `${back}/tenants/acme/inventory`);
    await tab.close();
  });

  await t.test("an expired session and a revoked token lead back to the sign-in form", async (t) => {
    await page.goto(url + tags);
    await page.locator("form.tag-form").waitFor();
    await stores.postgres.query("UPDATE sessions SET last_used_at = now() - interval '2 hours'");
    await page.reload();
    await signIn(tagger.token);
    await page.locator("form.tag-form").waitFor();
    await revokeToken(stores.postgres, tagger.token_id, local);
    await page.reload();
    await signIn(tagger.token);
    await page.getByText("The service rejected this token. It may be wrong, expired or revoked.").waitFor();
    t.equal(page.url(), url + tags);
  });
});

t.test("users sign in at the issuer", needs("chromium"), async (t) => {
  const issuer = await startIssuer(t);
  const { stores, open, url } = await startConsole(t, [
    "auth: oidc",
    `oidc: { issuer: "${issuer.url}", jwks_url: "${issuer.url}/jwks", audience: costs, client_id: chargehouse, issuer_name: Example login, request_scopes: openid groups }`,
    "roles: [{ role: readers, scopes: [read], tenants: [acme] }]",
  ]);
  issuer.register([`${url}/sign-in/callback`]);
  issuer.state.person = { name: "ada@example.org", groups: ["readers"] };
  await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1.25" }]);
  await recordTestDimensions(stores, "acme");
  const deep = `/tenants/acme/explorer?${period}&group_by=product_type`;
  const page = await open(deep);
  const button = page.getByRole("link", { name: "Sign in with Example login" });

  await t.test("a deep link is kept, and the header names the user", async (t) => {
    await noBarriers(t, page, "sign in");
    await button.click();
    await page.getByRole("link", { name: "CSV", exact: true }).waitFor();
    t.equal(page.url(), url + deep);
    await openMenu(page);
    await page.getByText("Signed in as ada@example.org").waitFor();
    await page.keyboard.press("Escape");
  });

  await t.test("a tab that waits for the sign-in of another continues", async (t) => {
    const second = await page.context().newPage();
    await second.goto(url + deep);
    await second.getByRole("link", { name: "CSV", exact: true }).waitFor();
    await signOut(second);
    await button.waitFor();
    await second.getByRole("link", { name: "Sign in with Example login" }).click();
    await second.getByRole("link", { name: "CSV", exact: true }).waitFor();
    await page.getByRole("link", { name: "CSV", exact: true }).waitFor();
    t.equal(page.url(), url + deep);
    await second.close();
  });

  await t.test("signing out everywhere ends the sessions of other browsers, too", async (t) => {
    const elsewhere = await open(deep);
    await elsewhere.getByRole("link", { name: "Sign in with Example login" }).click();
    await elsewhere.getByRole("link", { name: "CSV", exact: true }).waitFor();
    await openMenu(page);
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await button.waitFor();
    await elsewhere.reload();
    await elsewhere.getByRole("link", { name: "Sign in with Example login" }).waitFor();
    t.strictSame((await stores.postgres.query("SELECT * FROM sessions")).rows, []);
  });

  await t.test("a failed sign-in is explained, and the address stays as it was", async (t) => {
    issuer.state.person = undefined;
    // Otherwise the issuer still knows the user.
    await page.context().clearCookies();
    await button.click();
    await page.getByText("Example login did not let you in, or you cancelled the sign-in.").waitFor();
    t.equal(page.url(), url + deep);
    await page.goto(`${url}${deep}&sign_in_failed=%3Cb%3Eevil`);
    await page.getByText("The sign-in at Example login failed.").waitFor();
    t.equal(page.url(), url + deep);
  });
});
