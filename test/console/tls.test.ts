/** The console and the API documentation with and without TLS, under names other than loopback, in a real browser. */
import { once } from "node:events";
import { request } from "node:https";
import t from "tap";
import { startHttpServer } from "../../src/http/server/server.js";
import { createToken } from "../../src/postgres/tokens.js";
import { certificateFiles, first } from "../certificates.js";
import { launchBrowser, openOperation, tryOperation } from "../http/browser.js";
import { insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { recordTestDimensions } from "../tags/tagging.js";
import { startConsole } from "./pages.js";

const period = "start_date=2026-03-01&end_date=2026-03-01";

t.test("the console works over TLS", needs("chromium"), async (t) => {
  const {
    config,
    stores,
    logger,
    consoleFolder,
    url: plainUrl,
  } = await startConsole(t, ["auth: tokens", "allowed_hosts: [costs.example.org]"]);
  for (const tenant of ["acme", "globex"]) {
    await insertChargebacks(stores, tenant, [{ timestamp: "2026-03-01T00:00:00Z", amount: "1.25" }]);
    await recordTestDimensions(stores, tenant);
  }
  const { token } = await createToken(
    stores.postgres,
    { name: "ada", scopes: ["tags"], tenants: null, days: 1 },
    { kind: "command", name: "ada" },
  );
  const { settings } = certificateFiles(t);
  const server = await startHttpServer({
    config: { ...config, api: { ...config.api, port: 0, tls: settings } },
    stores,
    logger,
    consoleFolder,
    control: undefined,
    version: "1.2.3",
    mode: "both",
  });
  t.teardown(() => server.close());
  const { port } = new URL(server.url);
  // Browsers treat loopback as secure even without TLS, so use another name.
  const url = `https://costs.example.org:${port}`;
  const browser = await launchBrowser(t, "MAP costs.example.org 127.0.0.1");
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  t.teardown(() => context.close());
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(error.message));

  const tag = async (at: string, tenant: string) => {
    await page.goto(`${at}/tenants/${tenant}/tags?${period}`);
    await page.getByLabel("Token").fill(token);
    troubles.splice(0);
    await page.getByRole("button", { name: "Sign in" }).click();
    const form = page.locator("form.tag-form");
    await form.locator("input").nth(0).fill("team");
    await form.locator("input").nth(1).fill("Core");
    await form.locator("button[type=submit]").click();
    await form.locator("button.primary").click();
    await page.locator(".each-tag tbody tr").waitFor();
  };

  await t.test("signing in and tagging work without TLS", async (t) => {
    await tag(`http://costs.example.org:${new URL(plainUrl).port}`, "globex");
    t.strictSame(troubles, []);
  });

  await t.test("signing in and tagging work over TLS", async (t) => {
    await tag(url, "acme");
    t.strictSame(troubles, []);
  });

  await t.test("a download works over TLS", async (t) => {
    await page.goto(`${url}/tenants/acme/explorer?${period}`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "CSV", exact: true }).click(),
    ]);
    t.equal(
      download.suggestedFilename(),
      "chargebacks_acme_2026-03-01_2026-03-01_0-of-1-days_incomplete.csv",
    );
    t.strictSame(troubles, []);
  });

  await t.test("an operation can be tried in the API documentation over TLS", async (t) => {
    await page.goto(`${url}/docs`);
    t.match(await tryOperation(await openOperation(page, "/health")), /^200/);
    t.strictSame(troubles, []);
  });

  await t.test("the page over TLS has the console's content security policy", async (t) => {
    const sent = request(`https://127.0.0.1:${port}/`, { ca: first.certificate, agent: false }).end();
    const [{ headers }] = await once(sent, "response");
    t.equal(
      headers["content-security-policy"],
      "default-src 'self';base-uri 'none';form-action 'self';frame-ancestors 'none';object-src 'none'",
    );
    t.equal(headers["strict-transport-security"], "max-age=15552000");
    t.equal(headers["cache-control"], "no-cache");
  });
});
