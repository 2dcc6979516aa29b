/** The cache limits the total length of its responses, and evicts the one that was unused for longest. */
import t from "tap";
import { createResponseCache } from "../../src/http/plugins/response-cache.js";

const LONGEST = 256 * 1024;
/** The cache has space for this many of the longest responses. */
const MOST = 64;

t.test("a response that is too long is not cached, and displaces no other", async (t) => {
  const responses = createResponseCache();
  responses.set("short", "{}");
  for (let turn = 0; turn < 100; turn++) responses.set(`long ${turn}`, "x".repeat(LONGEST + 1));
  t.equal(responses.get("long 0"), undefined);
  t.equal(responses.get("short"), "{}");
});

t.test("the responses that were used last stay in the cache, up to its total length", async (t) => {
  const responses = createResponseCache();
  const isKept = (name: string) => responses.get(name) !== undefined;
  for (let number = 0; number < MOST; number++) responses.set(String(number), "x".repeat(LONGEST));
  t.ok(isKept("0"), "all responses are cached");
  responses.set("small", "{}");
  t.strictSame(
    ["0", "1", "2", "small"].map(isKept),
    [true, false, true, true],
    "the response that was unused for longest was evicted",
  );
  responses.set("0", "{}");
  for (let number = 0; number < 1000; number++) responses.set(`small ${number}`, "{}");
  t.strictSame(["2", "0", "small 0"].map(isKept), [true, true, true], "a shorter response makes space");
});
