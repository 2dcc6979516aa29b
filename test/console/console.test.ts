import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { type ChargebackInput, get, insertBilling, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../runner/runs.js";
import { startConsole } from "./pages.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Names as an upstream may have them, and a visitor must see them: as text. */
const hostile = [
  "<img src=x onerror=document.title='hacked'>",
  "x".repeat(200),
  "\u202egnitekram",
  "🧾 Kosten & «Maß»",
  "a,b\\c",
];
const days = ["2026-03-01", "2026-03-02", "2026-03-03"];
const period = "start_date=2026-03-01&end_date=2026-03-03";

const rows: ChargebackInput[] = days.flatMap((day, at) => [
  ...hostile.map((identity_id, index) => ({
    timestamp: `${day}T00:00:00Z`,
    amount: `${index + 1}.${at}00000000007`,
    identity_id,
    product_type: "STORAGE",
  })),
  {
    timestamp: `${day}T00:00:00Z`,
    amount: "2.5",
    identity_id: "UNALLOCATED",
    product_type: "STORAGE",
    cost_type: "shared" as const,
    allocation_method: "terminal",
    allocation_detail: "owner_unknown",
  },
  {
    timestamp: `${day}T00:00:00Z`,
    amount: "0.75",
    identity_id: "sa-9",
    product_type: "NETWORK",
    resource_id: "r-2",
  },
]);

/** The text of an element without the spaces that only lay it out. */
const textOf = async (page: Page, selector: string) =>
  // biome-ignore lint/performance/useDomNodeTextContent: what a visitor sees
  (await page.locator(selector).first().innerText()).replace(/\s+/g, " ").trim();

/** Waits for what a click leads to. */
const shows = (page: Page, selector: string, count: number) =>
  until(`${count} of ${selector}`, async () => (await page.locator(selector).count()) === count);

/** The digits of an amount as it stands on the page. */
const digitsOf = (text: string) => text.replace(/[^0-9.−-]/g, "").replace("−", "-");

/** As the page shows it: with two places at least. */
const withTwoPlaces = (amount: string) => {
  const [whole = "", fraction = ""] = amount.split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
};

async function noBarriers(t: Test, page: Page, where: string): Promise<void> {
  // By the debugger: as a script the page's own policy would refuse it.
  await page.evaluate(axe);
  const found = await page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`);
  t.strictSame(found, [], `no barriers in ${where}`);
}

t.test("the console", needs("chromium"), async (t) => {
  const { app, stores, open, troubles } = await startConsole(t);
  await insertChargebacks(stores, "acme", rows);
  const micro = (product: string) =>
    days.map((day) => ({
      timestamp: `${day}T00:00:00Z`,
      product_type: product,
      resource_id: product === "STORAGE" ? "r-1" : "r-2",
      total_cost: rows
        .filter((row) => row.timestamp.startsWith(day) && row.product_type === product)
        .reduce((sum, { amount }) => sum + BigInt(withTwelve(amount)), 0n),
    }));
  await insertBilling(
    stores,
    "acme",
    [...micro("STORAGE"), ...micro("NETWORK")].map((line) => ({
      ...line,
      total_cost: fromTwelve(line.total_cost),
    })),
  );
  const api = "/api/v1/tenants/acme";

  await t.test("the overview has the sums of the API, to the digit", async (t) => {
    const page = await open(`/tenants/acme/overview?${period}`);
    const { body: sums } = await get(app, `${api}/chargebacks/breakdown?${period}`);
    const { body: proof } = await get(app, `${api}/reconciliation?${period}`);
    t.equal(digitsOf(await textOf(page, ".head .amount")), withTwoPlaces(sums.totals[0].total_amount));
    t.equal(
      await textOf(page, ".proof"),
      [
        `Bill ${withTwoPlaces(proof.totals[0].billing_amount)} USD =`,
        `Allocated ${withTwoPlaces(proof.totals[0].allocated_amount)} +`,
        "Unallocated 7.50 13 % difference 0.00",
      ].join(" "),
    );
    t.equal(await page.locator(".proof .holds").count(), 1);
    t.equal(await page.locator(".chart rect.series").count(), days.length * (hostile.length + 2));
    t.equal(await page.title(), "Overview · acme · chargehouse", "a name is text");
    await noBarriers(t, page, "the overview");
  });

  await t.test("the explorer: table = API, filters and drills by clicks, back leads back", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}&group_by=identity_id&limit=5`);
    const { body } = await get(app, `${api}/chargebacks/breakdown?${period}&limit=5`);
    const shown = await page
      .locator("tbody tr")
      .evaluateAll((found) =>
        found.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")),
      );
    t.strictSame(
      shown.map(([, amount = ""]) => digitsOf(amount)),
      [...body.groups, ...body.others].map(({ total_amount }) => withTwoPlaces(total_amount)),
    );
    t.equal(digitsOf(await textOf(page, "tfoot .amount")), withTwoPlaces(body.totals[0].total_amount));
    await noBarriers(t, page, "the explorer");

    await page.getByRole("link", { name: hostile[3] ?? "", exact: true }).click();
    await shows(page, "tbody tr", 1);
    t.equal(new URL(page.url()).searchParams.get("identity_id"), hostile[3]);
    t.equal(new URL(page.url()).searchParams.get("group_by"), "resource_id");
    await page.goBack();
    await shows(page, "tbody tr", 6);
    t.equal(new URL(page.url()).searchParams.get("identity_id"), null);

    await page.getByRole("button", { name: "+ Add a filter" }).click();
    await page.getByLabel("Column").selectOption("product_type");
    await page.getByLabel("Search values").fill("netw");
    await shows(page, ".values li", 1);
    await page.getByRole("button", { name: "Only" }).click();
    await shows(page, "tbody tr", 1);
    t.equal(new URL(page.url()).searchParams.get("product_type"), "NETWORK");
    t.equal(digitsOf(await textOf(page, "tfoot .amount")), "2.25");
    await page.getByRole("button", { name: "Remove the filter Product is NETWORK" }).click();
    await shows(page, "tbody tr", 6);
    t.equal(new URL(page.url()).searchParams.has("product_type"), false);
  });

  await t.test("a copied link shows the same", async (t) => {
    const link = `/tenants/acme/explorer?${period}&group_by=product_type&group_by=cost_type&sort=total.asc&chart=area&compare=previous`;
    const first = await open(link);
    const second = await open(new URL(first.url()).pathname + new URL(first.url()).search);
    t.equal(await textOf(first, "main"), await textOf(second, "main"));
    const products = await second.locator("tbody tr td:first-child").allInnerTexts();
    t.strictSame(
      products.map((text) => text.trim()),
      ["NETWORK", "STORAGE", "STORAGE"],
    );
    t.equal(await second.locator(".chart path.series").count(), 3);
  });

  await t.test("the other views", async (t) => {
    const worklist = await open(`/tenants/acme/worklist?${period}`);
    t.match(
      await textOf(worklist, "tbody tr"),
      /^r-1 STORAGE UNALLOCATED The owner is not known 3 7\.50 USD$/,
    );
    await noBarriers(t, worklist, "the worklist");
    const runs = await open(`/tenants/acme/runs?${period}`);
    t.equal(await runs.locator(".coverage li").count(), 3);
    await noBarriers(t, runs, "the runs");
    const tenants = await open(`/?${period}`, { dark: true });
    t.strictSame(
      await tenants.locator("tbody tr td:first-child").allInnerTexts(),
      ["acme", "globex"],
      "every tenant",
    );
    await noBarriers(t, tenants, "the tenants, in the dark");
    await tenants.getByRole("link", { name: "globex" }).click();
    await tenants.getByText("No costs in this period").waitFor();
  });

  await t.test("on a phone nothing lies beside the page", async (t) => {
    for (const view of ["overview", "explorer", "worklist", "runs"]) {
      const page = await open(`/tenants/acme/${view}?${period}`, { width: 360 });
      const [wide, window] = await page.evaluate<number[]>(
        "[document.documentElement.scrollWidth, innerWidth]",
      );
      t.ok(Number(wide) <= Number(window), `${view}: ${wide} of ${window}`);
    }
  });

  await t.test("an error of the API is said, and can be tried again", async (t) => {
    const page = await open(`/tenants/acme/runs?${period}`);
    let fails = true;
    await page.route("**/chargebacks/breakdown?*", (route) =>
      fails
        ? route.fulfill({
            status: 503,
            contentType: "application/problem+json",
            body: JSON.stringify({
              title: "Too busy",
              status: 503,
              detail: "Ask again soon.",
              code: "too_busy",
            }),
          })
        : route.continue(),
    );
    await page.getByRole("link", { name: "Explorer" }).click();
    await page.getByRole("alert").waitFor();
    t.match(await textOf(page, "[role=alert]"), /Ask again soon\. too_busy/);
    fails = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("tfoot").waitFor();
    t.equal(await page.getByRole("alert").count(), 0);
  });

  await t.test("an address that is none says so", async (t) => {
    const page = await open("/tenants/nobody/overview");
    t.match(await textOf(page, "main"), /There is no such page/);
  });

  t.strictSame(
    troubles.filter((trouble) => !trouble.includes("status of 503")),
    [],
    "no errors in the browser, and nothing asked elsewhere",
  );
});

