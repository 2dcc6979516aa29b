/** Opens the page /docs in a browser. */
import type { AddressInfo } from "node:net";
import t from "tap";
import { operationsOf } from "../../src/http/description/openapi-types.js";
import { holds } from "../holds.js";
import { needs } from "../programs.js";
import { browserPath, launchBrowser, openOperation, tryOperation } from "./browser.js";
import { insertChargebacks, startService } from "./service.js";

t.test("/docs works in a real browser", needs(browserPath), async (t) => {
  const { app, stores } = await startService(t);
  await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1" }]);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const browser = await launchBrowser(t);
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
    const shown = await page
      .locator(".opblock")
      .evaluateAll((blocks) =>
        blocks.map((block) =>
          [".opblock-summary-method", ".opblock-summary-path"]
            .map((part) => block.querySelector(part)?.textContent?.replaceAll("\u200b", "").trim())
            .join(" "),
        ),
      );
    const document = (await app.inject({ url: "/openapi.json" })).json();
    const wanted = operationsOf(document).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    t.ok(wanted.length > 25);
    t.same(shown.sort(), wanted.sort());
  });

  await t.test("an operation opens with its parameters, and can be tried", async (t) => {
    holds(t, await tryOperation(await openOperation(page, "/health")), "200");
    const list = await openOperation(page, "/api/v1/tenants/{tenant_name}/chargebacks");
    const parameters = list.locator(".parameter__name");
    await parameters.first().waitFor();
    const names = await parameters.allTextContents();
    for (const name of ["tenant_name", "start_date", "timezone", "identity_id", "page_size", "cursor"]) {
      t.ok(
        names.some((each) => each.startsWith(name)),
        name,
      );
    }
  });

  await t.test("an operation that is tried without input returns all rows", async (t) => {
    const operation = (method: string, path: string) =>
      page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${path}"]`) }).first();
    const tried = async (method: string, path: string) => {
      const block = operation(method, path);
      const summary = block.locator(".opblock-summary-control");
      if ((await summary.getAttribute("aria-expanded")) !== "true") await summary.click();
      await block.getByRole("button", { name: "Try it out" }).click();
      const responded = page.waitForResponse(
        (response) => response.request().method() === method.toUpperCase(),
      );
      await block.getByRole("button", { name: "Execute" }).click();
      const response = await responded;
      return {
        url: response.url().replace(/^.*\d\/api/, "/api"),
        status: response.status(),
        body: await response.text(),
        block,
      };
    };
    const list = await tried("get", "/api/v1/tenants/{tenant_name}/chargebacks");
    t.equal(list.url, "/api/v1/tenants/acme/chargebacks?page=1&page_size=100");
    t.strictSame([list.status, JSON.parse(list.body).total], [200, 1]);
    const tenants = await list.block
      .locator("tr[data-param-name=tenant_name] select option")
      .allTextContents();
    t.strictSame(tenants, ["acme", "globex"]);

    const file = await tried("post", "/api/v1/tenants/{tenant_name}/export");
    t.strictSame([file.status, file.body.trim().split("\n").length], [200, 2]);
    const bulk = await tried("post", "/api/v1/tenants/{tenant_name}/tags/bulk-by-filter");
    t.equal(bulk.status, 400);
    const fields = JSON.parse(bulk.body).errors.map(({ name }: { name: string }) => name);
    t.strictSame(fields, ["tag_key", "display_name", "created_by"]);
  });

  t.same(
    faults.filter((fault) => !fault.includes("status of 400")),
    [],
    "no script fails",
  );
  t.same(elsewhere, [], "the page loads nothing from other hosts");
});
