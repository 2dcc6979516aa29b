/** The page at /docs, as a browser shows it. */
import { existsSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import t from "tap";
import { operationsOf } from "../../src/http/description/document.js";
import { startService } from "./service.js";

const browserPath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
/** CI has a browser; elsewhere the test says that it needs one. */
const skip = !existsSync(browserPath) && process.env.CI === undefined && `no ${browserPath}`;

t.test("/docs in a browser", { skip }, async (t) => {
  const { app } = await startService(t);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const browser = await chromium.launch({
    executablePath: browserPath,
    chromiumSandbox: false,
    args: [
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  const faults: string[] = [];
  const elsewhere: string[] = [];
  page.on("pageerror", (error) => void faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && void faults.push(message.text()));
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "127.0.0.1") elsewhere.push(request.url());
  });

  await t.test("every operation of the document is listed", async (t) => {
    await page.goto(`http://127.0.0.1:${port}/docs`);
    await page.locator(".opblock").first().waitFor();
    const shown = await page.locator(".opblock").evaluateAll((blocks) =>
      blocks.map((block) => {
        const text = (selector: string) =>
          block.querySelector(selector)?.textContent?.replaceAll("\u200b", "").trim();
        return `${text(".opblock-summary-method")} ${text(".opblock-summary-path")}`;
      }),
    );
    const document = (await app.inject({ url: "/openapi.json" })).json();
    const wanted = operationsOf(document).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    t.ok(wanted.length > 25);
    t.same(shown.sort(), wanted.sort());
  });

  await t.test("an operation opens with its parameters, and can be tried", async (t) => {
    const health = page.locator(".opblock", { has: page.locator('[data-path="/health"]') });
    await health.locator(".opblock-summary").click();
    await health.getByRole("button", { name: "Try it out" }).click();
    await health.getByRole("button", { name: "Execute" }).click();
    const answer = health.locator(".live-responses-table .response-col_status");
    await answer.last().waitFor();
    t.match(await answer.last().textContent(), "200");

    const list = page.locator(".opblock", {
      has: page.locator('[data-path="/api/v1/tenants/{tenant_name}/chargebacks"]'),
    });
    await list.first().locator(".opblock-summary").click();
    const parameters = list.first().locator(".parameter__name");
    await parameters.first().waitFor();
    const names = await parameters.allTextContents();
    for (const name of ["tenant_name", "start_date", "timezone", "identity_id", "page_size", "cursor"]) {
      t.ok(
        names.some((each) => each.startsWith(name)),
        name,
      );
    }
  });

  t.same(faults, [], "no script fails");
  t.same(elsewhere, [], "nothing is fetched from elsewhere");
});
