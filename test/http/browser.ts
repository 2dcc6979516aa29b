/** The real browser that pages are looked at with; `CHROMIUM_PATH` names another one than Debian's. */
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import type { Test } from "tap";

export const browserPath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";

/** `hosts`: what names mean, such as `MAP *.example 127.0.0.1`. */
export async function openBrowser(hosts = ""): Promise<Browser> {
  return await chromium.launch({
    executablePath: browserPath,
    chromiumSandbox: false,
    args: [
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-component-update",
      "--disable-sync",
      ...(hosts === "" ? [] : [`--host-resolver-rules=${hosts}`]),
    ],
  });
}

/** What a page does takes as long as the other tests beside it leave room for. */
const PATIENCE_MS = 120_000;

/** As `openBrowser`, and patient; it closes with the test. */
export async function launchBrowser(t: Test, hosts = ""): Promise<Browser> {
  const browser = await openBrowser(hosts);
  browser.on("context", (context) => context.setDefaultTimeout(PATIENCE_MS));
  t.teardown(() => browser.close());
  return browser;
}

/**
 * Opens an operation on the page of the documentation. Opening it changes the fragment of the address, which the browser may only report after the
 * click's own time is over, so that the click does not wait for it: whoever calls waits for what opens.
 */
export async function openOperation(page: Page, path: string): Promise<Locator> {
  const operation = page.locator(".opblock", { has: page.locator(`[data-path="${path}"]`) }).first();
  await operation.locator(".opblock-summary").click({ noWaitAfter: true });
  return operation;
}

/** The status of the response after the operation was tried out, once it is there. */
export async function tryOperation(operation: Locator): Promise<string | null> {
  await operation.getByRole("button", { name: "Try it out" }).click();
  await operation.getByRole("button", { name: "Execute" }).click();
  return await operation.locator(".live-responses-table .response-col_status").last().textContent();
}
