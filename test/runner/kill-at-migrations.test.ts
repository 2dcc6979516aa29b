import t from "tap";
import { stagedTenant } from "./kill-at-stages.js";
import { migrationPoints } from "./kill-points.js";

t.test("new stores survive kill -9 during their migration", { timeout: 890_000 }, async (t) => {
  const tenant = stagedTenant(t);
  for (const point of migrationPoints)
    await t.test(point.name, async (t) => {
      const { recovery } = await tenant.next(t, "open", point);
      t.equal(recovery, undefined, "before its stores were open");
    });
  await t.test("the stores of the last kill are complete", async (t) => {
    const { recovery, schemas } = await tenant.next(t, "end");
    t.ok(recovery !== undefined, "the stores open, and a run is whole");
    t.strictSame(
      schemas?.killed,
      schemas?.untouched,
      "their schemas are those of stores that were made in one go",
    );
  });
});
