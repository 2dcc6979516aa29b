/** Texts of amounts in the console. */
import t from "tap";
import { exact, exactText } from "../../src/common/exact-decimal.js";
import { absolute, percentage, shownAmount } from "../../src/console/money/amount-text.js";

t.test("all digits of an amount are shown, those beyond its currency's apart", async (t) => {
  for (const [text, currency, main, beyond] of [
    ["1234567.5", "USD", "1,234,567.50", ""],
    ["-1000", "USD", "−1,000.00", ""],
    ["0.999999999999", "USD", "0.99", "9999999999"],
    ["-0.001", "USD", "−0.00", "1"],
    ["1234.5", "JPY", "1,234", ".5"],
    ["1234", "JPY", "1,234", ""],
    ["0.5", "KWD", "0.500", ""],
  ] as const)
    t.strictSame(shownAmount(exact(text), currency, true), { main, beyond });
  t.equal(exactText(absolute(exact("-7.25"))), "7.25");
});

t.test("an amount is rounded to its currency's minor unit unless all digits are wanted", async (t) => {
  t.strictSame(shownAmount(exact("0.999999999999"), "USD", false), { main: "1.00", beyond: "" });
  t.strictSame(shownAmount(exact("0.001"), "USD", false), { main: "< 0.01", beyond: "" });
});

t.test("a percentage below ten has one decimal place, others have none", async (t) => {
  const percent = (part: string, whole: string) => percentage(exact(part), exact(whole));
  t.equal(percent("1", "3"), "33 %");
  t.equal(percent("1", "30"), "3.3 %");
  t.equal(percent("-1", "30"), "−3.3 %");
  t.equal(percent("5", "0"), undefined);
});
