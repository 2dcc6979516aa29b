/** The built console with a real service, in a real browser. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import type { Test } from "tap";
import { moneyOf } from "../../src/common/figures.js";
import { projectRoot } from "../../src/common/project.js";
import { launchBrowser } from "../http/browser.js";
import { startService } from "../http/service.js";
import { temporaryFolder } from "../stores.js";
import { until } from "../until.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function buildConsole(t: Test): Promise<string> {
  const folder = join(temporaryFolder(t), "console");
  await promisify(execFile)(process.execPath, [join(projectRoot(), "scripts/build-console.mjs"), folder]);
  return folder;
}

/** Starts a service with the console, and collects errors in the browser and requests to other hosts in `troubles`. */
export async function startConsole(
  t: Test,
  api: readonly string[] = [],
  tenant: readonly string[] = [],
  others: readonly string[] = [],
) {
  const [service, consoleFolder, browser] = await Promise.all([
    startService(t, api, { tenant }, others),
    buildConsole(t),
    launchBrowser(t),
  ]);
  const app = await service.build({ consoleFolder });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const troubles: string[] = [];
  return {
    ...service,
    consoleFolder,
    app,
    url,
    /** Errors of the browser's console, failed requests, and requests to another host. */
    troubles,
    /** Opens a page and waits until it has loaded. `at` is another address of the service. */
    async open(path: string, options: { width?: number; dark?: boolean; at?: string } = {}): Promise<Page> {
      const { at = url } = options;
      const context = await browser.newContext({
        viewport: { width: options.width ?? 1280, height: 900 },
        colorScheme: options.dark === true ? "dark" : "light",
      });
      t.teardown(() => context.close());
      const page = await context.newPage();
      page.on("console", (message) => {
        if (message.type() === "error") troubles.push(`${path}: ${message.text()}`);
      });
      page.on("pageerror", (error) => troubles.push(`${path}: ${error.message}`));
      page.on("request", (request) => {
        if (!request.url().startsWith(`${at}/`)) troubles.push(`${path}: requested ${request.url()}`);
      });
      await page.addInitScript(`globalThis.layoutShift = 0;
        new PerformanceObserver((list) => {
          for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) layoutShift += value;
        }).observe({ type: "layout-shift", buffered: true })`);
      await page.goto(at + path);
      await page.waitForLoadState("networkidle");
      // On a busy machine, the network may be idle between loading a view's code and its first request.
      await until(`${path} has loaded`, async () => {
        const drawn = await page.locator("main > *, form").count();
        return drawn > 0 && (await page.locator(".loading, .updating").count()) === 0;
      });
      return page;
    },
  };
}

/** Starts a proxy that delays requests, and lists which ones were aborted before their response. */
export async function startSlowProxy(t: Test, target: string) {
  const delays = { forPath: (_path: string): number => 0 };
  const abandoned: string[] = [];
  const completed: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    const forward = () => {
      const options = { method: request.method, headers: request.headers };
      const onward = httpRequest(target + path, options, (upstream) => {
        response.writeHead(upstream.statusCode ?? 502, upstream.headers);
        upstream.pipe(response);
        upstream.on("end", () => completed.push(path));
      });
      onward.on("error", () => response.destroy());
      request.pipe(onward);
    };
    const timer = setTimeout(forward, delays.forPath(path));
    response.on("close", () => {
      clearTimeout(timer);
      if (!response.writableEnded) abandoned.push(path);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, delays, abandoned, completed };
}

/** The visible text of an element, with whitespace collapsed. */
export const textOf = async (page: Page, selector: string) =>
  // biome-ignore lint/performance/useDomNodeTextContent: what a visitor sees
  (await page.locator(selector).first().innerText()).replace(/\s+/g, " ").trim();

/** Waits until `count` elements match the selector. */
export const shows = (page: Page, selector: string, count: number) =>
  until(`${count} of ${selector}`, async () => (await page.locator(selector).count()) === count);

/** The digits of an amount as shown on the page, without separators. */
export const digitsOf = (text: string) => text.replace(/[^0-9.−-]/g, "").replace("−", "-");

/** An amount in dollars, as the page shows it, without separators. */
export const inCents = (amount: string) => moneyOf(amount, "USD").replaceAll(",", "");

/** An exact amount with at least two decimal places, as the reconciliation shows it. */
export const withTwoPlaces = (amount: string) => {
  const [whole = "", fraction = ""] = amount.split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
};

/** Opens the menu in the header. */
export const openMenu = (page: Page) => page.getByRole("button", { name: /^Menu/ }).click();

/** Presses Tab until the element with this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const focused = `(() => {
    const at = document.activeElement;
    return at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent.trim() ?? at.textContent.trim();
  })()`;
  for (let steps = 0; steps < 100; steps += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(focused)) === name) return;
  }
  throw new Error(`no way to ${name} by keyboard`);
}

/** Waits until the table shows the total of the breakdown. */
export const totals = (
  page: Page,
  body: { readonly totals: readonly { readonly total_amount: string }[] },
) => {
  const wanted = inCents(body.totals[0]?.total_amount ?? "");
  return until(`a total of ${wanted}`, async () => digitsOf(await textOf(page, "tfoot .amount")) === wanted);
};

/** Fails if axe reports accessibility violations, also of the rules that it does not check by default. */
export async function noBarriers(t: Test, page: Page, where: string): Promise<void> {
  // Inject it through the debugger, because the page's content security policy forbids scripts.
  await page.evaluate(axe);
  // What was dimmed while it loaded fades in.
  await page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished))");
  const rules = `{ "target-size": { enabled: true }, "link-in-text-block": { enabled: true } }`;
  const found = await page.evaluate(`axe.run({ rules: ${rules} }).then(({ violations }) => violations
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`);
  t.strictSame(found, [], `${where} has no accessibility violations`);
}
