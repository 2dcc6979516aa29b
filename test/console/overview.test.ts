/** The first screen, in a real browser with a real service. */
import type { Page } from "playwright-core";
import t from "tap";
import { splitScore } from "../../src/console/money/split.js";
import { copyNames } from "../../src/ingest/inventory/copy-names.js";
import { gatherInto } from "../http/gathered-inventory.js";
import { get, insertBilling, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../until.js";
import { shows, startConsole, textOf } from "./pages.js";

const before = "2026-03-03";
const day = "2026-03-04";
const period = `start_date=${day}&end_date=${day}`;

/** Identity, product, resource, and the amounts of both days. */
const costs = [
  ["sa-1", "CKU", "lkc-1", "10", "40"],
  ["sa-1", "CKU", "lkc-2", "10", "20"],
  ["sa-2", "CKU", "lkc-1", "30", "5"],
  ["sa-2", "NETWORK", "lkc-1", "1", "3"],
  ["sa-3", "NETWORK", "lkc-2", "10", "10"],
  ["UNALLOCATED", "STORAGE", "lkc-9", "2", "1"],
] as const;

const rowsOf = async (page: Page, table: string) =>
  (await page.getByRole("table", { name: table, exact: true }).locator("tbody tr").allInnerTexts()).map(
    (text) => text.replace(/\s+/g, " ").trim(),
  );

t.test(
  "the first screen answers what it costs, who caused it and what to look at",
  needs("chromium"),
  async (t) => {
    const { app, stores, open, troubles } = await startConsole(t);
    // The clock stands still, so this is the only comparison of the store with the days that are added below.
    await get(app, "/api/v1/tenants/acme/status");
    await insertChargebacks(
      stores,
      "acme",
      costs.flatMap(([identity_id, product_type, resource_id, old, now]) =>
        [
          [before, old],
          [day, now],
        ].map(([of = "", amount = ""]) => ({
          timestamp: `${of}T00:00:00Z`,
          identity_id,
          product_type,
          resource_id,
          amount,
          ...(identity_id === "UNALLOCATED" && {
            cost_type: "shared" as const,
            allocation_method: "terminal",
            allocation_detail: "owner_unknown",
          }),
        })),
      ),
    );
    await insertBilling(stores, "acme", [
      { timestamp: `${before}T00:00:00Z`, total_cost: "63" },
      { timestamp: `${day}T00:00:00Z`, total_cost: "79" },
    ]);
    await gatherInto(stores, "acme", {
      at: "2026-03-01T00:00:00Z",
      resources: [],
      identities: ["sa-1", "sa-2", "sa-3"].map((identity_id, index) => ({
        identity_id,
        metadata: { team: index === 0 ? "edge" : "data" },
      })),
    });
    const { client } = await stores.tenant("acme");
    const { postgres } = stores;
    await copyNames({ client, postgres, tenantName: "acme", signal: new AbortController().signal });
    await postgres.query(`
    INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only') ON CONFLICT DO NOTHING;
    INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, resources_gathered, chargeback_calculated, published_hash)
    VALUES ('acme', '2026-01-01', true, true, true, 'a'), ('acme', '${before}', true, true, true, 'a'),
      ('acme', '${day}', true, true, true, 'a')`);
    const page = await open(`/tenants/acme/overview?${period}`);

    await t.test(
      "a row of figures has the cost, what is unallocated, and the last day with data",
      async (t) => {
        const figures = (await page.locator(".figures > *").allInnerTexts()).map((text) =>
          text.replace(/\s+/g, " ").trim(),
        );
        t.strictSame(figures, [
          "Cost, 4 Mar 2026 79.00 USD ▲ +16.00 25 %",
          "Unallocated 1.00 USD 1.3 % of the cost · To fix",
          "Data up to 4 Mar 2026 This tenant has not run yet.",
        ]);
      },
    );

    await t.test("the reconciliation is a tick that opens the sum", async (t) => {
      t.notOk(await page.locator(".proof").isVisible());
      await page.getByText("Adds up to the cent").click();
      t.equal(
        await textOf(page, ".proof"),
        "Bill 79.00 USD = Allocated 78.00 + Unallocated 1.00 1.3 % difference 0.00",
      );
    });

    await t.test(
      "costs are split by the column that splits them best, and the reader can choose another",
      async (t) => {
        const legend = () => page.locator(".legend li").allInnerTexts();
        await page.getByRole("heading", { name: "Cost by identity" }).waitFor();
        t.strictSame(await legend(), ["sa-1", "sa-3", "sa-2", "Unallocated"]);
        await page.getByLabel("Split by").selectOption("Team");
        await page.getByRole("heading", { name: "Cost by team" }).waitFor();
        t.equal(new URL(page.url()).searchParams.get("group_by"), "team");
        const link = new URL(page.url());
        const copied = await open(link.pathname + link.search);
        await copied.getByRole("heading", { name: "Cost by team" }).waitFor();
        t.strictSame(await copied.locator(".legend li").allInnerTexts(), ["edge", "data", "UNASSIGNED"]);
        await page.getByLabel("Split by").selectOption("Identity");
        await page.getByRole("heading", { name: "Cost by identity" }).waitFor();
      },
    );

    await t.test(
      "what grew and what fell are side by side, each with the part that moved most",
      async (t) => {
        await page.getByText("+30.00: CKU of lkc-1").waitFor();
        t.strictSame(await rowsOf(page, "Grew"), ["sa-1 +30.00: CKU of lkc-1 60.00 USD ▲ +40.00 200 % Why?"]);
        t.strictSame(await rowsOf(page, "Fell"), [
          "sa-2 −25.00: CKU of lkc-1 8.00 USD ▼ −23.00 74 % Why?",
          "Unallocated −1.00: STORAGE of lkc-9 1.00 USD ▼ −1.00 50 % Why?",
        ]);
        await page.getByRole("link", { name: "sa-2", exact: true }).click();
        await page.getByRole("heading", { name: "Explore", level: 1 }).waitFor();
        t.equal(
          new URL(page.url()).search,
          `?${period}&identity_id=sa-2&group_by=product_type&group_by=resource_id&compare=previous`,
        );
        await page.goBack();
        await page.getByLabel("Split by").selectOption("Product");
        await page.getByText("+2.00: sa-2").waitFor();
        t.strictSame(await rowsOf(page, "Grew"), [
          "CKU +40.00: sa-1 65.00 USD ▲ +15.00 30 % Why?",
          "NETWORK +2.00: sa-2 13.00 USD ▲ +2.00 18 % Why?",
        ]);
      },
    );

    await t.test("what needs attention is below, with the way to fix it", async (t) => {
      t.strictSame(await rowsOf(page, "Costs that need attention"), ["The owner is unknown 1 1.00 USD"]);
    });

    await t.test("a bill that differs from its chargebacks is open at once, and no tick", async (t) => {
      await insertChargebacks(stores, "globex", [{ timestamp: `${day}T00:00:00Z`, amount: "7" }]);
      await insertBilling(stores, "globex", [{ timestamp: `${day}T00:00:00Z`, total_cost: "8" }]);
      const broken = await open(`/tenants/globex/overview?${period}`);
      await broken.getByText("The bill differs from its chargebacks").waitFor();
      t.equal(await broken.getByText("Adds up").count(), 0);
      await until("the sum is open", async () => await broken.locator(".proof").isVisible());
      await shows(broken, ".proof .broken", 1);
    });

    t.strictSame(troubles, []);
  },
);

t.test("the score of a split favours several large groups", async (t) => {
  const scoreOf = (...shares: number[]) => Number(splitScore(shares).toFixed(4));
  t.equal(scoreOf(), 0);
  t.equal(scoreOf(1), 0, "one group splits nothing");
  t.equal(scoreOf(0.5, 0.5), 0.5);
  t.equal(scoreOf(0.25, 0.25, 0.25, 0.25), 0.75);
  t.equal(scoreOf(0.9, 0.1), 0.18);
  t.equal(scoreOf(...new Array(8).fill(0.01)), 0.0056, "eight of a hundred equal groups show little");
});
