/** Queries that fail in part: the failing days and resources are isolated, and a full outage costs few requests. */
import t from "tap";
import { addDays } from "../../../src/common/days.js";
import { daysOf, readPoints } from "../../../src/ingest/prometheus/points.js";
import {
  newPatience,
  type Part,
  type Patience,
  piecesOf,
} from "../../../src/ingest/prometheus/split-query.js";
import { UpstreamError } from "../../../src/upstream/http/upstream-error.js";
import fc from "../../property.js";

const dayAt = (index: number) => addDays("2026-02-25", index);

interface Question {
  readonly days: number;
  readonly resources: number;
  /** `day resource` pairs for which the upstream fails. */
  readonly broken: ReadonlySet<string>;
}

function placesOf({ range, resources = [""] }: Part): string[] {
  return daysOf(range).flatMap((day) => resources.map((resource) => `${day} ${resource}`));
}

/** An upstream that fails each request about something broken, and the results of querying it. */
async function requested({ days, resources, broken }: Question, patience: Patience = newPatience()) {
  const names = Array.from({ length: resources }, (_, index) => `r-${index}`);
  const range = readPoints({ start: dayAt(0), end: dayAt(days) }, 3600);
  let requests = 0;
  const responded: string[] = [];
  const failed: string[][] = [];
  const request = async (part: Part) => {
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
  const probe = async (part: Part) => void (await request(part));
  const partRequests = { request, probe, patience, tooLarge: () => t.fail("nothing is too large here") };
  for await (const part of piecesOf(partRequests, { range, resources: names })) {
    if (part.kind === "failed") failed.push(placesOf(part));
    else responded.push(...placesOf(part));
  }
  return { requests, responded, failed, whole: placesOf({ range, resources: names }) };
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

t.test("one broken resource fails alone, whatever is queried with it", async (t) => {
  const most = { requests: 0 };
  await fc.assert(
    fc.asyncProperty(
      question(() => fc.constant(1)),
      async (drawn) => {
        const { requests, responded, failed, whole } = await requested(drawn);
        most.requests = Math.max(most.requests, requests);
        const [alone = ""] = drawn.broken;
        if (JSON.stringify(failed) !== JSON.stringify([[alone]]))
          throw new Error(`failed: ${JSON.stringify(failed)}`);
        if (
          JSON.stringify(responded.sort()) !== JSON.stringify(whole.filter((place) => place !== alone).sort())
        )
          throw new Error("what is not broken is not all there, once");
      },
    ),
    { numRuns: 300 },
  );
  t.ok(most.requests > 10 && most.requests <= 60, `at most ${most.requests} requests`);
});

t.test("each cell of a query succeeds or fails once, and no broken one succeeds", async (t) => {
  const seen = { whole: 0, some: 0, many: 0, all: 0 };
  const sizes = (places: number) =>
    fc.oneof(
      fc.constant(0),
      fc.integer({ min: Math.min(2, places), max: Math.min(5, places) }),
      fc.integer({ min: Math.min(6, places), max: Math.min(60, places) }),
    );
  const everything = question(() => fc.constant(1)).map(({ days, resources }) => ({
    days,
    resources,
    broken: new Set(
      Array.from({ length: days }, (_, day) =>
        Array.from({ length: resources }, (_, resource) => `${dayAt(day)} r-${resource}`),
      ).flat(),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: question(sizes) }, everything), async (drawn) => {
      const { responded, failed, whole, requests } = await requested(drawn);
      const { broken } = drawn;
      if (JSON.stringify([...responded, ...failed.flat()].sort()) !== JSON.stringify(whole.sort()))
        throw new Error("a place is missing, or there twice");
      if (responded.some((place) => broken.has(place))) throw new Error("something broken got a response");
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
});

/** `day resource` of these days and resources. */
function rectangle(days: number, resources: Iterable<number>): string[] {
  return [...resources].flatMap((resource) =>
    Array.from({ length: days }, (_, day) => `${dayAt(day)} r-${resource}`),
  );
}

t.test("resources that are broken on every day lose no day of any other resource", async (t) => {
  const seen = { one: 0, some: 0, "after a metric that is always refused": 0, "many days": 0 };
  const arbitrary = fc
    .tuple(fc.integer({ min: 2, max: 40 }), fc.integer({ min: 2, max: 60 }))
    .chain(([resources, days]) =>
      fc.record({
        resources: fc.constant(resources),
        days: fc.constant(days),
        broken: fc.uniqueArray(fc.nat({ max: resources - 1 }), {
          minLength: 1,
          maxLength: Math.min(3, resources - 1),
        }),
        refusedBefore: fc.nat({ max: 4 }),
      }),
    );
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ resources, days, broken, refusedBefore }) => {
      const patience = newPatience();
      for (let metric = 0; metric < refusedBefore; metric += 1)
        await requested({ days, resources: 1, broken: new Set(rectangle(days, [0])) }, patience);
      const lost = rectangle(days, broken).sort();
      // Two windows of two metrics.
      for (let query = 0; query < 4; query += 1) {
        const { failed, responded, whole } = await requested(
          { days, resources, broken: new Set(lost) },
          patience,
        );
        if (JSON.stringify(failed.flat().sort()) !== JSON.stringify(lost))
          throw new Error(`query ${query}: ${failed.flat().length} places failed, and not ${lost.length}`);
        if (responded.length + lost.length !== whole.length)
          throw new Error(`query ${query}: places are lost`);
      }
      seen.one += Number(broken.length === 1);
      seen.some += Number(broken.length > 1);
      seen["after a metric that is always refused"] += Number(refusedBefore > 0);
      seen["many days"] += Number(days > 32);
    }),
    { numRuns: 100 },
  );
  for (const [kind, times] of Object.entries(seen)) t.ok(times >= 10, `${kind}: ${times}`);
});

t.test("a query that is always refused costs fewer and fewer requests", async (t) => {
  const patience = newPatience();
  const down = { days: 31, resources: 100, broken: new Set(rectangle(31, Array(100).keys())) };
  const requests: number[] = [];
  for (let query = 0; query < 6; query += 1) {
    const { failed, whole, requests: sent } = await requested(down, patience);
    t.strictSame(failed, [whole], "the query fails as a whole");
    requests.push(sent);
  }
  t.strictSame(requests, [33, 17, 9, 5, 5, 5]);
  await requested({ days: 1, resources: 1, broken: new Set() }, patience);
  t.equal((await requested(down, patience)).requests, 33, "after a response, failures are tolerated again");
});

t.test("a resource that is broken on all but one day of a month keeps that day", async (t) => {
  for (const good of [0, 13, 30]) {
    const broken = new Set(rectangle(31, [3]).filter((place) => place !== `${dayAt(good)} r-3`));
    const { failed } = await requested({ days: 31, resources: 9, broken });
    t.strictSame(failed.flat().sort(), [...broken].sort());
  }
});
