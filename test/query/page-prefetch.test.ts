/** How many rows the prefetch cache keeps, and which are evicted first. */
import t from "tap";
import { createPagePrefetch } from "../../src/query/page/page-prefetch.js";

t.test("a prefetched page is used once, and the oldest pages are evicted beyond the row limit", async (t) => {
  const ahead = createPagePrefetch<{ items: number[] }>(10);
  const page = (rows: number) => ({ items: Array<number>(rows).fill(rows) });
  const names = ["a", "b", "c", "d", "e"];
  const taken = () => names.map((name) => ahead.take(name)?.items.length);

  for (const [index, name] of names.entries()) ahead.keep(name, page(index));
  t.strictSame(taken(), [0, 1, 2, 3, 4], "ten rows");
  t.strictSame(
    taken(),
    names.map(() => undefined),
    "once",
  );

  for (const [index, name] of names.entries()) ahead.keep(name, page(index + 1));
  t.strictSame(taken(), [undefined, undefined, undefined, 4, 5]);

  for (let turn = 0; turn < 100; turn += 1) ahead.keep("a", page(9));
  ahead.keep("b", page(1));
  t.strictSame(taken(), [9, 1, undefined, undefined, undefined], "a page that is stored again counts once");

  ahead.keep("a", page(1));
  ahead.keep("b", page(11));
  t.strictSame(
    taken(),
    names.map(() => undefined),
    "a page above the row limit is not stored",
  );
  ahead.keep("c", page(10));
  t.equal(ahead.take("c")?.items.length, 10, "a page above the row limit evicts no others");
});
