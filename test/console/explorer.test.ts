/** The explorer in a real browser: amounts over time, comparisons, and what leads from the chart to a group. */
import t from "tap";
import { copyNames } from "../../src/ingest/inventory/copy-names.js";
import { gatherInto } from "../http/gathered-inventory.js";
import { insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../until.js";
import { noBarriers, shows, startConsole, textOf } from "./pages.js";

const period = "start_date=2026-03-02&end_date=2026-03-04";

/** Costs of three days in March 2026, of the three days before, and of the same days a year earlier. */
const rows = [
  ["2026-03-02", "sa-1", "10"],
  ["2026-03-02", "sa-2", "5"],
  ["2026-03-04", "sa-1", "20"],
  ["2026-03-04", "sa-3", "1"],
  ["2026-03-04", "sa-4", "0.5"],
  ["2026-03-04", "sa-5", "0.25"],
  ["2026-03-04", "sa-6", "0.125"],
  ["2026-03-04", "sa-7", "0.125"],
  ["2026-03-04", "UNALLOCATED", "7"],
  ["2026-02-27", "sa-1", "4"],
  ["2026-01-15", "sa-1", "100"],
  ["2025-03-03", "sa-1", "3"],
  ["2025-03-04", "sa-2", "6"],
] as const;

/** A tenant whose bills have several costs. */
const CLOUD = `  cloud:
    ecosystem: focus
    tenant_id: cloud
    lookback_days: 30
    storage: { connection_string: "embedded:cloud" }
    plugin_settings:
      sources: [{ name: bills, location: /nowhere }]`;

t.test("the explorer shows amounts over time and compares with any period", needs("chromium"), async (t) => {
  const { stores, open, troubles } = await startConsole(t, [], [], [CLOUD]);
  await insertChargebacks(
    stores,
    "acme",
    rows.map(([day, identity_id, amount]) => ({
      timestamp: `${day}T00:00:00Z`,
      identity_id,
      amount,
      rules_hash: day === "2026-03-04" ? "new" : "old",
    })),
  );
  await stores.postgres.query(`
    INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'focus') ON CONFLICT DO NOTHING;
    INSERT INTO deliveries (tenant_name, source, scope, kind, content_id, settings_hash, billing_period, epoch, state, loaded_at, replaced_at,
      first_day, last_day)
    SELECT 'acme', 'aws', '2026-03', 'snapshot', state, 'h', '2026-03', 1, state, day, CASE WHEN state = 'replaced' THEN day END,
      '2026-03-01', '2026-03-31'
    FROM (VALUES ('replaced', timestamptz '2026-04-01T00:00:00Z'), ('current', '2026-04-03T00:00:00Z')) AS of (state, day);
    INSERT INTO delivery_changes (tenant_name, deliveries, days, lines_new, lines_changed, lines_gone, is_mixed, is_published)
    SELECT 'acme', ARRAY[delivery_id], '{2026-03-02,2026-03-03}', 0, 1, 0, false, true FROM deliveries WHERE state = 'current'`);
  await gatherInto(stores, "acme", {
    at: "2026-03-04T00:00:00Z",
    resources: [{ resource_id: "r-1", display_name: "orders" }],
    identities: [{ identity_id: "sa-3", display_name: "billing <b>job</b>" }],
  });
  const { client } = await stores.tenant("acme");
  await copyNames({
    client,
    postgres: stores.postgres,
    tenantName: "acme",
    signal: new AbortController().signal,
  });
  const page = await open(`/tenants/acme/explorer?${period}&limit=5`);
  const table = async () =>
    (await page.locator("main section.table tr").allInnerTexts()).map((row) =>
      row.replace(/\s+/g, " ").trim(),
    );
  const settled = () => shows(page, ".updating", 0);

  await t.test("marks say in words what happened, also by keyboard, and can be hidden", async (t) => {
    const bill =
      "2 Mar: the bill of 2026-03 from aws was delivered again, and lines changed until 3 Mar: 2 deliveries so far, the last on 3 Apr 2026, 00:00 UTC";
    const rules = "4 Mar: other rules apply from this day on";
    t.strictSame(await page.locator(".marks li").allTextContents(), [bill, rules, "Hide the marks"]);
    t.equal(await page.locator(".chart .mark").count(), 2);
    const chart = page.getByRole("slider");
    await chart.press("End");
    t.match(
      await chart.getAttribute("aria-valuetext"),
      new RegExp(`^4 Mar 2026: Total 29.00 USD; .*; ${rules}$`),
    );
    await noBarriers(t, page, "marks");
    await page.getByRole("link", { name: "Hide the marks" }).click();
    await shows(page, ".chart .mark", 0);
    t.equal(new URL(page.url()).searchParams.get("marks"), "none");
    t.strictSame(await page.locator(".marks li").allTextContents(), ["Mark what happened"]);
    const months = await open(
      "/tenants/acme/explorer?start_date=2026-01-01&end_date=2026-03-31&time_bucket=month",
    );
    t.strictSame(
      await months.locator(".marks li").allTextContents(),
      [`2 Mar: ${bill.slice(7)}; ${rules}`, "Hide the marks"],
      "what happened in one month is one mark",
    );
  });

  await t.test("a table has a column for each day, and every row and column adds up", async (t) => {
    await page.getByLabel("Table of").selectOption("amounts over time");
    await page.waitForFunction("location.search.includes('table=time')");
    await settled();
    t.strictSame(await table(), [
      "Identity ↕ Sort by this column Total (USD) ↕ Sort by this column 2 Mar 3 Mar 4 Mar",
      "sa-1 30.00 10.00 20.00",
      "sa-2 5.00 5.00 0.00",
      "billing <b>job</b> 1.00 0.00 1.00",
      "sa-4 0.50 0.00 0.50",
      "sa-5 0.25 0.00 0.25",
      "2 others 0.25 0.00 0.25",
      "Unallocated 7.00 0.00 7.00",
      "Total 44.00 15.00 29.00",
    ]);
    await noBarriers(t, page, "the table over time");
  });

  await t.test("too many columns for a table are refused in words", async (t) => {
    const hours = await open(
      "/tenants/acme/explorer?start_date=2026-03-01&end_date=2026-03-06&table=time&time_bucket=hour",
    );
    t.equal(
      await textOf(hours, "section.card > p"),
      "144 columns are too many for a table. Choose longer bars or fewer days.",
    );
  });

  const compared = async (choice: string, hint: string) => {
    await page.getByLabel("Compare with").selectOption(choice);
    await until(hint, async () => (await page.locator(".compare .hint").allInnerTexts())[0] === hint);
    await settled();
    return (await table()).filter((row) => /^(sa-[12]|Total) /.test(row));
  };

  await t.test("a period is compared with the one before, a year earlier, or chosen days", async (t) => {
    await page.getByLabel("Table of").selectOption("sums");
    t.strictSame(await compared("the period before", "compared with 27 Feb – 1 Mar 2026"), [
      "sa-1 30.00 68 % 4.00 ▲ +26.00 650 % 30.00 0.00 0.00 2 Why?",
      "sa-2 5.00 11 % 0.00 ▲ +5.00 new 5.00 0.00 0.00 1 Why?",
      "Total 44.00 100 % 4.00 ▲ +40.00 1000 % 37.00 0.00 7.00 9 Why?",
    ]);
    const year = [
      "sa-1 30.00 68 % 3.00 ▲ +27.00 900 % 30.00 0.00 0.00 2 Why?",
      "sa-2 5.00 11 % 6.00 ▼ −1.00 17 % 5.00 0.00 0.00 1 Why?",
      "Total 44.00 100 % 9.00 ▲ +35.00 389 % 37.00 0.00 7.00 9 Why?",
    ];
    t.strictSame(await compared("a year earlier", "compared with 2 Mar – 4 Mar 2025"), year);
    t.strictSame(await compared("other days", "compared with 2 Mar – 4 Mar 2025"), year);
    await page.locator(".compare input").first().fill("2026-01-01");
    await page.locator(".compare input").last().fill("2026-01-31");
    await until("January", async () => /1 Jan – 31 Jan/.test(await textOf(page, ".compare .hint")));
    await settled();
    t.match(page.url(), /compare=days&compare_start=2026-01-01&compare_end=2026-01-31/);
    t.equal((await table()).at(-1), "Total 44.00 100 % 100.00 ▼ −56.00 56 % 37.00 0.00 7.00 9 Why?");
  });

  await t.test("an entry of the legend leads to its group, like its bars", async (t) => {
    const chart = await open(`/tenants/acme/explorer?${period}&limit=5`);
    await chart.locator(".legend").getByRole("link", { name: "sa-2" }).click();
    await chart.waitForFunction("location.search.includes('identity_id=sa-2')");
    await chart.goBack();
    await shows(chart, ".legend li", 7);
    await chart.locator("rect.pickable").first().click();
    await chart.waitForFunction("location.search.includes('identity_id=sa-1')");
    await shows(chart, ".trail", 1);
    t.equal(await textOf(chart, ".trail"), "Everything › sa-1");
  });

  await t.test("chips and the trail show names, and ids in their titles", async (t) => {
    const filtered = await open(
      `/tenants/acme/explorer?${period}&identity_id=sa-3&identity_id=sa-4&not:resource_id=r-1&group_by=product_type`,
    );
    t.strictSame(await filtered.locator(".chip:not(.add) strong").allInnerTexts(), [
      "billing <b>job</b>, sa-4",
      "orders",
    ]);
    t.equal(await filtered.locator(".chip").first().getAttribute("title"), "Identity is sa-3, sa-4");
    t.equal(await textOf(filtered, ".trail"), "Everything › billing <b>job</b>, sa-4 › not orders");
  });

  await t.test("a bill with several costs is shown by each of them", async (t) => {
    const timestamp = "2026-03-02T00:00:00Z";
    await insertChargebacks(stores, "cloud", [
      {
        timestamp,
        identity_id: "web",
        amount: "10",
        billed_cost: "0",
        effective_cost: "10",
        list_cost: "25",
      },
      {
        timestamp,
        identity_id: "data",
        amount: "5",
        billed_cost: "20",
        effective_cost: "5",
        list_cost: "30",
      },
    ]);
    const cloud = await open(`/tenants/cloud/explorer?${period}`);
    const names = async () =>
      (await cloud.locator("main section.table tbody tr").allInnerTexts()).map((row) =>
        row.replace(/\s+/g, " ").trim(),
      );
    t.strictSame(await names(), ["web 10.00 67 % 10.00 0.00 1 Why?", "data 5.00 33 % 5.00 0.00 1 Why?"]);
    await cloud.getByLabel(/^Cost/).selectOption("at list prices");
    await cloud.getByText("The amounts below are at list prices.").waitFor();
    await cloud.getByRole("columnheader", { name: /^List cost \(USD\)/ }).waitFor();
    await shows(cloud, ".updating", 0);
    t.strictSame(await names(), ["data 30.00 55 % 30.00 0.00 1", "web 25.00 45 % 25.00 0.00 1"]);
    t.equal(new URL(cloud.url()).searchParams.get("cost"), "list");
    t.strictSame(await cloud.locator(".exports a").allInnerTexts(), [
      "SQL",
      "SQL over time",
      "This query in the API",
    ]);
    await noBarriers(t, cloud, "another cost");
    t.equal(await page.getByLabel(/^Cost/).count(), 0, "another bill has one cost");
  });

  await t.test("the tooltip is beside the bars that it is about", async (t) => {
    const chart = await open(`/tenants/acme/explorer?${period}&limit=5`);
    for (const nth of [0, 1]) {
      const bar = chart.locator("rect.series").nth(nth);
      await bar.hover();
      const [of, tip] = await Promise.all([bar.boundingBox(), chart.locator(".tip").boundingBox()]);
      t.ok(
        of !== null && tip !== null && (tip.x > of.x + of.width || tip.x + tip.width < of.x),
        `bar ${nth}`,
      );
    }
  });
  t.strictSame(troubles, []);
});
