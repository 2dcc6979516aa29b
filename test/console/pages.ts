/** The built console on a real service, in a real browser. */
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
import { projectRoot } from "../../src/config/project.js";
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

/** A service with the console, and pages that fail the test for what a visitor would never see: errors, and requests to elsewhere. */
export async function startConsole(t: Test, api: readonly string[] = [], tenant: readonly string[] = []) {
  const [service, consoleFolder, browser] = await Promise.all([
    startService(t, api, { tenant }),
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
    /** `at`: another address of the service. */
    async open(path: string, options: { width?: number; dark?: boolean; at?: string } = {}): Promise<Page> {
      const { at = url } = options;
      const page = await browser.newPage({
        viewport: { width: options.width ?? 1280, height: 900 },
        colorScheme: options.dark === true ? "dark" : "light",
      });
      t.teardown(() => page.close());
      page.on("console", (message) => {
        if (message.type() === "error") troubles.push(`${path}: ${message.text()}`);
      });
      page.on("pageerror", (error) => troubles.push(`${path}: ${error.message}`));
      page.on("request", (request) => {
        if (!request.url().startsWith(`${at}/`)) troubles.push(`${path}: asked ${request.url()}`);
      });
      await page.goto(at + path);
      await page.waitForLoadState("networkidle");
      // On a busy machine the network is idle also between the code of a view and its first request.
      await until(`${path} has loaded`, async () => {
        const drawn = await page.locator("main > *, form").count();
        return drawn > 0 && (await page.locator(".loading, .updating").count()) === 0;
      });
      return page;
    },
  };
}

/** A slow way to the service: a proxy that holds requests back, and says which were given up before their answer. */
export async function startSlowProxy(t: Test, target: string) {
  const delays = { of: (_path: string): number => 0 };
  const abandoned: string[] = [];
  const answered: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    const forward = () => {
      const options = { method: request.method, headers: request.headers };
      const onward = httpRequest(target + path, options, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.on("end", () => answered.push(path));
      });
      onward.on("error", () => response.destroy());
      request.pipe(onward);
    };
    const timer = setTimeout(forward, delays.of(path));
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
  return { url: `http://127.0.0.1:${port}`, delays, abandoned, answered };
}

/** The text of an element without the spaces that only lay it out. */
export const textOf = async (page: Page, selector: string) =>
  // biome-ignore lint/performance/useDomNodeTextContent: what a visitor sees
  (await page.locator(selector).first().innerText()).replace(/\s+/g, " ").trim();

/** Waits for what a click leads to. */
export const shows = (page: Page, selector: string, count: number) =>
  until(`${count} of ${selector}`, async () => (await page.locator(selector).count()) === count);

/** The digits of an amount as it stands on the page. */
export const digitsOf = (text: string) => text.replace(/[^0-9.−-]/g, "").replace("−", "-");

/** As the page shows it: with two places at least. */
export const withTwoPlaces = (amount: string) => {
  const [whole = "", fraction = ""] = amount.split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
};

/** Presses Tab until an element of this name has the focus: by keyboard alone, as a visitor without a mouse gets there. */
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

/** Waits until the last line of the table has the total of the breakdown. */
export const totals = (
  page: Page,
  body: { readonly totals: readonly { readonly total_amount: string }[] },
) => {
  const wanted = withTwoPlaces(body.totals[0]?.total_amount ?? "");
  return until(`a total of ${wanted}`, async () => digitsOf(await textOf(page, "tfoot .amount")) === wanted);
};

export async function noBarriers(t: Test, page: Page, where: string): Promise<void> {
  // By the debugger: as a script the page's own policy would refuse it.
  await page.evaluate(axe);
  const found = await page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`);
  t.strictSame(found, [], `no barriers in ${where}`);
}
