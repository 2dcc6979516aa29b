/** Draws bodies: objects of the description, other JSON, and text that is not JSON. */
import type { Schema } from "../../../src/http/description/openapi-types.js";
import fc from "../../property.js";
import { anything, type Drawn, drawn, isWrong, type Known, type Mood, seldom, taken } from "./drawing.js";
import { hostileTexts } from "./hostile.js";

export interface Body {
  readonly text: string | undefined;
  readonly type: string | undefined;
}

export const noBody = (): Body => ({ text: undefined, type: undefined });
const JSON_TYPE = "application/json";

export function fuzzedBody(schema: Schema, mood: Mood, known: Known): fc.Arbitrary<(now: Known) => Body> {
  if (schema.contentMediaType !== undefined) return textOf(schema.contentMediaType, mood, known);
  const json = fieldsOf(schema, mood, known).map((build) => (now: Known) => ({
    text: JSON.stringify(build(now)),
    type: JSON_TYPE,
  }));
  if (mood === "right") return json;
  const texts = [
    "",
    "{",
    "null",
    "[]",
    "1",
    '"x"',
    "{}",
    '{"a":1}}',
    '{"__proto__":{"x":1}}',
    "[".repeat(5000),
    '{"page":1e400}',
    "\ufeff{}",
  ];
  const raw = fc
    .record({
      text: fc.constantFrom(...texts),
      type: fc.constantFrom(
        JSON_TYPE,
        JSON_TYPE,
        "text/plain",
        "application/xml",
        "x",
        "application/json; charset=utf-16",
        "multipart/form-data; boundary=x",
      ),
    })
    .map((body) => () => body);
  const large = fc.constant(() => ({
    text: JSON.stringify({ tag_key: "x".repeat(1_100_000) }),
    type: JSON_TYPE,
  }));
  return fc.oneof(
    { weight: 30, arbitrary: json },
    { weight: 6, arbitrary: raw },
    { weight: 1, arbitrary: large },
    { weight: 1, arbitrary: fc.constant(noBody) },
  );
}

/** Bodies that are not JSON. A valid one is chosen by its media type. */
function textOf(type: string, mood: Mood, known: Known): fc.Arbitrary<(now: Known) => Body> {
  const right = fc.constantFrom(...(known[type] ?? []).map(String));
  const wrong = fc.oneof(
    fc.constantFrom(...hostileTexts),
    fc
      .tuple(right, fc.constantFrom(...hostileTexts))
      .map(([text, more]) => text.replace(/,[^,]*$/, `,${more}`)),
    fc.tuple(right, fc.nat({ max: 60 })).map(([text, length]) => text.slice(0, length)),
  );
  const types = fc.constantFrom(type, type, type, JSON_TYPE, "x");
  return isWrong(mood).chain((broken) =>
    broken
      ? fc.record({ text: wrong, type: types }).map((body) => () => body)
      : right.map((text) => () => ({ text, type })),
  );
}

/** Draws the fields of an object. In every mood except `right`, some are missing, unknown or have another type. */
function fieldsOf(schema: Schema, mood: Mood, known: Known): fc.Arbitrary<(now: Known) => object> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const needed = schema.required?.includes(name) ?? false;
    const draw = fieldOf(name, field, mood, known);
    return fc.tuple(
      fc.constant(name),
      mood === "right" && needed ? draw : fc.option(draw, { freq: needed ? 15 : 2, nil: undefined }),
    );
  });
  const unknown = mood === "right" ? fc.constant(undefined) : seldom(8, fc.constantFrom(...hostileTexts));
  return fc.tuple(fc.tuple(...fields), unknown).map(([draws, more]) => (now: Known) => {
    const given = draws.flatMap(([name, build]) => (build === undefined ? [] : [[name, build(now)]]));
    if (more !== undefined) given.push([more, "x"]);
    return Object.fromEntries(given);
  });
}

function fieldOf(
  name: string,
  schema: Schema,
  mood: Mood,
  known: Known,
): fc.Arbitrary<(now: Known) => unknown> {
  const scalar = (draw: fc.Arbitrary<Drawn>) => draw.map((each) => (now: Known) => taken(each, now));
  const whole: fc.Arbitrary<(now: Known) => unknown> =
    schema.type === "array"
      ? fc
          .array(fieldOf(singular(name), schema.items ?? {}, mood, known), {
            minLength: schema.minItems ?? 0,
            maxLength: 4,
          })
          .map((items) => (now: Known) => items.map((item) => item(now)))
      : schema.properties !== undefined
        ? fieldsOf(schema, mood, known)
        : scalar(drawn(name, schema, mood, known));
  if (mood === "right") return whole;
  return isWrong("mixed").chain((wrong) => (wrong ? scalar(anything) : whole));
}

/** Lists of ids have one known id for each item. */
function singular(name: string): string {
  if (name === "dimension_ids") return "dimension_id";
  return name === "remove_tag_ids" ? "tag_id" : name;
}
