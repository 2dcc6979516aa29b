/** Usage that is measured under an id that the bill writes in another case. */
import t from "tap";
import { asBilled, otherSpelling } from "../../../src/ingest/ecosystems/focus/usage/billed-spelling.js";

const billed = new Map([
  ["i-abc", ["i-ABC"]],
  ["vm", ["VM", "vm"]],
  ["two", ["TWO", "Two"]],
]);

t.test("an id that is billed only in another case gets the first spelling of the bill", async (t) => {
  const spellings = ["i-abc", "I-ABC", "i-ABC", "vm", "Vm", "two", "unknown", ""];
  t.strictSame(
    spellings.map((id) => [id, otherSpelling(billed, id)]),
    [
      ["i-abc", "i-ABC"],
      ["I-ABC", "i-ABC"],
      ["i-ABC", undefined],
      ["vm", undefined],
      ["Vm", "VM"],
      ["two", "TWO"],
      ["unknown", undefined],
      ["", undefined],
    ],
  );
});

t.test("series that become one are added up, and no usage is lost", async (t) => {
  const series = (
    resource_id: string,
    identity_id: string,
    starts: number[],
    microUnits: number[],
    scale = 0,
  ) => ({
    metric: "cpu",
    resource_id,
    identity_id,
    starts,
    microUnits,
    scale,
  });
  t.strictSame(
    asBilled(
      [
        series("i-abc", "web", [0, 3600], [1, 2]),
        series("I-ABC", "web", [3600, 7200], [10, 20]),
        series("i-ABC", "data", [0], [5]),
        series("unknown", "web", [0], [7]),
        series("i-abc", "web", [0], [4], 3),
      ],
      billed,
    ),
    [
      series("i-ABC", "web", [0, 3600, 7200], [1, 12, 20]),
      series("i-ABC", "data", [0], [5]),
      series("unknown", "web", [0], [7]),
      series("i-ABC", "web", [0], [4], 3),
    ],
  );
});
