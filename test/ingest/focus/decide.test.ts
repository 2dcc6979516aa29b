/** Decides which of two overlapping bills is charged, from records and settings. */
import t from "tap";
import type { Overlap, Side } from "../../../src/ingest/ecosystems/focus/overlaps/compare.js";
import {
  type Contender,
  decide,
  type OverlapSettings,
} from "../../../src/ingest/ecosystems/focus/overlaps/decide.js";

const side = (delivery: string, name: string, changes: Partial<Side> = {}): Side => {
  return { delivery, name, files: [0], first_day: "2026-05-01", last_day: "2026-05-31", ...changes };
};
const overlap = (a: Side, b: Side, changes: Partial<Overlap> = {}): Overlap => ({
  account: "payer",
  period: "2026-05",
  side: a,
  other: b,
  same_bytes: false,
  days: ["2026-05-01"],
  amounts: [],
  ...changes,
});
const contender = (delivery_id: string, changes: Partial<Contender> = {}): Contender => {
  return {
    delivery_id,
    source: `s${delivery_id}`,
    standing: "new",
    accepted: undefined,
    overlaps: [],
    ...changes,
  };
};
const none: OverlapSettings = { precedence: [], adding: new Set() };
/** Ids of the deliveries that are held, that lose lines, and that stay undecided. */
function outcome(contenders: readonly Contender[], settings: OverlapSettings = none) {
  const found = [...decide(contenders, settings)];
  const ids = (what: "held" | "superseded" | "undecided") =>
    found.filter(([, decision]) => decision[what].length > 0).map(([id]) => id);
  return { held: ids("held").sort(), superseded: ids("superseded"), undecided: ids("undecided") };
}
const pair = overlap(side("2", "b.csv"), side("1", "a.csv"));

t.test(
  "the bill with the lower standing is held, and of two equal ones that are not charged, both are",
  async (t) => {
    const cases = [
      ["new", "new", ["1", "2"], []],
      ["new", "follows", ["2"], []],
      ["new", "charged", ["2"], []],
      ["follows", "new", ["1"], []],
      ["follows", "follows", ["1", "2"], []],
      ["follows", "charged", ["2"], []],
      ["charged", "new", ["1"], []],
      ["charged", "charged", [], ["2"]],
    ] as const;
    for (const [own, other, held, undecided] of cases) {
      const both = [contender("1", { standing: other }), contender("2", { standing: own, overlaps: [pair] })];
      t.strictSame(outcome(both), { held, superseded: undecided, undecided }, `${own} beside ${other}`);
    }
  },
);

t.test("precedence decides by source or by file, whatever was charged before", async (t) => {
  const both = [contender("1", { standing: "charged" }), contender("2", { overlaps: [pair] })];
  const by = (...precedence: string[]) => outcome(both, { ...none, precedence });
  const won = (superseded: string[]) => ({ held: [], superseded, undecided: [] });
  t.strictSame(by("s2"), won(["1"]));
  t.strictSame(by("s1", "s2"), won(["2"]));
  t.strictSame(by("*/b.csv"), won(["1"]));
  t.strictSame(by("s1/**"), won(["2"]));
  t.strictSame(by("other"), { held: ["2"], superseded: [], undecided: [] });
  t.strictSame(outcome(both, { ...none, adding: new Set(["s1"]) }), won([]), "a setting can charge both");
});

t.test("the loser keeps the days that the winner does not cover", async (t) => {
  const part = overlap(side("2", "b.csv", { last_day: "2026-05-20" }), side("1", "a.csv", { files: [3, 4] }));
  const found = decide([contender("1"), contender("2", { overlaps: [part] })], {
    ...none,
    precedence: ["s2"],
  });
  t.strictSame(found.get("1")?.superseded, [
    { account: "payer", period: "2026-05", from: "2026-05-01", to: "2026-05-20", files: [3, 4] },
  ]);
});

t.test("a winner that is held supersedes nothing", async (t) => {
  const third = overlap(side("3", "c.csv"), side("2", "b.csv"));
  const all = [
    contender("1", { standing: "charged" }),
    contender("2", { overlaps: [pair] }),
    contender("3", { overlaps: [third] }),
  ];
  t.strictSame(outcome(all, { ...none, precedence: ["s[23]/*"] }), {
    held: ["2", "3"],
    superseded: [],
    undecided: [],
  });
});

t.test("files with the same bytes are no conflict: the one that is charged goes on", async (t) => {
  const same = { ...pair, same_bytes: true };
  const of = (own: Contender["standing"], other: Contender["standing"]) =>
    outcome([contender("1", { standing: other }), contender("2", { standing: own, overlaps: [same] })]);
  t.strictSame(of("new", "charged"), { held: [], superseded: ["2"], undecided: [] });
  t.strictSame(of("charged", "new"), { held: [], superseded: ["1"], undecided: [] });
  t.strictSame(of("new", "new"), { held: [], superseded: ["2"], undecided: [] });
});

t.test("a person decides for one of two deliveries, or for all bills of one delivery", async (t) => {
  const accepted = [
    contender("1", { standing: "charged" }),
    contender("2", { accepted: 1, overlaps: [pair] }),
  ];
  t.strictSame(outcome(accepted), { held: [], superseded: ["1"], undecided: [] });
  const own = overlap(side("1", "a.csv"), side("1", "b.csv", { files: [1] }));
  t.strictSame(outcome([contender("1", { overlaps: [own] })]).held, ["1"]);
  t.strictSame(outcome([contender("1", { accepted: 1, overlaps: [own] })]), {
    held: [],
    superseded: [],
    undecided: [],
  });
});

t.test("two bills of a delivery that both give way to a third one are no conflict", async (t) => {
  const [a, b, c] = [
    side("1", "a.csv"),
    side("1", "draft.csv", { files: [1] }),
    side("1", "old.csv", { files: [2] }),
  ];
  const all = contender("1", { overlaps: [overlap(a, b), overlap(a, c), overlap(b, c)] });
  t.strictSame(outcome([all], { ...none, precedence: ["s1/a.csv"] }), {
    held: [],
    superseded: ["1"],
    undecided: [],
  });
});

t.test("an overlap with a delivery that no longer exists holds nothing", async (t) => {
  t.strictSame(outcome([contender("2", { overlaps: [pair] })]).held, []);
});
