import t from "tap";
import { preferred } from "../../src/http/accept.js";

const offered = ["text/csv", "application/a", "application/b"] as const;

t.test("the media type with the highest quality is chosen", async (t) => {
  for (const [accept, wanted] of [
    [undefined, "text/csv"],
    ["", "text/csv"],
    ["*/*", "text/csv"],
    ["application/*", "application/a"],
    ["application/b, application/a", "application/a"],
    ["application/a;q=0.1, application/b;q=0.2", "application/b"],
    ["*/*, text/csv;q=0.1", "application/a"],
    ["text/*;q=0.5, text/csv;q=0, application/b;q=0.001", "application/b"],
    ["application/a;version=1;q=0.3, */*;q=0.2", "application/a"],
    ["text/csv;q=0", undefined],
    ["text/html", undefined],
    ["*/csv", undefined],
    ["csv", undefined],
    ["text/csv;q=2", undefined],
    ["text/csv;q=0.1234", undefined],
    [",,", undefined],
  ] as const) {
    t.equal(preferred(accept, offered), wanted, String(accept));
  }
});
