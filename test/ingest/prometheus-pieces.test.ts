/** What is asked in one question and fails in part: the failing days and resources stand alone, and a full outage costs few requests. */
import t from "tap";
import { type Part, type Patience, piecesOf } from "../../src/ingest/prometheus/pieces.js";
import { daysOf, pointsOf } from "../../src/ingest/prometheus/points.js";
import { addDays } from "../../src/time/days.js";
import { UpstreamError } from "../../src/upstream-http/upstream-error.js";
import fc from "../property.js";

const dayAt = (index: number) => addDays("2026-02-25", index);

interface Question {
  readonly days: number;
  readonly resources: number;
  /** `day resource` that the upstream cannot answer about. */
  readonly broken: ReadonlySet<string>;
}

function placesOf({ range, resources = [""] }: Part): string[] {
  return daysOf(range).flatMap((day) => resources.map((resource) => `${day} ${resource}`));
}

/** An upstream that fails whenever it is asked about something broken, and what comes of asking it. */
async function asked({ days, resources, broken }: Question, patience: Patience = { exhausted: false }) {
  const names = Array.from({ length: resources }, (_, index) => `r-${index}`);
  const range = pointsOf({ start: dayAt(0), end: dayAt(days) }, 3600);
  let requests = 0;
  const answered: string[] = [];
  const failed: string[][] = [];
  const ask = async (part: Part) => {
    requests += 1;
    if (!placesOf(part).some((place) => broken.has(place))) return [];
    throw new UpstreamError({
      code: "bad_status",
      endpoint: "p",
      reason: "status 422",
      attempts: 1,
      status: 422,
    });
  };
  const asking = { ask, patience, tooLarge: () => t.fail("nothing is too large here") };
  for await (const part of piecesOf(asking, { range, resources: names })) {
    if (part.kind === "failed") failed.push(placesOf(part));
    else answered.push(...placesOf(part));
  }
  return { requests, answered, failed, whole: placesOf({ range, resources: names }) };
}

const question = (count: (places: number) => fc.Arbitrary<number>) =>
  fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 120 })).chain(([days, resources]) =>
    count(days * resources)
      .chain((size) =>
        fc.uniqueArray(
          fc
            .tuple(fc.nat({ max: days - 1 }), fc.nat({ max: resources - 1 }))
            .map(([day, resource]) => `${dayAt(day)} r-${resource}`),
          { minLength: size, maxLength: size, size: "max" },
        ),
      )
      .map((broken): Question => ({ days, resources, broken: new Set(broken) })),
  );

t.test("one that is broken stands alone, whatever is asked with it", async (t) => {
  const most = { requests: 0 };
  await fc.assert(
    fc.asyncProperty(
      question(() => fc.constant(1)),
      async (drawn) => {
        const { requests, answered, failed, whole } = await asked(drawn);
        most.requests = Math.max(most.requests, requests);
        const [alone = ""] = drawn.broken;
        if (JSON.stringify(failed) !== JSON.stringify([[alone]]))
          throw new Error(`failed: ${JSON.stringify(failed)}`);
        if (
          JSON.stringify(answered.sort()) !== JSON.stringify(whole.filter((place) => place !== alone).sort())
        )
          throw new Error("what is not broken is not all there, once");
      },
    ),
    { numRuns: 300 },
  );
  t.ok(most.requests > 10 && most.requests <= 60, `at most ${most.requests} requests`);
});

t.test(
  "whatever is broken, each place is answered or failed once, and nothing broken is answered",
  async (t) => {
    const seen = { whole: 0, some: 0, many: 0, all: 0 };
    const sizes = (places: number) =>
      fc.oneof(
        fc.constant(0),
        fc.integer({ min: Math.min(2, places), max: Math.min(5, places) }),
        fc.integer({ min: Math.min(6, places), max: Math.min(60, places) }),
      );
    const everything = question(() => fc.constant(1)).map(({ days, resources }) => ({
      ...{ days, resources },
      broken: new Set(
        Array.from({ length: days }, (_, day) =>
          Array.from({ length: resources }, (_, resource) => `${dayAt(day)} r-${resource}`),
        ).flat(),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: question(sizes) }, everything), async (drawn) => {
        const { answered, failed, whole, requests } = await asked(drawn);
        const { broken } = drawn;
        if (JSON.stringify([...answered, ...failed.flat()].sort()) !== JSON.stringify(whole.sort()))
          throw new Error("a place is missing, or there twice");
        if (answered.some((place) => broken.has(place))) throw new Error("something broken was answered");
        if (failed.some((part) => !part.some((place) => broken.has(place))))
          throw new Error("something good has failed");
        if (broken.size === whole.length && requests > 40)
          throw new Error(`an outage took ${requests} requests`);
        seen.whole += Number(broken.size === 0);
        seen.some += Number(broken.size >= 2 && broken.size <= 5);
        seen.many += Number(broken.size > 5 && broken.size < whole.length);
        seen.all += Number(broken.size === whole.length);
      }),
      { numRuns: 300 },
    );
    for (const [kind, times] of Object.entries(seen)) t.ok(times >= 10, `${kind}: ${times}`);
  },
);

t.test("after an outage nothing is divided until an answer comes", async (t) => {
  const all = (days: number, resources: number) =>
    new Set(
      Array.from({ length: days }, (_, day) =>
        Array.from({ length: resources }, (_, resource) => `${dayAt(day)} r-${resource}`),
      ).flat(),
    );
  const patience = { exhausted: false };
  const down = { days: 31, resources: 100, broken: all(31, 100) };
  const first = await asked(down, patience);
  t.equal(patience.exhausted, true);
  t.ok(first.requests > 10 && first.requests <= 40, `${first.requests} requests`);
  const second = await asked(down, patience);
  t.equal(second.requests, 1);
  t.strictSame(second.failed, [second.whole], "it fails as a whole");
  await asked({ days: 1, resources: 1, broken: new Set() }, patience);
  t.equal(patience.exhausted, false);
  const again = await asked({ ...down, broken: new Set([`${dayAt(3)} r-7`]) }, patience);
  t.strictSame(again.failed, [[`${dayAt(3)} r-7`]]);
});
