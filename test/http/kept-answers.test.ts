/** How much of its answers the service keeps, and which go first. */
import t from "tap";
import { createKeptAnswers } from "../../src/http/kept-answers.js";

const LONGEST = 256 * 1024;
/** So many of the longest are kept. */
const MOST = 64;

t.test("what is too long is not kept, and takes nobody's place", async (t) => {
  const answers = createKeptAnswers();
  answers.keep("short", "{}");
  for (let turn = 0; turn < 100; turn++) answers.keep(`long ${turn}`, "x".repeat(LONGEST + 1));
  t.equal(answers.get("long 0"), undefined);
  t.equal(answers.get("short"), "{}");
});

t.test("those that were asked for last stay, by their length", async (t) => {
  const answers = createKeptAnswers();
  const isKept = (name: string) => answers.get(name) !== undefined;
  for (let number = 0; number < MOST; number++) answers.keep(String(number), "x".repeat(LONGEST));
  t.ok(isKept("0"), "all of them");
  answers.keep("0", "x".repeat(LONGEST));
  answers.keep("small", "{}");
  t.strictSame(["0", "1", "2", "small"].map(isKept), [true, false, true, true], "the oldest has gone");
  answers.keep("0", "{}");
  for (let number = 0; number < 1000; number++) answers.keep(`small ${number}`, "{}");
  t.strictSame(["2", "0", "small 0"].map(isKept), [true, true, true], "a shorter one makes room");
});
