/** Why a sum changed, in a real browser with a real service. */
import t from "tap";
import { get, insertBilling, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { noBarriers, shows, startConsole, textOf } from "./pages.js";

const [before, now] = ["2026-03-03", "2026-03-04"] as const;
const period = `start_date=${now}&end_date=${now}`;

t.test("why a sum changed is a sentence, its causes, and a table of them", needs("chromium"), async (t) => {
  const { app, stores, open, troubles } = await startConsole(t);
  const metadata = JSON.stringify({ unit: "GB" });
  const at = (day: string) => `${day}T00:00:00Z`;
  await insertBilling(stores, "acme", [
    { timestamp: at(before), quantity: "600", total_cost: "250", metadata },
    { timestamp: at(now), quantity: "720", total_cost: "300", metadata },
    { timestamp: at(now), product_type: "NETWORK", quantity: "10", total_cost: "5", metadata },
    { timestamp: at(before), product_type: "SUPPORT", quantity: "0", total_cost: "20" },
    { timestamp: at(now), product_type: "SUPPORT", quantity: "0", total_cost: "18" },
  ]);
  await insertChargebacks(stores, "acme", [
    { timestamp: at(before), identity_id: "notifier", amount: "62.5" },
    { timestamp: at(now), identity_id: "notifier", amount: "100" },
    { timestamp: at(before), identity_id: "gateway", amount: "187.5" },
    { timestamp: at(now), identity_id: "gateway", amount: "200" },
    { timestamp: at(now), identity_id: "notifier", product_type: "NETWORK", amount: "5" },
    {
      timestamp: at(before),
      identity_id: "gateway",
      product_type: "SUPPORT",
      amount: "20",
      cost_type: "shared",
    },
    {
      timestamp: at(now),
      identity_id: "gateway",
      product_type: "SUPPORT",
      amount: "18",
      cost_type: "shared",
    },
  ]);
  const sentence =
    "notifier pays 42.50 USD more than on 3 Mar 2026: 25.00 because the share in Storage of r-1 grew (33.3 % instead of 25.0 %), 12.50 because more was used of Storage of r-1 (720 instead of 600 GB), and 5.00 because Network of r-1 appeared on the bill.";
  const page = await open(`/tenants/acme/explorer?${period}&compare=previous`);
  const dialog = page.getByRole("dialog", { name: "Why did it change?" });

  await t.test("the row of a group opens it, with the causes of the API", async (t) => {
    await page.getByRole("link", { name: "Why notifier changed" }).click();
    await dialog.getByRole("heading", { name: sentence }).waitFor();
    t.match(
      await textOf(page, ".drawer .strip"),
      /^on 3 Mar 2026 62\.50 USD Quantity \+12\.50 USD .* Share \+25\.00 USD .* New \+5\.00 USD .* on 4 Mar 2026 105\.00 USD$/,
    );
    const { body } = await get(
      app,
      `/api/v1/tenants/acme/chargebacks/change?${period}&identity_id=notifier&currency=USD`,
    );
    t.strictSame(body.totals[0].causes, {
      quantity: "12.5",
      price: "0",
      share: "25",
      new: "5",
      gone: "0",
      other: "0",
    });
    t.equal(
      await textOf(page, ".drawer tbody tr:first-child"),
      "STORAGE r-1 62.50 100.00 ▲ +37.50 60 % +12.50 Quantity 720 instead of 600 GB +25.00 Share 33.3 % instead of 25.0 %",
    );
    await noBarriers(t, page, "why a sum changed");
  });

  await t.test("the address says by what the causes are listed, and a link opens the same", async (t) => {
    await dialog.getByLabel("By").selectOption("rule");
    await dialog.getByRole("cell", { name: "by usage" }).waitFor();
    const copy = await open(new URL(page.url()).pathname + new URL(page.url()).search);
    await copy.getByRole("heading", { name: sentence }).waitFor();
    await shows(copy, ".drawer tbody tr", 1);
    t.match(await textOf(copy, ".drawer tbody tr"), /^the product's rule by usage 62\.50 105\.00 /);
  });

  await t.test("all costs together are explained from the total, with what cannot be compared", async (t) => {
    const whole = await open(`/tenants/acme/explorer?${period}&compare=previous`);
    await whole.getByRole("link", { name: "Why Total changed" }).click();
    await whole
      .getByRole("heading", {
        name: "acme pays 53.00 USD more than on 3 Mar 2026: 50.00 because more was used of Storage of r-1 (720 instead of 600 GB), 5.00 because Network of r-1 appeared on the bill, and 2.00 less because the cost of Support of r-1 fell.",
      })
      .waitFor();
    t.equal(await textOf(whole, ".drawer tfoot tr"), "Total 270.00 323.00 ▲ +53.00 20 %");
  });

  await t.test(
    "it can be copied and printed without the view, and fits on a phone in the dark",
    async (t) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await dialog.getByRole("button", { name: "Copy" }).click();
      await dialog.getByRole("button", { name: "Copied" }).waitFor();
      t.equal(await page.evaluate("navigator.clipboard.readText()"), `${sentence}\n${page.url()}`);
      await page.emulateMedia({ media: "print" });
      t.strictSame(
        [await page.locator("main > .title").isVisible(), await dialog.isVisible()],
        [false, true],
      );
      const { pathname, search } = new URL(page.url());
      const phone = await open(pathname + search, { width: 360, dark: true });
      await phone.getByRole("heading", { name: sentence }).waitFor();
      t.ok(await phone.locator(".drawer").evaluate((drawer) => drawer.scrollWidth <= drawer.clientWidth));
      await noBarriers(t, phone, "why a sum changed, on a phone in the dark");
    },
  );

  t.strictSame(troubles, []);
});
