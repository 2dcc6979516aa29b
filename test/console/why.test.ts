/** Why an amount is what it is, for a manager and for an engineer, in a real browser. */
import t from "tap";
import { unit } from "../allocate/staged-days.js";
import { publishFacts } from "../http/published-facts.js";
import { get } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../until.js";
import { noBarriers, startConsole, textOf } from "./pages.js";

const [day, next] = ["2026-03-01", "2026-03-02"] as const;

t.test("why an amount is paid is a sentence, and a way from the bill to it", needs("chromium"), async (t) => {
  const { app, stores, open, troubles } = await startConsole(t);
  const used = (on: string, identity_id: string, gigabytes: bigint) => ({
    day: on,
    metric: "bytes_in",
    resource_id: "payments-3",
    identity_id,
    weight: gigabytes * 10n ** 15n,
  });
  const line = { key: "", currency: "USD", resource_id: "payments-3", product_type: "CKU" };
  await publishFacts(stores, "acme", 1, {
    lines: [day, next].map((on) => ({ ...line, day: on, cost: (3135n * unit) / 100n })),
    usage: [
      used(day, "notifier", 10n),
      used(day, "gateway", 15n),
      used(next, "notifier", 1n),
      used(next, "gateway", 1n),
    ],
    sets: [],
    gaps: [],
    decimalPlaces: 4,
  });
  const { client } = await stores.tenant("acme");
  const metadata = JSON.stringify({ unit: "CKU-hour", original_amount: "33", discount_amount: "1.65" });
  await client.command({
    query: `ALTER TABLE billing UPDATE quantity = 24, unit_price = toDecimal128('1.375', 12), metadata = '${metadata}' WHERE 1 SETTINGS mutations_sync = 1`,
  });
  const own = `/api/v1/tenants/acme/chargebacks?start_date=${day}&end_date=${day}&identity_id=notifier`;
  const id = (await get(app, own)).body.items[0].dimension_id;
  const why = `/tenants/acme/explorer?start_date=${day}&end_date=${next}&why=${id},${day}T00:00:00Z,0,USD,0`;
  const sentence =
    "notifier pays 8.78 of the 21.95 USD for CKU of payments-3 on 1 Mar 2026 because it moved 40.0 % of its bytes, 10.0 of 25.0 GB.";
  const page = await open(why);
  const dialog = page.getByRole("dialog", { name: "Why this amount" });

  await t.test("the drawer begins with the sentence of the API and the way to the amount", async (t) => {
    await dialog.getByRole("heading", { name: sentence }).waitFor();
    t.equal(
      await textOf(page, ".strip"),
      "Bill 33.00 USD 24 CKU-hour × 1.375 Discount −1.65 USD Rule 21.95 USD for CKU: 70 % × 31.35 Share 40.0 % by usage: 10.0 of 25.0 GB Amount 8.78 USD",
    );
    t.equal(await page.locator(".strip li").last().locator(".amount").getAttribute("title"), "8.778 USD");
    t.match(await textOf(page, ".drawer table thead"), /Weight \(GB\) Share Amount \(USD\)$/);
    await noBarriers(t, page, "the drawer");
  });

  await t.test("the exact calculation is closed until it is opened", async (t) => {
    const line = "The line of the bill: 24 CKU-hour × 1.375 − 1.65 (Discount) = 31.35 USD";
    t.equal(await dialog.getByText(line).isVisible(), false);
    await dialog.getByText("The exact calculation").click();
    await dialog.getByText(line).waitFor();
    await dialog.getByText("Amount: 8.778 USD").waitFor();
    t.equal(await dialog.getByText("0.7 of it: 21.945 USD ← this part").isVisible(), true);
  });

  await t.test("the sentence can be copied with the address, and printed without the view", async (t) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await dialog.getByRole("button", { name: "Copy" }).click();
    await dialog.getByRole("button", { name: "Copied" }).waitFor();
    t.equal(await page.evaluate("navigator.clipboard.readText()"), `${sentence}\n${page.url()}`);
    await page.emulateMedia({ media: "print" });
    t.strictSame(
      [await page.locator("main > .title, main > h1").first().isVisible(), await dialog.isVisible()],
      [false, true],
    );
    t.equal(await dialog.getByRole("button", { name: "Copied" }).isVisible(), false);
    await page.emulateMedia({ media: "screen" });
  });

  await t.test("links lead to the rules, the statement, and the same amount on the next day", async (t) => {
    const target = async (name: string) =>
      new URL((await dialog.getByRole("link", { name, exact: true }).getAttribute("href")) ?? "", page.url());
    t.equal((await target("Rules of the day")).pathname, "/tenants/acme/rules");
    const statement = await target("Statement of notifier");
    t.strictSame(
      [statement.pathname, statement.searchParams.get("identity_id"), statement.searchParams.get("why")],
      ["/tenants/acme/statement", "notifier", null],
    );
    const days = dialog.locator(".bars li");
    // Both parts of the line: by usage, and evenly among nobody.
    const shown = await days.evaluateAll((found) => found.map((each) => each.textContent));
    t.strictSame(shown, [
      "0.0026 Feb",
      "0.0027 Feb",
      "0.0028 Feb",
      "8.781 Mar",
      "10.972 Mar",
      "0.003 Mar",
      "0.004 Mar",
    ]);
    await dialog.getByRole("link", { name: "2 Mar" }).click();
    await dialog
      .getByRole("heading", {
        name: /^notifier pays 10\.97 of the 21\.95 USD for CKU of payments-3 on 2 Mar 2026/,
      })
      .waitFor();
    await until("the address names the day", async () => page.url().includes(next));
  });

  await t.test("the drawer fits on a phone, and in the dark", async (t) => {
    const phone = await open(why, { width: 360, dark: true });
    await phone.getByRole("heading", { name: sentence }).waitFor();
    const beside = await phone
      .locator(".drawer")
      .evaluate((drawer) => [drawer.scrollWidth <= drawer.clientWidth, drawer.clientWidth <= 360]);
    t.strictSame(beside, [true, true]);
    await noBarriers(t, phone, "the drawer on a phone, in the dark");
  });

  t.strictSame(troubles, []);
});
