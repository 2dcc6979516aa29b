/** The real browser that pages are looked at with; `CHROMIUM_PATH` names another one than Debian's. */
import { type Browser, chromium } from "playwright-core";
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

/** As `openBrowser`; it closes with the test. */
export async function launchBrowser(t: Test, hosts = ""): Promise<Browser> {
  const browser = await openBrowser(hosts);
  t.teardown(() => browser.close());
  return browser;
}
