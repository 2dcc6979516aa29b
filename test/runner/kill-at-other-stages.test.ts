import t from "tap";
import { stagedTenant } from "./kill-at-stages.js";
import { emittingPoints, retentionPoints, taggingPoints } from "./kill-points.js";

t.test(
  "kill -9 while tags are written, files are emitted or old days are dropped leaves complete data",
  { timeout: 890_000 },
  async (t) => {
    const tenant = stagedTenant(t);
    for (const point of taggingPoints)
      await t.test(point.name, async (t) => void (await tenant.next(t, "tag", point)));
    for (const point of [...emittingPoints, ...retentionPoints])
      await t.test(point.name, async (t) => void (await tenant.next(t, "run", point)));
    await t.test("the data of the last kill is complete", async (t) => {
      const { recovery } = await tenant.next(t, "end");
      t.strictSame(
        recovery?.tags,
        ["tag-2", "tag-3", "tag-4", "tag-5", "tag-6"],
        "all tags but the one that was not committed",
      );
    });
  },
);
