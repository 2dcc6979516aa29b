/** Texts of amounts in the console. */
import t from "tap";
import { exact, exactText } from "../../src/common/exact-decimal.js";
import { groupDigits } from "../../src/common/figures.js";
import { absolute, percentage, shownAmount } from "../../src/console/money/amount-text.js";

t.test("an amount is shown with two decimal places, and further places apart", async (t) => {
  for (const [text, main, beyond] of [
    ["1234567.5", "1,234,567.50", ""],
    ["-1000", "−1,000.00", ""],
    ["0.999999999999", "0.99", "9999999999"],
    ["-0.001", "−0.00", "1"],
  ] as const)
    t.strictSame(shownAmount(exact(text)), { main, beyond });
  t.equal(groupDigits("999"), "999");
  t.equal(groupDigits("1000.25"), "1,000.25");
  t.equal(exactText(absolute(exact("-7.25"))), "7.25");
});

t.test("a percentage below ten has one decimal place, others have none", async (t) => {
  const percent = (part: string, whole: string) => percentage(exact(part), exact(whole));
  t.equal(percent("1", "3"), "33 %");
  t.equal(percent("1", "30"), "3.3 %");
  t.equal(percent("-1", "30"), "−3.3 %");
  t.equal(percent("5", "0"), undefined);
});
