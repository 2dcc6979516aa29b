/** Lines of assigned resources, looked up by the store and by a plain referee. */
import t from "tap";
import { addDays, daysOfWindow } from "../../src/common/days.js";
import { assignedOf } from "../../src/config/allocation/assigned.js";
import { digestInWindow } from "../../src/config/allocation/identity-map.js";
import type { AssignedPeriod } from "../../src/domain/assignment.js";
import { ruleColumns } from "../../src/domain/rule-columns.js";
import { identitySql, isAssignedSql } from "../../src/ingest/configured/identity-sql.js";
import { prepareStore } from "../../src/ingest/configured/store-maps.js";
import fc from "../property.js";
import { openStaging } from "./staging-script.js";

const FIRST = "2026-01-01";
const DAYS = daysOfWindow({ start: FIRST, end: "2026-01-13" });
const RESOURCES = ["r", "r-2", "it's\\", "ärger 日本", "0"];

/** Draws the periods of a resource: its days are cut at some places, and some of the pieces are assigned. */
const periodsOf = (resource_id: string): fc.Arbitrary<AssignedPeriod[]> =>
  fc
    .tuple(
      fc.subarray(DAYS.map((_, index) => index)),
      fc.array(fc.option(fc.constantFrom("web", "ops", "it's")), {
        minLength: DAYS.length,
        maxLength: DAYS.length,
      }),
      fc.boolean(),
    )
    .map(([cuts, identities, isOpen]) =>
      cuts.flatMap((from, index) => {
        const identity_id = identities[index];
        if (identity_id === null || identity_id === undefined) return [];
        const to = cuts[index + 1];
        const valid_to = to === undefined ? (isOpen ? null : DAYS[from]) : addDays(FIRST, to - 1);
        return [{ resource_id, identity_id, valid_from: addDays(FIRST, from), valid_to: valid_to ?? null }];
      }),
    );

const isValidOn = ({ valid_from, valid_to }: AssignedPeriod, day: string) =>
  valid_from <= day && (valid_to === null || day <= valid_to);

t.test("a line names the identity that its resource is assigned to on its day", async (t) => {
  const { store } = await openStaging(t);
  const columns = ruleColumns();
  const seen = new Set<string>();
  const signal = new AbortController().signal;
  await fc.assert(
    fc.asyncProperty(fc.tuple(...RESOURCES.map(periodsOf)), async (drawn) => {
      const periods = drawn.flat();
      const assigned = assignedOf(periods);
      if (assigned === undefined) return;
      await prepareStore(
        store.client,
        [{ identity: [], maps: new Map(), configured: [], assigned: whole(assigned) }],
        signal,
      );
      const identity = identitySql({
        identity: [{ assigned: "resource_id" }],
        maps: new Map(),
        columns,
        assigned: whole(assigned),
      });
      const found = await store.client.query({
        query: `SELECT toString(day) AS on_day, resource_id, ${identity} AS identity FROM (
            SELECT arrayJoin({days:Array(Date)}) AS day, toLowCardinality(arrayJoin({resources:Array(String)})) AS resource_id
          ) ORDER BY on_day, resource_id`,
        query_params: { days: DAYS, resources: RESOURCES },
        format: "JSONEachRow",
      });
      const expected = DAYS.flatMap((day) =>
        RESOURCES.map((resource_id) => {
          const period = periods.find((each) => each.resource_id === resource_id && isValidOn(each, day));
          if (period === undefined)
            seen.add(periods.some((each) => each.resource_id === resource_id) ? "gap" : "none");
          else if (period.valid_to === null) seen.add("no end");
          if (period?.valid_from === day) seen.add("first day");
          if (period?.valid_to === day) seen.add("last day");
          return `${day} ${resource_id} ${period?.identity_id ?? ""}`;
        }),
      );
      const rows = await found.json<{ on_day: string; resource_id: string; identity: string }>();
      t.strictSame(
        rows.map(({ on_day, resource_id, identity: name }) => `${on_day} ${resource_id} ${name}`).sort(),
        expected.sort(),
      );
    }),
    { numRuns: 60 },
  );
  t.strictSame([...seen].sort(), ["first day", "gap", "last day", "no end", "none"]);
});

function whole(assigned: NonNullable<ReturnType<typeof assignedOf>>) {
  return { ...assigned, ruled: [], unruled: [] };
}

t.test("a line that an earlier source names is not an assigned one", async (t) => {
  const { store } = await openStaging(t);
  const periods = ["r", "r-2"].map((resource_id) => ({
    resource_id,
    identity_id: "web",
    valid_from: FIRST,
    valid_to: null,
  }));
  const assigned = assignedOf(periods);
  if (assigned === undefined) throw new Error("no assignments");
  const plan = { identity: [], maps: new Map(), configured: [], assigned: whole(assigned) };
  await prepareStore(store.client, [plan], new AbortController().signal);
  const isAssigned = isAssignedSql({
    identity: [{ column: "resource_id", pattern: "^(?<identity>r)$" }, { assigned: "resource_id" }],
    maps: new Map(),
    columns: ruleColumns(),
    assigned: whole(assigned),
  });
  const found = await store.client.query({
    query: `SELECT resource_id, toUInt8(${isAssigned}) AS found FROM (
        SELECT toDate('${FIRST}') AS day, arrayJoin(['r', 'r-2', 'r-3']) AS resource_id) ORDER BY resource_id`,
    format: "JSONEachRow",
  });
  t.strictSame(await found.json(), [
    { resource_id: "r", found: 0 },
    { resource_id: "r-2", found: 1 },
    { resource_id: "r-3", found: 0 },
  ]);
});

t.test("a window depends on the assignments of its days and of the month before it", async (t) => {
  const digest = (valid_from: string, valid_to: string | null, identity_id = "web") =>
    digestInWindow(assignedOf([{ resource_id: "r", identity_id, valid_from, valid_to }])?.map, {
      start: "2026-06-10",
      end: "2026-06-20",
    });
  t.equal(digestInWindow(undefined, { start: "2026-06-10", end: "2026-06-20" }), null);
  t.equal(digest("2026-05-01", "2026-05-31"), null);
  t.equal(digest("2026-06-20", null), null);
  const all = digest("2026-06-01", null);
  t.type(all, "string");
  t.equal(digest("2026-05-01", "2026-06-19"), all, "days outside do not count");
  for (const other of [
    digest("2026-06-02", null),
    digest("2026-06-01", "2026-06-18"),
    digest("2026-06-01", null, "ops"),
    digest("2026-06-19", null),
  ])
    t.not(other, all);
  t.type(digest("2026-06-19", "2026-06-19"), "string");
});
