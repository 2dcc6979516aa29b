/** Lifetimes decide which identities are charged for a day, so the edges of a day matter. */
import t from "tap";
import { existedDuring, spanOfDay } from "../../../src/ingest/ecosystems/confluent_cloud/lifetimes.js";

t.test("an entity exists on a day if its lifetime touches it", async (t) => {
  const day = spanOfDay("2026-03-29");
  const at = (time: string | null) => (time === null ? null : Date.parse(time));
  for (const [created, deleted, existed] of [
    [null, null, true],
    ["2026-03-29T23:59:59.999Z", null, true],
    ["2026-03-30T00:00:00Z", null, false],
    [null, "2026-03-29T00:00:00Z", true],
    [null, "2026-03-28T23:59:59.999Z", false],
    ["2026-03-29T08:00:00Z", "2026-03-29T08:00:00Z", true],
    ["2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", true],
  ] as const) {
    const lifetime = { created_at: at(created), deleted_at: at(deleted) };
    t.equal(existedDuring(lifetime, day), existed, `created ${created}, deleted ${deleted}`);
  }
  t.throws(() => spanOfDay("yesterday"), RangeError);
});
