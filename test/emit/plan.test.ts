import t from "tap";
import { lastDayOf, type PlanInput, planEmission } from "../../src/emit/plan.js";
import type { EmissionRecord } from "../../src/emit/sql/emission-records.js";

const day = (name: string, version = "v1", rows = 2, is_lost = false, is_provisional = false) => ({
  day: name,
  version,
  rows,
  is_lost,
  is_provisional,
});

const provisional = (name: string) => day(name, "v1-provisional", 2, false, true);

function input(changes: Partial<PlanInput> = {}): PlanInput {
  return {
    span: "day",
    settings: ["s"],
    days: [],
    records: [],
    keepFrom: "2026-01-10",
    from: "2026-01-10",
    waitFrom: undefined,
    ...changes,
  };
}

/** Records of what a plan said, as if it had been done. */
function done(planned: PlanInput, status: EmissionRecord["status"] = "emitted"): EmissionRecord[] {
  return planEmission(planned).write.map(({ firstDay, contentHash }) => ({
    span: planned.span,
    first_day: firstDay,
    status,
    content_hash: contentHash,
    file: `/out/${firstDay}`,
  }));
}

const written = (planned: PlanInput) => planEmission(planned).write.map(({ firstDay }) => firstDay);
const removed = (planned: PlanInput) => planEmission(planned).remove.map(({ first_day }) => first_day);

t.test("what has to be written", async (t) => {
  const days = [day("2026-02-01"), day("2026-02-02")];
  const all = ["2026-02-01", "2026-02-02"];
  const records = done(input({ days }));
  const never: EmissionRecord = {
    span: "day",
    first_day: "2026-02-01",
    status: "failed",
    content_hash: null,
    file: null,
  };
  for (const [name, changes, wanted] of [
    ["everything at first", {}, all],
    ["nothing without a change", { records }, []],
    [
      "a day of another version",
      { records, days: [day("2026-02-01"), day("2026-02-02", "v2")] },
      ["2026-02-02"],
    ],
    ["everything with other settings", { records, settings: ["t"] }, all],
    ["what failed before, though it held this once", { records: done(input({ days }), "failed") }, all],
    ["what never succeeded", { records: [never, ...records.slice(1)] }, ["2026-02-01"]],
    ["no day that never had rows", { days: [day("2026-02-01", "v1", 0)] }, []],
    ["a day that has lost its rows", { records, days: [day("2026-02-01", "v2", 0)] }, ["2026-02-01"]],
    ["no day before those that the emitter looks at", { from: "2026-02-02" }, ["2026-02-02"]],
    ["no day that is not kept", { keepFrom: "2026-02-02" }, ["2026-02-02"]],
  ] as const) {
    t.same(written(input({ days, ...changes })), wanted, name);
  }
});

t.test("a month is written anew with any of its days, until it begins to be dropped", async (t) => {
  const month = { span: "month", keepFrom: "2026-01-01" } as const;
  const days = [day("2026-01-30"), day("2026-01-31"), day("2026-02-01")];
  const records = done(input({ ...month, days }));
  t.same(
    records.map(({ first_day }) => first_day),
    ["2026-01-01", "2026-02-01"],
  );
  t.same(written(input({ ...month, days, records })), []);
  const more = [...days, day("2026-02-02")];
  t.same(written(input({ ...month, days: more, records })), ["2026-02-01"]);
  t.same(written(input({ ...month, days, records, from: "2026-01-31", settings: [] })), [
    "2026-01-01",
    "2026-02-01",
  ]);
  t.same(
    written(input({ ...month, days: days.slice(1), records, keepFrom: "2026-01-31" })),
    [],
    "it never shrinks",
  );
  t.same(written(input({ ...month, days: days.slice(1), keepFrom: "2026-01-31" })), [
    "2026-01-01",
    "2026-02-01",
  ]);
  t.same(removed(input({ ...month, days: days.slice(2), records, keepFrom: "2026-02-01" })), ["2026-01-01"]);
});

t.test("days that lack something: marked, or waited for as long as somebody asks for it", async (t) => {
  const days = [day("2026-02-01"), provisional("2026-02-02")];
  const marks = (planned: PlanInput) =>
    planEmission(planned).write.map((file) => [file.firstDay, file.provisional]);
  t.same(marks(input({ days })), [
    ["2026-02-01", false],
    ["2026-02-02", true],
  ]);
  t.same(marks(input({ days, waitFrom: "2026-02-02" })), [["2026-02-01", false]]);
  t.same(
    marks(input({ days, waitFrom: "2026-02-03" })),
    [
      ["2026-02-01", false],
      ["2026-02-02", true],
    ],
    "what is no longer gathered is not waited for",
  );
  const month = { span: "month", keepFrom: "2026-01-01" } as const;
  t.same(marks(input({ ...month, days })), [["2026-02-01", true]], "a month with such a day");
  t.same(marks(input({ ...month, days, waitFrom: "2026-02-01" })), []);
  t.same(
    written(input({ days: [day("2026-02-01"), day("2026-02-02")], records: done(input({ days })) })),
    ["2026-02-02"],
    "a day that is settled gets its file",
  );
});

t.test("a day that the store has lost keeps the file that was written of it", async (t) => {
  const days = [day("2026-02-01"), day("2026-02-02")];
  const records = done(input({ days }));
  const lost = [day("2026-02-01", "v2", 2, true), day("2026-02-02", "v2")];
  t.same(written(input({ days: lost, records })), ["2026-02-02"], "with other rows");
  t.same(removed(input({ days: lost, records })), []);
  const empty = [day("2026-02-01", "v2", 0, true), day("2026-02-02")];
  t.same(written(input({ days: empty, records })), [], "without rows, it does not become a header");
  t.same(written(input({ days: empty })), ["2026-02-02"], "and gets no file where it had none");
  const month = { span: "month", keepFrom: "2026-01-01" } as const;
  const ofMonth = done(input({ ...month, days }));
  t.same(written(input({ ...month, days: lost, records: ofMonth })), [], "nor does its month change");
  const back = [day("2026-02-01", "v3"), day("2026-02-02")];
  t.same(
    written(input({ days: back, records })),
    ["2026-02-01"],
    "once it is calculated anew, it is written",
  );
});

t.test("what has to be removed", async (t) => {
  const days = [day("2026-02-01"), day("2026-02-02")];
  const records = done(input({ days }));
  t.same(removed(input({ days, records })), []);
  t.same(removed(input({ days: days.slice(1), records, keepFrom: "2026-02-02" })), ["2026-02-01"]);
  t.same(removed(input({ days, records, from: "2026-02-03" })), [], "older days than it looks at stay");
  t.same(
    removed(input({ days, records, span: "month" })),
    ["2026-02-01", "2026-02-02"],
    "files of another span",
  );
});

t.test("the last day of a month", async (t) => {
  for (const [first, last] of [
    ["2026-02-01", "2026-02-28"],
    ["2028-02-01", "2028-02-29"],
    ["2026-12-01", "2026-12-31"],
  ] as const)
    t.equal(lastDayOf("month", first), last);
  t.equal(lastDayOf("day", "2026-02-03"), "2026-02-03");
});
