/** How much of its answers the service keeps, and which go first. */
import t from "tap";
import { createResponseCache } from "../../src/http/response-cache.js";

const LONGEST = 256 * 1024;
/** So many of the longest are kept. */
const MOST = 64;

t.test("a response that is too long is not cached, and displaces no other", async (t) => {
  const answers = createResponseCache();
  answers.set("short", "{}");
  for (let turn = 0; turn < 100; turn++) answers.set(`long ${turn}`, "x".repeat(LONGEST + 1));
  t.equal(answers.get("long 0"), undefined);
  t.equal(answers.get("short"), "{}");
});

t.test("the newest responses stay in the cache, up to its total length", async (t) => {
  const answers = createResponseCache();
  const isKept = (name: string) => answers.get(name) !== undefined;
  for (let number = 0; number < MOST; number++) answers.set(String(number), "x".repeat(LONGEST));
  t.ok(isKept("0"), "all of them");
  answers.set("0", "x".repeat(LONGEST));
  answers.set("small", "{}");
  t.strictSame(["0", "1", "2", "small"].map(isKept), [true, false, true, true], "the oldest has gone");
  answers.set("0", "{}");
  for (let number = 0; number < 1000; number++) answers.set(`small ${number}`, "{}");
  t.strictSame(["2", "0", "small 0"].map(isKept), [true, true, true], "a shorter one makes room");
});
