/**
 * Reads a query string by its schema. Unknown parameters are refused, because a mistyped filter would return
 * everything, and so are repeated ones that take one value.
 */
import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { type InputProblem, MOST_PROBLEMS } from "../errors.js";
import { expected, unknownName } from "./messages.js";
import { fitsText } from "./read-json.js";
import { isTagParameter, prefixedProperty, readTagParameters } from "./tag-parameters.js";

export function readQuery(
  schema: TObject,
  query: Readonly<Record<string, unknown>>,
  problems: InputProblem[],
) {
  const tags = prefixedProperty(schema.properties);
  const isTagFilter = (name: string) => tags !== undefined && isTagParameter(name);
  const plain = Object.entries(schema.properties).filter(([name]) => name !== tags);
  const known = plain.map(([name]) => name);
  const unknown = Object.keys(query).filter((name) => !known.includes(name) && !isTagFilter(name));
  for (const name of schema.additionalProperties === true ? [] : unknown.slice(0, MOST_PROBLEMS + 1)) {
    problems.push({
      in: "query",
      name: name.slice(0, 64),
      detail: unknownName("parameter", name, tags === undefined ? known : [...known, "tag:KEY"]),
      code: "unknown",
    });
  }
  const parameters = plain.map(([name, parameter]): [string, unknown] => {
    const given = query[name];
    if (given === undefined) {
      if (schema.required?.includes(name)) {
        const detail = `\`${name}\` must be given: ${expected(parameter)}.`;
        problems.push({ in: "query", name, detail, code: "missing" });
      }
      return [name, structuredClone(parameter.default)];
    }
    const texts = (Array.isArray(given) ? given : [given]).map(String);
    const repeatable = KindGuard.IsArray(parameter);
    if (!repeatable && texts.length > 1) {
      problems.push({ in: "query", name, detail: `\`${name}\` must be given once.`, code: "repeated" });
      return [name, undefined];
    }
    // An empty value is refused unless the schema allows it by `minLength: 0`: usually it comes from a variable that is
    // not set.
    if (texts.includes("") && !(repeatable && parameter.items.minLength === 0)) {
      const detail = `\`${name}\` must not be empty: leave it out, or give it a value.`;
      problems.push({ in: "query", name, detail, code: "invalid" });
      return [name, undefined];
    }
    const readings = texts.map((text) => readText(repeatable ? parameter.items : parameter, text));
    const tooMany = repeatable && texts.length > (parameter.maxItems ?? texts.length);
    if (tooMany || readings.includes(undefined)) {
      problems.push({
        in: "query",
        name,
        detail: `\`${name}\` must be ${expected(parameter)}.`,
        code: "invalid",
      });
    }
    return [name, repeatable ? readings.map((reading) => reading?.value) : readings[0]?.value];
  });
  if (tags !== undefined) parameters.push([tags, readTagParameters(query, "query", problems)]);
  return Object.fromEntries(parameters.filter(([, value]) => value !== undefined));
}

/**
 * Reads a value of a query or a path strictly by its schema: nothing is rounded, trimmed or guessed. Returns undefined
 * if the text does not fit the schema.
 */
export function readText(schema: TSchema, text: string): { readonly value: unknown } | undefined {
  if (KindGuard.IsInteger(schema)) {
    if (!/^-?(0|[1-9]\d{0,19})$/.test(text)) return undefined;
    const value = Number(text);
    const fits =
      Number.isSafeInteger(value) && value >= (schema.minimum ?? value) && value <= (schema.maximum ?? value);
    return fits ? { value } : undefined;
  }
  if (KindGuard.IsBoolean(schema)) {
    return text === "true" || text === "false" ? { value: text === "true" } : undefined;
  }
  return fitsText(schema, text) ? { value: text } : undefined;
}
