/** The real browser that pages are looked at with. */
import { type Browser, chromium } from "playwright-core";
import type { Test } from "tap";

export const browserPath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";

/** `hosts`: what names mean, such as `MAP *.example 127.0.0.1`. */
export async function launchBrowser(t: Test, hosts = ""): Promise<Browser> {
  const browser = await chromium.launch({
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
  t.teardown(() => browser.close());
  return browser;
}
