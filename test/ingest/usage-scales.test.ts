/**
 * Usage in units so large that all of it is below a millionth: it is stored with its digits, which count as weights. On
 * the real stores.
 */
import t from "tap";
import { midnightSeconds } from "../../src/common/days.js";
import type { UsageSeries } from "../../src/ingest/ecosystem.js";
import { familiesOf } from "../../src/ingest/staging/align-scales.js";
import { billing, DAYS, openStaging } from "./staging-script.js";

const [day = ""] = DAYS;

function series(identity_id: string, scale: number, hour: number, units: number | bigint): UsageSeries {
  const starts = [midnightSeconds(day) + 3600 * hour];
  return { metric: "m", resource_id: "c1", identity_id, scale, starts, microUnits: [units] };
}

t.test("usage of a day has one unit for each metric and resource", async (t) => {
  const { stage, rows, hashes } = await openStaging(t);
  const staged = async (batch: readonly UsageSeries[]) => {
    await stage({ billing, series: batch });
    const found = await rows(
      "usage",
      "concat(metric, ' ', resource_id, ' ', identity_id, ' ', toString(micro_units), ' e-', toString(6 + scale)) AS fact",
    );
    return found.map(({ fact }) => fact).sort();
  };

  await t.test("parts of a day with different units get the finest of them", async (t) => {
    t.strictSame(
      await staged([
        series("ann", 0, 0, 1),
        series("ann", 9, 1, 45),
        series("bob", 3, 2, 7),
        { ...series("cat", 0, 3, 2_000_000), resource_id: "c2" },
        { ...series("cat", 6, 3, 2_000_001), metric: "other" },
      ]),
      [
        "m c1 ann 1000000000 e-15",
        "m c1 ann 45 e-15",
        "m c1 bob 7000000 e-15",
        "m c2 cat 2000000 e-6",
        "other c1 cat 2000001 e-12",
      ],
    );
  });

  await t.test("a weight that is large compared with its finest digits keeps 24 digits", async (t) => {
    t.strictSame(
      await staged([series("ann", 0, 0, 10n ** 20n), series("bob", 30, 1, 15n * 10n ** 26n + 5n)]),
      ["m c1 ann 100000000000000000000000 e-9", "m c1 bob 2 e-9"],
    );
  });

  await t.test("the unit is part of the input of a day", async (t) => {
    await staged([series("ann", 6, 0, 1)]);
    const before = await hashes();
    await staged([series("ann", 9, 0, 1)]);
    t.not((await hashes())[0], before[0]);
  });
});

t.test("metrics that are used together, directly or through a third one, are one family", async (t) => {
  const families = familiesOf([
    ["a", "b"],
    ["c", "d"],
    ["b", "c"],
    ["x", "y"],
  ]);
  t.equal(new Set(["a", "b", "c", "d"].map((metric) => families.get(metric))).size, 1);
  t.equal(families.get("x"), families.get("y"));
  t.not(families.get("x"), families.get("a"));
  t.equal(families.size, 6);
});
