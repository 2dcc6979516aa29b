/** Responses whose samples stay bytes are read in the same way as by `JSON.parse` alone. */
import t from "tap";
import {
  areBytes,
  type PrometheusResponse,
  type PrometheusSeries,
  readResponse,
} from "../../../src/ingest/prometheus/response.js";
import { scanSamples } from "../../../src/ingest/prometheus/sample-bytes.js";
import { DecodeError } from "../../../src/upstream/http/client.js";
import fc from "../../property.js";
import { Classes } from "../classes.js";

function samplesOf({ samples }: PrometheusSeries): readonly unknown[] {
  if (!areBytes(samples)) return samples;
  const found: unknown[] = [];
  scanSamples(samples.bytes, samples.from, (at, from, to) => {
    found.push([at, samples.bytes.toString("latin1", from, to)]);
  });
  return found;
}

/** The result of reading a response, or its error. */
function outcome(body: Buffer): unknown {
  let response: PrometheusResponse;
  try {
    response = readResponse(body, "matrix");
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { code: error.code, message: error.message, retry: error.retry };
  }
  const series = response.series.map((each) => ({ labels: each.labels, samples: samplesOf(each) }));
  return { series, remarks: response.remarks };
}

/** Numbers that are too large are infinite once parsed, which JSON cannot write otherwise than by one of them. */
const TOO_LARGE = new Map<unknown, string>([
  [Number.POSITIVE_INFINITY, "1e999"],
  [Number.NEGATIVE_INFINITY, "-1e999"],
]);
const tooLarge = (value: unknown) => `too large: ${value}`;

/** The same JSON with spaces, in which no samples are found, so all of it is parsed. */
function parsedOutcome(body: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    return outcome(body);
  }
  let text = JSON.stringify(value, (_, each) => (TOO_LARGE.has(each) ? tooLarge(each) : each), 1);
  for (const [infinite, written] of TOO_LARGE) text = text.replaceAll(`"${tooLarge(infinite)}"`, written);
  return outcome(Buffer.from(text));
}

function isTaken(body: Buffer): boolean[] {
  return readResponse(body, "matrix").series.map(({ samples }) => areBytes(samples));
}

const matrix = (result: string, more = "") =>
  Buffer.from(`{"status":"success"${more},"data":{"resultType":"matrix","result":[${result}]}}`);

t.test("samples in the usual format of Prometheus stay bytes", async (t) => {
  const body = matrix(
    `{"metric":{"a":"ünï"},"values":[[1767225600,"1.5"],[1767229200,"NaN"]]},{"metric":{},"values":[[1767225600,"1e-7"]]}`,
  );
  t.strictSame(isTaken(body), [true, true]);
  t.strictSame(outcome(body), {
    series: [
      {
        labels: { a: "ünï" },
        samples: [
          [1_767_225_600, "1.5"],
          [1_767_229_200, "NaN"],
        ],
      },
      { labels: {}, samples: [[1_767_225_600, "1e-7"]] },
    ],
    remarks: [],
  });
});

t.test("samples in other formats are parsed", async (t) => {
  const others = [
    "[]",
    '[[1,"1"]]',
    '[[1.5,"1"],[1767225600,"1"]]',
    '[[-1767225600,"1"],[1767225600,"1"]]',
    '[[0,"1"],[1767225600,"1"]]',
    '[[1e9,"1"],[1767225600,"1"]]',
    '[[1e999,"1"],[1767225600,-1e999]]',
    '[[1234567890123456,"1"]]',
    "[[1,1]]",
    '[[1,"\\u0031"]]',
    '[[1,"ü"]]',
    '[[1,"1"],[2]]',
    '[[1,"1"],"x"]',
    '[[1,"1","2"]]',
    '[ [1,"1"]]',
    '[[1,"1"] ]',
    '[[1, "1"]]',
    "7",
    "null",
  ];
  for (const values of others) {
    for (const body of [
      matrix(`{"metric":{},"values":${values}}`),
      matrix(`{"metric":{},"values":[[1767225605,"5"]]},{"metric":{"b":"b"},"values":${values}}`),
    ]) {
      t.strictSame(outcome(body), parsedOutcome(body), values);
    }
    if (values.startsWith("[")) {
      t.strictSame(isTaken(matrix(`{"metric":{},"values":${values}}`)), [false], values);
    }
  }
});