t.test("files and addresses of the console", async (t) => {
  const { app, build, config } = await startConsole(t);
  const page = await app.inject("/tenants/acme/overview");
  t.equal(page.statusCode, 200);
  t.match(String(page.headers["content-security-policy"]), /^default-src 'self';/);
  t.equal(page.headers["cache-control"], "no-cache");
  const [script = ""] = /\/assets\/main-[A-Z0-9]+\.js/.exec(page.body) ?? [];
  const asset = await app.inject({ url: script, headers: { "accept-encoding": "br" } });
  t.equal(asset.statusCode, 200);
  t.equal(asset.headers["content-encoding"], "br");
  t.equal(asset.headers["cache-control"], "public, max-age=31536000, immutable");
  for (const [url, status] of [
    ["/assets/", 404],
    ["/assets/none.js", 404],
    ["/assets/..%2findex.html", 404],
    [`${script}.br`, 404],
    ["/tenants/acme", 404],
    ["/tenants/acme/overview/more", 404],
    ["/index.html", 404],
  ] as const)
    t.equal((await app.inject(url)).statusCode, status, url);
  t.equal((await app.inject({ url: "/", headers: { host: "evil.example" } })).statusCode, 421);

  const without = await build({ config: { ...config, api: { ...config.api, console: false } } });
  t.equal((await without.inject("/")).statusCode, 404, "switched off, there is none");
  const unbuilt = await build({ consoleFolder: "/nowhere" });
  const told = await unbuilt.inject("/");
  t.equal(told.statusCode, 404);
  t.match(told.json().detail, /npm run build/);
});

function withTwelve(amount: string): string {
  const [whole = "", fraction = ""] = amount.split(".");
  return whole + fraction.padEnd(12, "0");
}

function fromTwelve(units: bigint): string {
  const digits = units.toString().padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`;
}
