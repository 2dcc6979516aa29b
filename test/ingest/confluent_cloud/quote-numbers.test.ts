/** Numbers of JSON kept as they were written. */
import t from "tap";
import { quoteNumbers } from "../../../src/ingest/ecosystems/confluent_cloud/api/read-response.js";
import fc from "../../property.js";

t.test("numbers become strings with every digit, and nothing else changes", async (t) => {
  const cases: [string, unknown][] = [
    [
      '{"a":0.10,"b":[-1,2e-7,12345678901234567890.123456789]}',
      { a: "0.10", b: ["-1", "2e-7", "12345678901234567890.123456789"] },
    ],
    ['{"a1":"2 and -3","b\\"4":"\\\\","c":5}', { a1: "2 and -3", 'b"4': "\\", c: "5" }],
    ["7", "7"],
    ["[true,null,1E+2]", [true, null, "1E+2"]],
    ['{"a" : 1 ,\n"b":\t2}', { a: "1", b: "2" }],
  ];
  for (const [json, wanted] of cases) t.same(JSON.parse(quoteNumbers(json)), wanted, json);
});

t.test("invalid JSON stays invalid", async (t) => {
  for (const json of ["01", "1-2", "[1.]", "[.5]", "-", "+1", '{"a":1', '"open 5', "[1 2]", "1e", "NaN"]) {
    t.throws(() => JSON.parse(json), SyntaxError, `${json} is not JSON`);
    t.throws(() => JSON.parse(quoteNumbers(json)), SyntaxError, json);
  }
});

t.test("for any value, only the numbers differ from the result of JSON.parse", async (t) => {
  const texts = (value: unknown): unknown => {
    if (typeof value === "number") return JSON.stringify(value);
    if (Array.isArray(value)) return value.map(texts);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, texts(item)]));
  };
  fc.assert(
    fc.property(fc.json(), fc.nat(4), (json, indent) => {
      const spaced = JSON.stringify(JSON.parse(json), null, indent);
      t.same(JSON.stringify(JSON.parse(quoteNumbers(spaced))), JSON.stringify(texts(JSON.parse(spaced))));
    }),
    { numRuns: 300 },
  );
});
