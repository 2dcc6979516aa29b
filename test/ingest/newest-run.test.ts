/** Which run of an exporter is the newest. */
import t from "tap";
import type { StoredFile } from "../../src/ingest/ecosystems/focus/sources/files/file-source.js";
import { newestFirst, stampOf } from "../../src/ingest/ecosystems/focus/sources/layouts/newest.js";

const run = (name: string, modified: number, ran?: string) => ({
  ran: stampOf(ran),
  manifest: { name, modified } as unknown as StoredFile,
});
const order = (...runs: ReturnType<typeof run>[]) => newestFirst(runs).map(({ manifest }) => manifest.name);

t.test("runs that all state a time are sorted by it, whatever the dates of their files", async (t) => {
  t.strictSame(
    order(
      run("a", 300, "2026-06-01T00:00:00Z"),
      run("b", 100, "2026-06-05T00:00:00Z"),
      run("c", 200, "20260603T000000Z"),
    ),
    ["b", "c", "a"],
  );
});

t.test("if one run states no time, all are sorted by the dates of their files", async (t) => {
  t.strictSame(
    order(run("a", 100, "2026-06-05T00:00:00Z"), run("b", 300), run("c", 200, "2026-06-01T00:00:00Z")),
    ["b", "c", "a"],
    "the newest run is the one without a time",
  );
  t.strictSame(
    order(run("a", 300, "2026-06-01T00:00:00Z"), run("b", 100), run("c", 200, "2026-06-05T00:00:00Z")),
    ["a", "c", "b"],
    "the times that other runs state do not count",
  );
});

t.test("runs of the same time are sorted by their names, the last one first", async (t) => {
  t.strictSame(order(run("a", 100), run("c", 100), run("b", 100)), ["c", "b", "a"]);
});

t.test("a time is read with any punctuation, and a text without a day has none", async (t) => {
  for (const [text, stamp] of [
    ["2026-06-05T04:00:00.5Z", "20260605040000"],
    ["20260605T0400", "20260605040000"],
    ["2026-06-05", "20260605000000"],
    ["yesterday", undefined],
    [undefined, undefined],
  ] as const)
    t.equal(stampOf(text), stamp);
});
