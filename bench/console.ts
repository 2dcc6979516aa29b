/**
 * Benchmark of the console's pages in a real browser, over all rows of the tenant, and of the request that fills most
 * of them.
 */
import type { Page } from "playwright-core";
import { openBrowser } from "../test/http/browser.js";
import type { Benchmark } from "./benchmark.js";
import { readAll } from "./http-client.js";
import { type Figure, median, medianMs } from "./measure.js";
import { allDays } from "./organisation.js";

const days = `start_date=${allDays[0]}&end_date=${allDays.at(-1)}`;

const pages = {
  overview: `overview?${days}`,
  explorer: `explorer?${days}&group_by=identity_id`,
  "explorer, three columns": `explorer?${days}&group_by=identity_id&group_by=product_type&group_by=cost_type`,
};

const breakdowns = {
  "breakdown by identity": "group_by=identity_id",
  "breakdown by identity, weeks": "group_by=identity_id&time_bucket=week",
  "breakdown by identity × product × cost type":
    "group_by=identity_id&group_by=product_type&group_by=cost_type",
};

export const benchConsole: Benchmark = async ({ store, repeat, service }) => {
  const { url } = await service();
  const figures: Figure[] = [];
  for (const [name, query] of Object.entries(breakdowns)) {
    const path = `${url}/api/v1/tenants/${store.tenantName}/chargebacks/breakdown?${days}&${query}`;
    // The service caches responses, so each turn requests one more group.
    let limit = 10;
    const send = () => readAll(`${path}&limit=${limit}`);
    const value = await medianMs(repeat, async () => {
      limit += 1;
      await send();
    });
    figures.push({
      benchmark: "console",
      name,
      unit: "ms",
      value,
      note: `kept: ${(await medianMs(repeat, send)).toFixed(1)} ms`,
    });
  }
  const browser = await openBrowser();
  try {
    for (const [name, path] of Object.entries(pages)) {
      const loads: Load[] = [];
      for (let turn = 0; turn <= repeat; turn++) {
        // An empty browser cache, as for a user who opens the link for the first time.
        const context = await browser.newContext();
        loads.push(await load(await context.newPage(), `${url}/tenants/${store.tenantName}/${path}`));
        await context.close();
      }
      const [first, ...counted] = loads;
      const figure = (what: string, value: number, most?: number): Figure => ({
        benchmark: "console",
        name: `${name}: ${what}`,
        value,
        unit: "ms",
        ...(most !== undefined && { target: { at: "most", value: most } }),
      });
      figures.push(figure("first paint", median(counted.map(({ painted }) => painted)), 500), {
        ...figure(
          "complete",
          median(counted.map(({ complete }) => complete)),
          name === "overview" ? 1500 : undefined,
        ),
        note: `${counted[0]?.requests} requests to the API`,
      });
      // All caches are empty.
      if (first !== undefined) figures.push(figure("complete, first time since the start", first.complete));
    }
  } finally {
    await browser.close();
  }
  return figures;
};

interface Load {
  /**
   * Milliseconds from the start of the navigation to the first text or picture, and to the last byte of the last
   * response.
   */
  readonly painted: number;
  readonly complete: number;
  readonly requests: number;
}

/** Longer than any page takes on a slow machine. */
const MOST_MS = 300_000;

async function load(page: Page, address: string): Promise<Load> {
  let failed: string | undefined;
  page.on("response", (response) => {
    if (response.status() >= 400) failed = `${response.status()} ${response.url()}`;
  });
  await page.goto(address);
  await page.waitForLoadState("networkidle", { timeout: MOST_MS });
  if (failed !== undefined) throw new Error(failed);
  return await page.evaluate(() => {
    const resources = performance.getEntriesByType("resource") as unknown as ReadonlyArray<{
      readonly name: string;
      readonly responseEnd: number;
    }>;
    return {
      painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
      complete: Math.max(...resources.map(({ responseEnd }) => responseEnd)),
      requests: resources.filter(({ name }) => name.includes("/api/")).length,
    };
  });
}
