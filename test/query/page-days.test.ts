import t from "tap";
import { pageSpan } from "../../src/query/page/position.js";
import fc from "../property.js";

t.test("the span of a page has its rows and no further day", async () => {
  const days = fc
    .array(fc.integer({ min: 1, max: 20 }), { maxLength: 12 })
    .map((counts) =>
      counts.map((rows, index) => ({ day: `2026-01-${String(index + 1).padStart(2, "0")}`, rows })),
    );
  fc.assert(
    fc.property(
      days,
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 15 }),
      (days, page, page_size) => {
        const all = days.flatMap(({ day, rows }) =>
          Array.from({ length: rows }, (_, index) => `${day} ${index}`),
        );
        const wanted = all.slice((page - 1) * page_size, page * page_size);
        const span = pageSpan(days, { page, page_size });
        if (span === undefined) return wanted.length === 0;
        const read = all.filter(
          (row) => row.slice(0, 10) >= span.first_day && row.slice(0, 10) <= span.last_day,
        );
        const got = read.slice(span.offset, span.offset + page_size);
        const touched = new Set(wanted.map((row) => row.slice(0, 10)));
        return got.join() === wanted.join() && touched.has(span.first_day) && touched.has(span.last_day);
      },
    ),
    { numRuns: 2000 },
  );
});

t.test("a page far past the end is empty", async (t) => {
  t.equal(
    pageSpan([{ day: "2026-01-01", rows: 5 }], { page: Number.MAX_SAFE_INTEGER, page_size: 1000 }),
    undefined,
  );
  t.equal(pageSpan([], { page: 1, page_size: 100 }), undefined);
});
