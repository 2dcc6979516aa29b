import t from "tap";
import { publicationPoints } from "./kill-points.js";
import { killAtEach } from "./killing.js";

t.test(
  "kill -9 while ClickHouse swaps gathered rows leaves complete days",
  { timeout: 890_000 },
  async (t) => {
    await killAtEach(
      t,
      publicationPoints.filter((point) => point.store === "clickhouse" && !point.swapsResults),
    );
  },
);
