/** Opens the browser for tests of pages. `CHROMIUM_PATH` selects another browser than Debian's. */
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import type { Test } from "tap";

export const browserPath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";

/** `hosts` maps names to addresses, such as `MAP *.example 127.0.0.1`. */
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

/** The timeout is long, because other tests run beside this one. */
const PATIENCE_MS = 120_000;

/** Opens the browser with a long timeout, and closes it with the test. */
export async function launchBrowser(t: Test, hosts = ""): Promise<Browser> {
  const browser = await openBrowser(hosts);
  browser.on("context", (context) => context.setDefaultTimeout(PATIENCE_MS));
  t.teardown(() => browser.close());
  return browser;
}

/**
 * Opens an operation on the page of the documentation. Opening it changes the fragment of the address. The browser may
 * report that only after the timeout of the click, so the click does not wait for it. Callers wait for the content
 * instead.
 */
export async function openOperation(page: Page, path: string): Promise<Locator> {
  const operation = page.locator(".opblock", { has: page.locator(`[data-path="${path}"]`) }).first();
  await operation.locator(".opblock-summary").click({ noWaitAfter: true });
  return operation;
}

/** Waits for the response of the operation that was tried out, and returns its status. */
export async function tryOperation(operation: Locator): Promise<string | null> {
  await operation.getByRole("button", { name: "Try it out" }).click();
  await operation.getByRole("button", { name: "Execute" }).click();
  return await operation.locator(".live-responses-table .response-col_status").last().textContent();
}
