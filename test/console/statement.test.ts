/** A statement on the screen and on paper, in a real browser with a real service. */
import t from "tap";
import { type ChargebackInput, insertBilling, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { noBarriers, shows, startConsole, textOf } from "./pages.js";

const period = "start_date=2026-03-01&end_date=2026-03-31";
const statement = `/tenants/acme/statement?${period}&identity_id=notifier`;
const at = (day: string) => `${day}T00:00:00Z`;

t.test("a statement says who pays what, why, and how it changed", needs("chromium"), async (t) => {
  const { stores, open, troubles } = await startConsole(t);
  const metadata = JSON.stringify({ unit: "GB" });
  const evenly = {
    product_type: "SUPPORT",
    cost_type: "shared",
    allocation_method: "even_split",
    allocation_detail: "even_split_allocation",
  } as const;
  const row = (timestamp: string, amount: string, more: Partial<ChargebackInput> = {}): ChargebackInput => ({
    timestamp,
    identity_id: "notifier",
    amount,
    ...more,
  });
  await insertBilling(stores, "acme", [
    { timestamp: at("2026-02-10"), quantity: "600", total_cost: "250", metadata },
    { timestamp: at("2026-03-10"), quantity: "720", total_cost: "300", metadata },
    { timestamp: at("2026-03-10"), resource_id: "r-2", quantity: "10", total_cost: "5", metadata },
  ]);
  await insertChargebacks(stores, "acme", [
    row(at("2026-02-10"), "62.5"),
    row(at("2026-03-10"), "100"),
    row(at("2026-03-10"), "5", { resource_id: "r-2" }),
    row(at("2026-03-10"), "8", evenly),
    row(at("2026-03-10"), "24", { ...evenly, identity_id: "gateway" }),
    row(at("2026-03-11"), "3", { currency: "EUR", rule: "plans", ...evenly }),
    row(at("2026-03-12"), "7", {
      identity_id: "UNALLOCATED",
      cost_type: "shared",
      allocation_method: "terminal",
      allocation_detail: "owner_unknown",
    }),
  ]);

  await t.test("a team or an identity is chosen from lists with costs", async (t) => {
    const page = await open(`/tenants/acme/statement?${period}`);
    const address = async (name: string) => await page.getByRole("link", { name }).getAttribute("href");
    t.equal(
      await address("All identities as a ZIP"),
      `/api/v1/tenants/acme/statements?${period}&by=identity_id`,
    );
    await page.getByLabel("By").selectOption("team");
    t.equal(await address("All teams as a ZIP"), `/api/v1/tenants/acme/statements?${period}&by=team`);
    await page.getByRole("link", { name: "UNASSIGNED" }).first().click();
    await page.getByRole("heading", { name: "Statement of UNASSIGNED" }).waitFor();
    await page.getByRole("link", { name: "All statements" }).click();
    await page.getByRole("link", { name: "notifier" }).first().click();
    await page.getByRole("heading", { name: "Statement of notifier" }).waitFor();
    t.equal(new URL(page.url()).searchParams.get("of"), null);
  });

  const page = await open(statement);
  const dollars = page.locator(".statement").nth(1);
  const seen = async (selector: string) =>
    // biome-ignore lint/performance/useDomNodeTextContent: what a visitor sees
    (await dollars.locator(selector).innerText()).replace(/\s+/g, " ").trim();

  await t.test("its head names the tenant, the days, their state, and when it was made", async (t) => {
    t.match(
      await textOf(page, ".letterhead"),
      /^Statement of notifier Tenant acme Period 1 Mar – 31 Mar 2026 UTC State 0 of 31 days: incomplete Made \d+ \w{3} 20\d\d, \d\d:\d\d UTC$/,
    );
  });

  await t.test("it compares with the month before, and names the three largest reasons", async (t) => {
    t.equal(
      await seen(".change-sentence bdi"),
      "notifier pays 50.50 USD more than in February 2026: 25.00 because the share in Storage of r-1 grew (33.3 % instead of 25.0 %), 12.50 because more was used of Storage of r-1 (720 instead of 600 GB), 8.00 because the cost of Support of r-1 rose, and 5.00 for other reasons.",
    );
    await dollars.getByRole("link", { name: "Why Charged changed" }).click();
    const drawer = page.getByRole("dialog", { name: "Why did it change?" });
    await drawer
      .getByRole("heading", { name: /^notifier pays 50\.50 USD more than in February 2026/ })
      .waitFor();
    await drawer.getByRole("button", { name: "Close" }).click();
    await shows(page, ".drawer", 0);
  });

  await t.test("six months are bars, and the current one is marked", async (t) => {
    t.equal(
      await seen(".bars"),
      "0.00 Oct 2025 0.00 Nov 2025 0.00 Dec 2025 0.00 Jan 2026 62.50 Feb 2026 113.00 Mar 2026",
    );
    t.equal(await seen(".bars [aria-current]"), "113.00 Mar 2026");
  });

  await t.test("lines have subtotals by product, and shared costs a sentence for each rule", async (t) => {
    t.strictSame(
      (await dollars.locator("tbody tr, tfoot tr").allInnerTexts()).map((text) =>
        text.replace(/\s+/g, " ").trim(),
      ),
      [
        "STORAGE 2 resources 105.00 0.00 105.00",
        "STORAGE r-1 100.00 0.00 100.00",
        "STORAGE r-2 5.00 0.00 5.00",
        "SUPPORT r-1 0.00 8.00 8.00",
        "Total 105.00 8.00 113.00",
      ],
    );
    t.equal(
      await seen(".methods"),
      "32.00 USD for Support was divided evenly among several identities. 25 % of it is charged here. 8.00",
    );
    t.equal(
      await textOf(page, ".statement .methods"),
      "3.00 EUR for Support was divided by the rule “plans” evenly among several identities. 100 % of it is charged here. 3.00",
    );
  });

  await t.test("what is unallocated has its reasons", async (t) => {
    const nobody = await open(`/tenants/acme/statement?${period}&identity_id=UNALLOCATED`);
    await nobody.getByRole("heading", { name: "Unallocated", exact: true }).waitFor();
    t.equal(await textOf(nobody, 'h2:has-text("Unallocated") + .shown .sums'), "The owner is unknown 7.00");
    t.match(
      await textOf(nobody, ".change-sentence"),
      /^What nobody pays for costs 7\.00 USD more than in February 2026/,
    );
  });

  await t.test("each currency has a page of its own, in light colours that are printed", async (t) => {
    const pages = async (of: typeof page) =>
      (await of.pdf({ format: "A4" })).toString("latin1").match(/\/Type \/Page\b/g)?.length;
    t.equal(await pages(page), 2);
    const one = await open(`${statement}&currency=EUR`, { dark: true });
    t.equal(await pages(one), 1);
    await one.emulateMedia({ media: "print", colorScheme: "dark" });
    t.strictSame(
      await one.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.bars')).printColorAdjust]",
      ),
      ["rgb(255, 255, 255)", "exact"],
    );
  });

  await t.test("it fits on a phone, and in the dark", async (t) => {
    const phone = await open(statement, { width: 360, dark: true });
    await phone.locator(".bars").first().waitFor();
    t.ok(await phone.evaluate("document.documentElement.scrollWidth <= innerWidth"));
    await noBarriers(t, phone, "a statement on a phone, in the dark");
    await noBarriers(t, page, "a statement");
  });

  t.strictSame(troubles, []);
});
