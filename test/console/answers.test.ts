/** The order, the parts and the colours of figures in the console, in a real browser with a real service. */
import type { Page } from "playwright-core";
import t from "tap";
import { type ChargebackInput, get, insertBilling, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../until.js";
import { digitsOf, noBarriers, shows, startConsole, textOf } from "./pages.js";

const breakdown = "/api/v1/tenants/acme/chargebacks/breakdown";
const now = "2026-03-04";
const before = "2026-03-03";
const period = `start_date=${now}&end_date=${now}`;

/** The larger the cost of an identity, the less it has grown. */
const identities = Array.from({ length: 14 }, (_, index) => `sa-${String(index + 1).padStart(2, "0")}`);
const nobody: Partial<ChargebackInput> = {
  identity_id: "UNALLOCATED",
  cost_type: "shared",
  allocation_method: "terminal",
  allocation_detail: "owner_unknown",
};
const rows: ChargebackInput[] = [
  ...identities.flatMap((identity_id, index) => [
    { timestamp: `${now}T00:00:00Z`, amount: `${100 - 5 * index}`, identity_id, product_type: "STORAGE" },
    { timestamp: `${before}T00:00:00Z`, amount: `${100 - 6 * index}`, identity_id, product_type: "STORAGE" },
  ]),
  {
    timestamp: `${now}T00:00:00Z`,
    amount: "4",
    identity_id: "sa-14",
    product_type: "NETWORK",
    cost_type: "shared",
  },
  { timestamp: `${now}T00:00:00Z`, amount: "0.5", product_type: "NETWORK", ...nobody },
];

interface Group {
  readonly dimensions: { readonly identity_id: string };
}

const names = async (page: Page) =>
  (await page.locator("tbody tr td:first-child").allInnerTexts()).map((text) => text.trim());
const swatches = (page: Page, rows: string) =>
  page
    .locator(rows)
    .evaluateAll((found) =>
      Object.fromEntries(
        found.map((row) => [
          row.querySelector("bdi")?.textContent ?? "",
          row.querySelector(".swatch")?.getAttribute("style") ?? "",
        ]),
      ),
    );

t.test("the console sorts, splits and colours costs as the API does", needs("chromium"), async (t) => {
  const { app, stores, open, troubles } = await startConsole(t);
  await insertChargebacks(stores, "acme", rows);
  // Before any page reads this month, because its response is cached.
  const month = new Date().toISOString().slice(0, 7);
  const [first, second, third] = ["01", "02", "03"].map((day) => `${month}-${day}`);
  const timestamps = [first, second, third].map((day) => `${day}T00:00:00Z`);
  await insertChargebacks(
    stores,
    "globex",
    timestamps.map((timestamp) => ({ timestamp, amount: "10" })),
  );
  await insertBilling(
    stores,
    "globex",
    timestamps.map((timestamp) => ({ timestamp, total_cost: "10" })),
  );

  await t.test("each column sorts all groups, as the API does, and not only those of the page", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}&compare=previous&limit=5`);
    await shows(page, "tbody tr", 7);
    const columns = {
      Change: "change",
      Before: "previous_amount",
      "Amount (USD)": "total_amount",
      Own: "own",
      Shared: "shared",
      Unallocated: "unallocated",
      Rows: "row_count",
      Identity: "identity_id",
    };
    const clicked = new Set<string>();
    for (const [title, by] of Object.entries(columns))
      for (const direction of title === "Identity" ? ["asc", "desc"] : ["desc", "asc"]) {
        await page.getByRole("button", { name: `${title} Sort by this column` }).click();
        const query = `${period}&compare=previous&limit=5&order=${by}.${direction}`;
        const { body } = await get(app, `${breakdown}?${query}`);
        const wanted = body.groups.map(({ dimensions }: Group) => dimensions.identity_id);
        t.equal(wanted.pop(), "UNALLOCATED");
        t.equal(new URL(page.url()).searchParams.get("order"), `${by}.${direction}`);
        const sort = { asc: "ascending", desc: "descending" }[direction];
        await shows(page, `th[aria-sort=${sort}]`, 1);
        await shows(page, ".updating", 0);
        t.strictSame(await names(page), [...wanted, "9 others", "Unallocated"]);
        clicked.add(wanted.join());
      }
    t.ok(clicked.size > 2, "the orders differ");
    const grew = await open(`/tenants/acme/explorer?${period}&compare=previous&limit=5&order=change.desc`);
    t.strictSame(
      (await names(grew)).slice(0, 3),
      ["sa-14", "sa-13", "sa-12"],
      "those that grew most are not among the largest",
    );
    await noBarriers(t, grew, "a sorted explorer");
    const asked = await open(`/tenants/acme/explorer?${period}&order=size.desc`);
    t.equal((await names(asked))[0], "sa-01", "an unknown order in the address is ignored");
  });

  await t.test(
    "others can be opened, a single one is shown by its name, and unallocated is the last row",
    async (t) => {
      const page = await open(`/tenants/acme/explorer?${period}&limit=5`);
      await page.getByRole("table").getByRole("link", { name: "9 others" }).click();
      await shows(page, "tbody tr", 15);
      t.strictSame(await names(page), [...identities, "Unallocated"]);
      const without = identities.slice(11).map((id) => `&not:identity_id=${id}`);
      const eleven = await open(`/tenants/acme/explorer?${period}&limit=10${without.join("")}`);
      t.strictSame(await names(eleven), [...identities.slice(0, 11), "Unallocated"], "not `1 other`");
      t.equal(await eleven.locator(".chart rect.series").count(), 12);
      const one = await open(`/tenants/acme/statement?${period}`);
      t.equal((await names(one)).at(-1), "Unallocated");
    },
  );

  await t.test("what nobody owns is neither shared nor among the others", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}&group_by=product_type`);
    const cells = await page
      .locator("tbody tr")
      .evaluateAll((found) =>
        found.map((row) => [...row.querySelectorAll("td")].slice(0, 6).map((cell) => cell.textContent ?? "")),
      );
    t.strictSame(
      cells.map((row) => row.map((text) => text.trim())),
      [
        ["STORAGE", "945.00", "100 %", "945.00", "0.00", "0.00"],
        ["NETWORK", "4.50", "0.5 %", "0.00", "4.00", "0.50"],
      ],
    );
    const statement = await open(`/tenants/acme/statement?${period}&product_type=NETWORK`);
    t.match(
      await textOf(statement, ".sums"),
      /Own usage and resources owned alone 0\.00 Part of shared costs 4\.00 Unallocated: no identity was found 0\.50$/,
    );
  });

  await t.test("an identity has the same colour on every chart and page", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}&limit=5`);
    const first = await swatches(page, "tbody tr:has(bdi)");
    t.strictSame(Object.keys(first), [...identities.slice(0, 5), "Unallocated"]);
    t.equal(new Set(Object.values(first)).size, 6, "all of them differ");
    await page.getByLabel("Show").selectOption("10");
    await page.getByRole("button", { name: "Identity Sort by this column" }).click();
    await page.getByRole("button", { name: "Identity Sort by this column" }).click();
    await until("the order is reversed", async () => (await names(page))[0] === "sa-14");
    const second = await swatches(page, "tbody tr:has(bdi)");
    t.equal(second["sa-05"], first["sa-05"]);
    t.equal(second.Unallocated, first.Unallocated);
    t.equal(new Set(Object.values(second)).size, 11);
    await page.getByRole("link", { name: "Overview" }).click();
    await page.locator(".head").first().waitFor();
    const overview = await swatches(page, ".legend li:has(bdi)");
    t.strictSame(Object.keys(overview), [...identities.slice(0, 8), "6 others", "Unallocated"]);
    t.same({ ...second, ...overview }, { ...overview, ...second }, "the overview has the same colours");
    t.strictSame(
      await page.locator(".legend a").evaluateAll((links) => links.map((link) => link.textContent)),
      ["6 others"],
    );
    await page.locator(".legend a").click();
    await shows(page, "tbody tr", 15);
  });

  await t.test("a period with nothing before it shows no growth, but the largest costs", async (t) => {
    const { postgres } = stores;
    // The clock stands still, so this is the only comparison of the store with the days that are added below.
    await get(app, "/api/v1/tenants/globex/status");
    await insertChargebacks(stores, "globex", [
      { timestamp: `${now}T00:00:00Z`, amount: "7", identity_id: "sa-01" },
      { timestamp: `${now}T00:00:00Z`, amount: "8", identity_id: "sa-02" },
    ]);
    await postgres.query(`
      INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('globex', 'globex', 'generic_metrics_only') ON CONFLICT DO NOTHING;
      INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, resources_gathered, chargeback_calculated, published_hash)
      VALUES ('globex', '${now}', true, true, true, 'a')`);
    const first = "first day 4 Mar 2026: nothing to compare with";
    const page = await open(`/tenants/globex/overview?${period}`);
    t.equal(await textOf(page, ".title .hint"), `4 Mar 2026, ${first}`);
    t.equal(await page.locator(".change, [role=note]").count(), 0);
    await page.getByRole("heading", { name: "Largest costs" }).waitFor();
    t.strictSame(
      (await page.getByRole("table", { name: "Largest costs" }).locator("tbody tr").allInnerTexts()).map(
        (text) => text.replace(/\s+/g, " ").trim(),
      ),
      ["sa-02 8.00 USD", "sa-01 7.00 USD"],
    );
    const explorer = await open(`/tenants/globex/explorer?${period}&compare=previous&order=change.desc`);
    await explorer.getByText(first).waitFor();
    t.equal(await explorer.locator(".change").count(), 0);
    t.equal(digitsOf(await textOf(explorer, "tfoot .amount")), "15.00");
  });

  await t.test("a forecast is for a named month, and only where the period has days of it", async (t) => {
    const [year = 0, number = 0] = month.split("-").map(Number);
    const days = new Date(Date.UTC(year, number, 0)).getUTCDate();
    const name = new Date(`${first}T00:00:00Z`).toLocaleString("en", {
      month: "long",
      year: "numeric",
      timeZone: "UTC",
    });
    const page = await open(`/tenants/globex/overview?start_date=${third}&end_date=${third}`);
    await page.getByText(`${name} so far`).waitFor();
    await page.getByText(`Forecast: ${10 * days} at its end`, { exact: true }).waitFor();
    const earlier = await open(`/tenants/globex/overview?${period}`);
    t.equal(await earlier.getByText("Forecast").count(), 0);
  });

  await t.test(
    "a store that misses one probe is waited for, and one that misses three is reported",
    async (t) => {
      let responds = false;
      const page = await open(`/tenants/acme/inventory?${period}`);
      await page.route("**/readiness", async (route) => {
        const response = await route.fetch();
        const { tenants, ...body } = await response.json();
        const json = {
          ...body,
          tenants: tenants.map((each: object) => ({ ...each, tables_ready: responds })),
        };
        await route.fulfill({ response, json });
      });
      await page.getByRole("link", { name: "Runs" }).click();
      await page.getByText("Waiting for its store").waitFor();
      await page.getByText("Its store does not respond").waitFor();
      responds = true;
      await page.getByText("This tenant has not run yet.").waitFor();
      const badges = page.getByText("Its store does not respond");
      await until("no store is reported", async () => (await badges.count()) === 0);
      t.equal(await badges.count(), 0);
    },
  );

  t.strictSame(troubles, []);
});
