import t from "tap";
import { spansOf } from "../../src/export/statement.js";

const days = [
  { day: "2026-03-01", rows: 4 },
  { day: "2026-03-02", rows: 5 },
  { day: "2026-03-04", rows: 20 },
  { day: "2026-03-05", rows: 1 },
  { day: "2026-03-06", rows: 9 },
];

const bounds = (rowsAtOnce: number) =>
  spansOf(days, rowsAtOnce).map(({ first_day, last_day }) => `${first_day.slice(-2)}-${last_day.slice(-2)}`);

t.test("each statement of an export covers as many days as stay within its row limit", async (t) => {
  t.same(bounds(10), ["01-02", "04-04", "05-06"], "a day that exceeds the limit alone has its own statement");
  t.same(bounds(1000), ["01-06"], "few rows take one statement");
  t.same(
    bounds(0),
    ["01-01", "02-02", "04-04", "05-05", "06-06"],
    "a limit of 0 gives each day its own statement",
  );
  t.same(spansOf([], 10), [], "no days take no statement");
});
