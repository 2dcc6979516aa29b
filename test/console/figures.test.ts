/** Figures that people can read, with all digits one click away, in a real browser. */
import t from "tap";
import { insertBilling, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../until.js";
import { openMenu, shows, startConsole, textOf } from "./pages.js";

const day = "2026-03-01";
const period = `start_date=${day}&end_date=${day}`;
const amounts = [
  ["sa-1", "USD", "1234567.123456789012"],
  ["sa-2", "USD", "21.945"],
  ["sa-3", "USD", "0.0004"],
  ["sa-4", "USD", "-0.0001"],
  ["sa-1", "JPY", "1234567.5"],
  ["sa-2", "JPY", "0.25"],
  ["sa-1", "KWD", "1.2345"],
] as const;

t.test(
  "amounts have the decimal places of their currency, and all digits on demand",
  needs("chromium"),
  async (t) => {
    const { stores, open, troubles } = await startConsole(t);
    await insertChargebacks(
      stores,
      "acme",
      amounts.map(([identity_id, currency, amount]) => ({
        timestamp: `${day}T00:00:00Z`,
        identity_id,
        currency,
        amount,
      })),
    );
    await insertBilling(
      stores,
      "acme",
      [
        ["USD", "1234589.068756789012"],
        ["JPY", "1234567.75"],
        ["KWD", "1.2345"],
      ].map(([currency = "", total_cost = ""]) => ({ timestamp: `${day}T00:00:00Z`, currency, total_cost })),
    );
    const table = "section.table";
    const page = await open(`/tenants/acme/explorer?${period}&group_by=identity_id`);

    await t.test("each currency is rounded to its minor unit, and small amounts are no zeros", async (t) => {
      const shown = await page
        .locator("tbody .leads .amount, tfoot .leads .amount")
        .evaluateAll((found) => found.map((each) => [each.textContent, each.getAttribute("title")]));
      t.strictSame(shown, [
        ["1,234,568", "1234567.5 JPY"],
        ["< 1", "0.25 JPY"],
        ["1,234,568", "1234567.75 JPY"],
        ["1.235", "1.2345 KWD"],
        ["1.235", "1.2345 KWD"],
        ["1,234,567.12", "1234567.123456789012 USD"],
        ["21.95", "21.945 USD"],
        ["< 0.01", "0.0004 USD"],
        ["> −0.01", "-0.0001 USD"],
        ["1,234,589.07", "1234589.068756789012 USD"],
      ]);
      const rights = await page
        .locator(table)
        .last()
        .locator("tr > .leads .amount")
        .evaluateAll((found) => found.map((each) => Math.round(each.getBoundingClientRect().right)));
      t.equal(new Set(rights).size, 1, "the amounts of a column end at the same place");
    });

    await t.test("the reconciliation has every digit", async (t) => {
      t.match(await textOf(page, ".proof"), /Bill 1,234,589\.068756789012 USD = .* difference 0\.00/);
    });

    await t.test("a copied table has exact amounts, in cells", async (t) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.evaluate(
        `getSelection().selectAllChildren([...document.querySelectorAll("${table} tbody")].at(-1))`,
      );
      await page.keyboard.press("Control+C");
      const copied = await page.evaluate<string>("navigator.clipboard.readText()");
      t.strictSame(
        copied
          .trim()
          .split("\n")
          .map((row) =>
            row
              .split("\t")
              .slice(0, 2)
              .map((cell) => cell.trim()),
          ),
        [
          ["sa-1", "1234567.123456789012"],
          ["sa-2", "21.945"],
          ["sa-3", "0.0004"],
          ["sa-4", "-0.0001"],
        ],
      );
      await page.locator(table).last().locator("tbody .leads .amount").first().dblclick();
      await page.keyboard.press("Control+C");
      t.equal(
        await page.evaluate("navigator.clipboard.readText()"),
        "1234567.123456789012",
        "a single amount, too",
      );
      await page.getByRole("heading", { name: "Explore" }).dblclick();
      await page.keyboard.press("Control+C");
      t.equal(
        await page.evaluate("navigator.clipboard.readText()"),
        "Explore",
        "other texts are copied as they are",
      );
    });

    await t.test("the switch shows all digits in every view, and is in the address", async (t) => {
      await openMenu(page);
      await page.getByRole("checkbox", { name: "All digits" }).check();
      await until(
        "the address says so",
        async () => new URL(page.url()).searchParams.get("digits") === "all",
      );
      const shown = async () =>
        await page
          .locator(table)
          .last()
          .locator("tbody .leads .amount")
          .evaluateAll((found) => found.map((each) => each.textContent));
      t.strictSame(await shown(), ["1,234,567.123456789012", "21.945", "0.0004", "−0.0001"]);
      await page.getByRole("link", { name: "Overview", exact: true }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await shows(page, ".loading, .updating", 0);
      t.match(await textOf(page, "main"), /1,234,589\.068756789012 USD/);
      await page.reload();
      await openMenu(page);
      await page.getByRole("checkbox", { name: "All digits", checked: true }).waitFor();
      await page.getByRole("checkbox", { name: "All digits" }).uncheck();
      t.equal(new URL(page.url()).searchParams.has("digits"), false);
    });

    t.strictSame(troubles, []);
  },
);
