import t from "tap";
import { lastDayOf, type PlanInput, planEmission } from "../../../src/export/emitters/plan.js";
import type { EmissionRecord } from "../../../src/export/emitters/sql/emission-records.js";

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

/** The records after the plan was executed. */
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

t.test("a plan writes changed, new and failed files", async (t) => {
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
    ["all files at first", {}, all],
    ["nothing without changes", { records }, []],
    [
      "a day with another version",
      { records, days: [day("2026-02-01"), day("2026-02-02", "v2")] },
      ["2026-02-02"],
    ],
    ["all files with other settings", { records, settings: ["t"] }, all],
    [
      "failed files, even if they had the same content before",
      { records: done(input({ days }), "failed") },
      all,
    ],
    ["files that never succeeded", { records: [never, ...records.slice(1)] }, ["2026-02-01"]],
    ["no file for a day that never had rows", { days: [day("2026-02-01", "v1", 0)] }, []],
    ["a day that has lost its rows", { records, days: [day("2026-02-01", "v2", 0)] }, ["2026-02-01"]],
    ["no day before lookback_days", { from: "2026-02-02" }, ["2026-02-02"]],
    ["no day out of retention", { keepFrom: "2026-02-02" }, ["2026-02-02"]],
  ] as const) {
    t.same(written(input({ days, ...changes })), wanted, name);
  }
});

t.test("a month is rewritten with any of its days, until it starts to leave the retention", async (t) => {
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
    "the month never shrinks",
  );
  t.same(written(input({ ...month, days: days.slice(1), keepFrom: "2026-01-31" })), [
    "2026-01-01",
    "2026-02-01",
  ]);
  t.same(removed(input({ ...month, days: days.slice(2), records, keepFrom: "2026-02-01" })), ["2026-01-01"]);
});

t.test("provisional days are marked, or wait as long as they are gathered", async (t) => {
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
    "days that are no longer gathered do not wait",
  );
  const month = { span: "month", keepFrom: "2026-01-01" } as const;
  t.same(
    marks(input({ ...month, days })),
    [["2026-02-01", true]],
    "a month with a provisional day is provisional",
  );
  t.same(marks(input({ ...month, days, waitFrom: "2026-02-01" })), []);
  t.same(
    written(input({ days: [day("2026-02-01"), day("2026-02-02")], records: done(input({ days })) })),
    ["2026-02-02"],
    "a day that becomes final gets its file",
  );
});

t.test("the file of a lost day stays unchanged", async (t) => {
  const days = [day("2026-02-01"), day("2026-02-02")];
  const records = done(input({ days }));
  const lost = [day("2026-02-01", "v2", 2, true), day("2026-02-02", "v2")];
  t.same(
    written(input({ days: lost, records })),
    ["2026-02-02"],
    "lost days with other rows are not rewritten",
  );
  t.same(removed(input({ days: lost, records })), []);
  const empty = [day("2026-02-01", "v2", 0, true), day("2026-02-02")];
  t.same(
    written(input({ days: empty, records })),
    [],
    "the file of a lost day without rows does not become a header",
  );
  t.same(written(input({ days: empty })), ["2026-02-02"], "a lost day gets no new file");
  const month = { span: "month", keepFrom: "2026-01-01" } as const;
  const ofMonth = done(input({ ...month, days }));
  t.same(
    written(input({ ...month, days: lost, records: ofMonth })),
    [],
    "the month of a lost day is not rewritten",
  );
  const back = [day("2026-02-01", "v3"), day("2026-02-02")];
  t.same(
    written(input({ days: back, records })),
    ["2026-02-01"],
    "the day is written after it was recalculated",
  );
});

t.test("a plan removes files of days out of retention and of another span", async (t) => {
  const days = [day("2026-02-01"), day("2026-02-02")];
  const records = done(input({ days }));
  t.same(removed(input({ days, records })), []);
  t.same(removed(input({ days: days.slice(1), records, keepFrom: "2026-02-02" })), ["2026-02-01"]);
  t.same(removed(input({ days, records, from: "2026-02-03" })), [], "files before lookback_days stay");
  t.same(
    removed(input({ days, records, span: "month" })),
    ["2026-02-01", "2026-02-02"],
    "files of another span are removed",
  );
});

t.test("the last day of a month is its last calendar day", async (t) => {
  for (const [first, last] of [
    ["2026-02-01", "2026-02-28"],
    ["2028-02-01", "2028-02-29"],
    ["2026-12-01", "2026-12-31"],
  ] as const)
    t.equal(lastDayOf("month", first), last);
  t.equal(lastDayOf("day", "2026-02-03"), "2026-02-03");
});
