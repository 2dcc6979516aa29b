/** The built console on a real service, in a real browser. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import type { Test } from "tap";
import { projectRoot } from "../../src/config/project.js";
import { launchBrowser } from "../http/browser.js";
import { startService } from "../http/service.js";
import { temporaryFolder } from "../stores.js";

async function buildConsole(t: Test): Promise<string> {
  const folder = join(temporaryFolder(t), "console");
  await promisify(execFile)(process.execPath, [join(projectRoot(), "scripts/build-console.mjs"), folder]);
  return folder;
}

/** A service with the console, and pages that fail the test for what a visitor would never see: errors, and requests to elsewhere. */
export async function startConsole(t: Test, api: readonly string[] = []) {
  const [service, consoleFolder, browser] = await Promise.all([
    startService(t, api),
    buildConsole(t),
    launchBrowser(t),
  ]);
  const app = await service.build({ consoleFolder });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const troubles: string[] = [];
  return {
    ...service,
    app,
    url,
    /** Errors of the browser's console, failed requests, and requests to another host. */
    troubles,
    async open(path: string, options: { width?: number; dark?: boolean } = {}): Promise<Page> {
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
        if (!request.url().startsWith(`${url}/`)) troubles.push(`${path}: asked ${request.url()}`);
      });
      await page.goto(url + path);
      await page.waitForLoadState("networkidle");
      return page;
    },
  };
}
