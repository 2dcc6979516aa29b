/** A JSON body is checked before it is parsed. */
import t from "tap";
import { requireModestJson } from "../../src/http/input/json-body.js";
import fc from "../property.js";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

t.test("a body is refused exactly when it has more than 16 levels, whatever its texts contain", async (t) => {
  const seen = { taken: 0, refused: 0 };
  const text = fc.string({
    unit: fc.constantFrom("[", "]", "{", "}", '"', "\\", ",", "ä", "x"),
    maxLength: 8,
  });
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: "max", withCrossShrink: true },
      text,
      fc.integer(),
      tie("list"),
      tie("object"),
    ),
    list: fc.array(tie("node"), { maxLength: 2 }),
    object: fc.dictionary(text, tie("node"), { maxKeys: 2 }),
  }));
  const wrapped = fc.tuple(node, fc.nat({ max: 24 })).map(([value, more]) => {
    let whole: unknown = value;
    for (let level = 0; level < more; level++) whole = level % 2 === 0 ? [whole] : { a: whole };
    return whole;
  });
  fc.assert(
    fc.property(wrapped, (value) => {
      const body = Buffer.from(JSON.stringify(value));
      const isDeep = depthOf(value) > 16;
      seen[isDeep ? "refused" : "taken"] += 1;
      let refusal: string | undefined;
      try {
        requireModestJson(body);
      } catch (error) {
        refusal = (error as Error).message;
      }
      return refusal === (isDeep ? "The body must have at most 16 levels of lists and objects." : undefined);
    }),
    { numRuns: 2_000 },
  );
  t.ok(
    seen.taken > 100 && seen.refused > 100,
    `${seen.taken} bodies were accepted, ${seen.refused} were refused`,
  );
});

t.test("a body of 25,000 values is accepted, and a larger one refused", async (t) => {
  const ids = (count: number) => Buffer.from(`[${Array(count).fill(1)}]`);
  t.equal(requireModestJson(ids(24_999)), undefined);
  t.throws(() => requireModestJson(ids(25_000)), {
    code: "body_too_large",
    message: "The body must have at most 25000 values.",
  });
});
