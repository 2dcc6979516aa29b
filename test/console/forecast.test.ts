/** The forecast of a month from its days so far. */
import t from "tap";
import { forecastOf, shownEstimate } from "../../src/console/money/forecast.js";

const shown = (costs: readonly number[], left: number) => forecastOf(costs, left)?.map(shownEstimate);

t.test(
  "a forecast is a range that is wider the more the days vary and the more of them are left",
  async (t) => {
    t.strictSame(shown([10, 10, 10], 7), ["100", "100"]);
    t.strictSame(shown([10, 20, 15], 0), ["45", "45"]);
    t.strictSame(shown([10, 20, 15], 3), ["74.3", "106"]);
    t.strictSame(shown([10, 20, 15], 27), ["345", "555"]);
  },
);

t.test("a forecast is never below the costs so far, unless days have refunds", async (t) => {
  t.strictSame(shown([1, 100, 1], 1), ["102", "221"]);
  t.strictSame(shown([1, -100, 1], 1), ["−217", "−44.4"]);
});

t.test("fewer than three days make no forecast", async (t) => {
  t.equal(forecastOf([10, 20], 28), undefined);
});
