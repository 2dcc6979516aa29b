/**
 * Takes pictures of every view of the console, light, dark and on a phone: `npm run screenshots [-- FOLDER [URL]]`.
 * Without a URL it starts a demo of its own. The pictures of `docs/images` are made this way.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { projectRoot } from "../src/common/project.js";
import { freePort } from "../test/free-port.js";

const [folder = join(projectRoot(), "docs/images"), given] = process.argv.slice(2);
const demo = given === undefined ? await startDemo() : undefined;
const url = given ?? demo?.url ?? "";
/** A day of the two weeks that the demo has; it also has the two weeks before. */
const day = (before: number) => new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10);
const weeks = `start_date=${day(15)}&end_date=${day(2)}`;
const views = {
  tenants: `/?${weeks}`,
  overview: `/tenants/cloud/overview?${weeks}`,
  explorer: `/tenants/cloud/explorer?${weeks}&group_by=product_type&group_by=cost_type`,
  statement: `/tenants/cloud/statement?${weeks}&product_type=KAFKA_NUM_CKUS&product_type=KAFKA_STORAGE`,
  inventory: `/tenants/cloud/inventory?${weeks}&type=kafka_cluster`,
  tags: `/tenants/cloud/tags?${weeks}`,
  rules: `/tenants/clouds/rules?${weeks}`,
  worklist: `/tenants/cloud/worklist?${weeks}`,
  lacking: `/tenants/clouds/worklist?${weeks}`,
  deliveries: "/tenants/clouds/deliveries",
  runs: "/tenants/cloud/runs",
  topics: `/tenants/cloud/topics?${weeks}`,
  settings: `/tenants/clouds/settings?${weeks}`,
};
/** Ready when it prints its address, which is the last step. */
async function startDemo() {
  const port = await freePort();
  const ports = ["--port", String(port), "--sql-port", String(await freePort())];
  const child = spawn(process.execPath, [join(projectRoot(), "dist/main.js"), "demo", ...ports], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const demoUrl = `http://127.0.0.1:${port}`;
  const stop = async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes(demoUrl)) continue;
    child.stdout.resume();
    return { url: demoUrl, stop };
  }
  throw new Error("the demo ended before it was ready");
}

/** The most expensive row of the last day, whose drawers are shown. */
async function drawersOf(tenant: string): Promise<Record<string, string>> {
  const rows = `${url}/api/v1/tenants/${tenant}/chargebacks?start_date=${day(2)}&end_date=${day(2)}&cost_type=usage&page_size=1000`;
  const { items } = (await (await fetch(rows)).json()) as { items: ChargebackRow[] };
  const [row] = items.sort((a, b) => Number(b.amount) - Number(a.amount));
  if (row === undefined) throw new Error(`${tenant} has no rows of ${day(2)}: start the demo with more days`);
  const why = [row.dimension_id, row.timestamp, row.metadata.component, row.currency].join(",");
  const explorer = `/tenants/${tenant}/explorer?${weeks}&why=${encodeURIComponent(why)}`;
  const history = `/tenants/${tenant}/inventory?${weeks}&history=${encodeURIComponent(row.resource_id)}`;
  return {
    why: explorer,
    history,
    dimension: `/tenants/${tenant}/tags?${weeks}&dimension=${row.dimension_id}`,
  };
}

interface ChargebackRow {
  readonly dimension_id: number;
  readonly timestamp: string;
  readonly amount: string;
  readonly currency: string;
  readonly resource_id: string;
  readonly metadata: { readonly component: number };
}

const looks = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: "light", viewport: { width: 360, height: 780 } },
} as const;

async function takePictures() {
  const drawers = await drawersOf("cloud");
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
    chromiumSandbox: false,
  });
  for (const [look, options] of Object.entries(looks)) {
    const page = await browser.newPage(options);
    for (const [view, path] of Object.entries({ ...views, ...drawers })) {
      await page.goto(url + path);
      await page.waitForLoadState("networkidle");
      await page.screenshot({
        path: join(folder, `${view}-${look}.png`),
        fullPage: view !== "worklist" && !(view in drawers),
      });
      console.log(`${view}-${look}.png`);
    }
    await page.close();
  }
  await browser.close();
}

try {
  await takePictures();
} finally {
  await demo?.stop();
}
