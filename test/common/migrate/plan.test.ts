import t from "tap";
import {
  type AppliedMigration,
  type KnownMigration,
  planMigrations,
} from "../../../src/common/migrate/plan.js";
import { holds } from "../../holds.js";

/** `1a` is revision 0001 with name `one` and checksum `a`; `1a/other` has another name; `1-` has no checksum. */
function revision(text: string): KnownMigration {
  const [, digit = "", checksum = "", name] = /^(\d)(.)(?:\/(\w+))?$/.exec(text) ?? [];
  return {
    revision: `000${digit}`,
    name: name ?? ["zero", "one", "two", "three", "four"][Number(digit)] ?? "",
    checksum,
  };
}
const applied = (text: string): AppliedMigration => {
  const { checksum, ...rest } = revision(text);
  return { ...rest, checksum: checksum === "-" ? null : checksum, applied_at: "2026-01-01T00:00:00.000Z" };
};

const cases: {
  name: string;
  known: string[];
  applied: string[];
  states: string[];
  pending: string[];
  refusal?: RegExp;
}[] = [
  { name: "nothing at all", known: [], applied: [], states: [], pending: [] },
  {
    name: "fresh",
    known: ["1a", "2b"],
    applied: [],
    states: ["pending", "pending"],
    pending: ["0001", "0002"],
  },
  {
    name: "up to date",
    known: ["1a", "2b"],
    applied: ["1a", "2b"],
    states: ["applied", "applied"],
    pending: [],
  },
  {
    name: "behind",
    known: ["1a", "2b", "3c"],
    applied: ["1a"],
    states: ["applied", "pending", "pending"],
    pending: ["0002", "0003"],
  },
  { name: "no checksum recorded", known: ["1a"], applied: ["1-"], states: ["applied"], pending: [] },
  {
    name: "numbers of the code need no order or density",
    known: ["2b", "4d"],
    applied: ["2b"],
    states: ["applied", "pending"],
    pending: ["0004"],
  },
  {
    name: "an unreleased version, whose first revision had another name",
    known: ["1a"],
    applied: ["1b/facts", "2c"],
    states: ["changed", "newer"],
    pending: [],
    refusal:
      /^the data was written by an unreleased version of chargehouse, whose first revision was 0001_facts, and cannot be migrated: move the data directory away, or drop the databases/,
  },
  {
    name: "a schema newer than the code",
    known: ["1a", "2b"],
    applied: ["1a", "2b", "3c"],
    states: ["applied", "applied", "newer"],
    pending: [],
    refusal:
      /^the schema is newer than this version of chargehouse: it has revision 0003_three, and the newest known here is 0002_two$/,
  },
  {
    name: "a schema of a code with revisions, in one that has none",
    known: [],
    applied: ["1a"],
    states: ["newer"],
    pending: [],
    refusal: /has revision 0001_one, and none is known here$/,
  },
  {
    name: "a newer schema with other differences is called newer",
    known: ["1x", "2b"],
    applied: ["1a", "3c"],
    states: ["changed", "missing", "newer"],
    pending: [],
    refusal: /newer/,
  },
  {
    name: "an applied revision that the code has no longer",
    known: ["1a", "3c"],
    applied: ["1a", "2b"],
    states: ["applied", "missing", "pending"],
    pending: [],
    refusal:
      /^the revision history is broken: 0002_two was applied, but this version of chargehouse does not have it$/,
  },
  {
    name: "a revision that was passed over",
    known: ["1a", "2b", "3c"],
    applied: ["1a", "3c"],
    states: ["applied", "missing", "applied"],
    pending: [],
    refusal: /^the revision history is broken: 0002_two was never applied, though the later 0003_three was$/,
  },
  {
    name: "a revision with another text",
    known: ["1a", "2x", "3c"],
    applied: ["1a", "2b"],
    states: ["applied", "changed", "pending"],
    pending: [],
    refusal: /^the revision history is broken: 0002_two was applied and has been changed in the code since$/,
  },
  {
    name: "a revision with another name",
    known: ["1a/other"],
    applied: ["1a"],
    states: ["changed"],
    pending: [],
    refusal: /0001_one was applied and has been changed/,
  },
];

for (const example of cases) {
  t.test(`planMigrations: ${example.name}`, async (t) => {
    const plan = planMigrations(example.known.map(revision), example.applied.map(applied));
    t.strictSame(
      plan.revisions.map((entry) => entry.state),
      example.states,
    );
    t.strictSame(
      plan.pending.map((entry) => entry.revision),
      example.pending,
    );
    if (example.refusal === undefined) t.equal(plan.refusal, undefined);
    else holds(t, plan.refusal, example.refusal);
    for (const entry of plan.revisions) {
      const wanted = example.applied.some((text) => applied(text).revision === entry.revision);
      t.equal(entry.applied_at !== null, wanted, `${entry.revision} has a time when it was applied`);
    }
  });
}
