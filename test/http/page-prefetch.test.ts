/** How many rows the prefetch cache keeps, and which are evicted first. */
import t from "tap";
import { createPagePrefetch } from "../../src/http/plugins/pagination.js";

t.test("a prefetched page is used once, and the oldest pages are evicted beyond the row limit", async (t) => {
  const ahead = createPagePrefetch<{ items: number[] }>(11);
  const page = (rows: number) => ({ items: Array<number>(rows).fill(rows) });
  const names = ["a", "b", "c", "d", "e"];
  const taken = () => names.map((name) => ahead.take(name)?.items.length);

  for (const [index, name] of names.entries()) ahead.set(name, page(index));
  t.strictSame(taken(), [0, 1, 2, 3, 4], "eleven rows: an empty page counts as one");
  t.strictSame(
    taken(),
    names.map(() => undefined),
    "once",
  );

  for (const [index, name] of names.entries()) ahead.set(name, page(index + 1));
  t.strictSame(taken(), [undefined, undefined, undefined, 4, 5]);

  for (let turn = 0; turn < 100; turn += 1) ahead.set("a", page(10));
  ahead.set("b", page(1));
  t.strictSame(taken(), [10, 1, undefined, undefined, undefined], "a page that is stored again counts once");

  ahead.set("a", page(1));
  ahead.set("b", page(12));
  t.strictSame(
    taken(),
    [1, undefined, undefined, undefined, undefined],
    "a page above the row limit is not stored, and evicts no others",
  );
  ahead.set("c", page(11));
  t.equal(ahead.take("c")?.items.length, 11, "a page of all rows is stored");
});
