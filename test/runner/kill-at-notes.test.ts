import t from "tap";
import { publicationPoints } from "./kill-points.js";
import { killAtEach } from "./killing.js";

t.test("kill -9 while Postgres records a publish leaves complete days", { timeout: 890_000 }, async (t) => {
  await killAtEach(
    t,
    publicationPoints.filter((point) => point.store === "postgres"),
  );
});
