/** Owners of topics: sources in order, and names that are unusual or hostile. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readIdentityMap } from "../../../src/config/allocation/identity-map.js";
import { createOwnerOf } from "../../../src/ingest/ecosystems/self_managed_kafka/topic-owners.js";
import { temporaryFolder } from "../../stores.js";

t.test("the first source that finds an owner counts", async (t) => {
  const file = join(temporaryFolder(t), "owners.csv");
  writeFileSync(file, 'value,identity\npay.orders,billing\n__consumer_offsets,platform\n"a""b\\c",quoting\n');
  const map = readIdentityMap(file);
  if ("problem" in map) throw new Error(map.problem);
  const sources = [
    { map: "owners.csv" },
    { pattern: "^(?<identity>[a-z]+)\\." },
    { prefix: "pay", identity: "payments" },
    { prefix: "__", identity: "kafka" },
  ];
  const ownerOf = createOwnerOf(sources, new Map([["owners.csv", map]]));
  for (const [topic, owner] of [
    ["pay.orders", "billing"],
    ["pay.refunds", "pay"],
    ["pay-refunds", "payments"],
    ["__consumer_offsets", "platform"],
    ["__transaction_state", "kafka"],
    ["Pay.orders", undefined],
    ["orders", undefined],
    ['a"b\\c', "quoting"],
    // The same answer is given again.
    ["pay.orders", "billing"],
    ["orders", undefined],
  ] as const)
    t.equal(ownerOf(topic), owner, topic);
  const reversed = createOwnerOf(sources.toReversed(), new Map([["owners.csv", map]]));
  t.equal(reversed("pay.orders"), "payments");
  t.equal(reversed("__consumer_offsets"), "kafka");
});

t.test("names of topics never reach what objects inherit, and cannot make a pattern slow", async (t) => {
  const empty = new Map([["owners.csv", { hash: "", entries: new Map<string, string>() }]]);
  const ownerOf = createOwnerOf([{ map: "owners.csv" }, { pattern: "^(?<identity>(a+)+)$" }], empty);
  for (const topic of ["__proto__", "constructor", "toString", "", "a\n", "\u{1F600}", "\ud800"])
    t.equal(ownerOf(topic), undefined, JSON.stringify(topic));
  t.equal(ownerOf("aaa"), "aaa");
  const started = performance.now();
  t.equal(ownerOf(`${"a".repeat(10_000)}!`), undefined);
  t.ok(performance.now() - started < 2000, "a pattern takes time in proportion to the name");
});

t.test("a found text that stands for nobody is skipped, and the next source is tried", async (t) => {
  const ownerOf = createOwnerOf(
    [{ pattern: "^(?<identity>[^.]*)\\." }, { prefix: "", identity: "rest" }],
    new Map(),
  );
  for (const [topic, owner] of [
    ["team.x", "team"],
    [" team .x", "team"],
    [".x", "rest"],
    ["null.x", "rest"],
    ["N/A.x", "rest"],
    ["UNALLOCATED.x", "rest"],
    ["a\u0007b.x", "rest"],
    [`${"a".repeat(1001)}.x`, "rest"],
    [`${"a".repeat(1000)}.x`, "a".repeat(1000)],
  ] as const)
    t.equal(ownerOf(topic), owner, JSON.stringify(topic.slice(0, 20)));
});

t.test("a group that takes no part in the match finds nobody", async (t) => {
  const ownerOf = createOwnerOf([{ pattern: "^(?:x|(?<identity>y))" }], new Map());
  t.equal(ownerOf("x1"), undefined);
  t.equal(ownerOf("y1"), "y");
});

t.test("a map that was not read is an error", async (t) => {
  t.throws(() => createOwnerOf([{ map: "owners.csv" }], new Map()), {
    message: "a map that was not read: owners.csv",
  });
});