t.test("text that only resembles the samples of a series is not taken out", async (t) => {
  const good = `{"metric":{},"values":[[1767225605,"5"]]}`;
  const bodies = [
    // A number in the place of samples, like those that replace extracted samples.
    matrix(`${good},{"metric":{},"values":0}`),
    matrix(`{"metric":{},"values":0},${good}`),
    matrix(`{"metric":{},"values":1},${good}`),
    matrix(`{"metric":{},"values":[[1767225606,"6"]],"values":[[1767225607,"7"]]}`),
    matrix(`{"metric":{},"values":[[1767225606,"6"]],"values":0}`),
    matrix(`{"metric":{"values":[[1767225606,"6"]]},"values":[[1767225607,"7"]]}`),
    matrix(`{"metric":{"a":",\\"values\\":[[1,\\"1\\"]]"},"values":[[1767225607,"7"]]}`),
    matrix(`{"metric":{"a\\",\\"values":"x"},"a\\"values":[[1767225606,"6"]],"values":[[1767225607,"7"]]}`),
    matrix(good, `,"stats":{"values":[[1,"1"]]}`),
    matrix(`${good},{"metric":{},"values":[[1767225605,"5"]],"histograms":[]}`),
    matrix(`{"values":[[1767225605,"5"]]}`),
    Buffer.from(`{"status":"error","errorType":"x","error":"y","values":[[1767225605,"5"]]}`),
    Buffer.from(`{"status":"success","data":{"resultType":"vector","result":[${good}]}}`),
    Buffer.from(`{"values":[[1767225605,"5"]]`),
    Buffer.from(`"{"values":[[1767225605,"5"]]"`),
    Buffer.from(`,"values":[[1767225605,"5"]]`),
  ];
  for (const body of bodies) t.strictSame(outcome(body), parsedOutcome(body), body.toString());
});

const texts = fc.oneof(
  fc.double().map((value) => String(value).replace("Infinity", "+Inf")),
  fc.nat().map(String),
  fc.string({ maxLength: 6 }),
);
const samples = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: fc.tuple(fc.integer({ min: 1_000_000_000, max: 2_000_000_000 }), texts) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
  ),
  { maxLength: 5 },
);
const series = fc.record({
  metric: fc.dictionary(
    fc.string({ maxLength: 9 }).filter((name) => name !== "__proto__"),
    fc.string({ maxLength: 9 }),
    { maxKeys: 2 },
  ),
  values: samples,
});

const classes = ["bytes", "parsed", "both", "damaged, and JSON", "damaged, and no JSON"] as const;

t.test("any response, complete or damaged, has the same result as with JSON.parse", async (t) => {
  const met = new Classes<(typeof classes)[number]>();
  const damages = fc.option(fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...'[]{},:"\\0a ')));
  fc.assert(
    fc.property(fc.array(series, { maxLength: 4 }), damages, (result, damage) => {
      const body = matrix(result.map((each) => JSON.stringify(each)).join(","));
      if (damage === null) {
        const taken = isTaken(body);
        if (taken.includes(true)) met.met(taken.includes(false) ? "both" : "bytes");
        else met.met("parsed");
        t.strictSame(outcome(body), parsedOutcome(body));
        return;
      }
      const [place, length, put] = damage;
      const at = place % body.length;
      const damaged = Buffer.concat([body.subarray(0, at), Buffer.from(put), body.subarray(at + length)]);
      const found = outcome(damaged);
      met.met(JSON.stringify(found).includes("not JSON") ? "damaged, and no JSON" : "damaged, and JSON");
      t.strictSame(found, parsedOutcome(damaged), damaged.toString());
    }),
    { numRuns: 2000 },
  );
  t.same(met.missing(classes, 20), []);
});
