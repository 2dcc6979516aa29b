/**
 * The JSON Schema of the configuration file (draft 7, which editors support best), generated from the definitions of
 * the settings.
 *
 * It describes what may be *written*: a number may be a text with `${…}` in it, a decimal may be a number or a text,
 * and a level may be in any case. Rules between keys cannot be expressed and are part of the descriptions.
 */
import { KindGuard, type TArray, type TObject, type TRecord, type TSchema } from "@sinclair/typebox";
import { wordsOf } from "./expectation.js";
import { notesOf, openValue } from "./setting.js";

export type JsonSchema = { [key: string]: unknown };

/** A text with `${…}`. Its value is only known when the service starts. */
const SUBSTITUTED: JsonSchema = { type: "string", pattern: "\\$\\{" };

/** A key without a value counts as missing. */
const NOTHING: JsonSchema = { type: "null" };

function anyCase(words: readonly string[]): string {
  const letters = (word: string) => word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
  return `^(${words.map(letters).join("|")})$`;
}

function keywords(schema: TSchema, names: readonly string[]): JsonSchema {
  return Object.fromEntries(
    names.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]]),
  );
}

function wordSchemas(schema: TSchema, words: readonly string[]): JsonSchema[] {
  const { synonyms } = notesOf(schema);
  const listed: JsonSchema = words.length === 1 ? { const: words[0] } : { enum: [...words] };
  if (synonyms === undefined) return [listed];
  return [listed, { type: "string", pattern: anyCase([...words, ...Object.keys(synonyms)]) }];
}

/** Returns the forms in which a scalar may be written. */
function scalarForms(schema: TSchema): JsonSchema[] {
  const words = wordsOf(schema);
  if (words !== undefined) return [...wordSchemas(schema, words), SUBSTITUTED];
  if (KindGuard.IsInteger(schema)) {
    const number = { type: "integer", ...keywords(schema, ["minimum", "maximum", "multipleOf"]) };
    return [number, { type: "string", pattern: "^\\s*[+-]?\\d{1,16}\\s*$" }, SUBSTITUTED];
  }
  if (KindGuard.IsBoolean(schema)) {
    return [
      { type: "boolean" },
      { type: "string", pattern: "^\\s*([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\\s*$" },
      SUBSTITUTED,
    ];
  }
  const { decimal, parse } = notesOf(schema);
  if (decimal)
    return [{ type: "number" }, { type: "string", pattern: "^\\s*-?\\d+(\\.\\d+)?\\s*$" }, SUBSTITUTED];
  if (parse !== undefined) return [{ type: "string" }];
  const bounded = { type: "string", ...keywords(schema, ["minLength", "maxLength", "pattern"]) };
  return schema.pattern === undefined && schema.minLength === undefined ? [bounded] : [bounded, SUBSTITUTED];
}

function objectSchema(schema: TObject): JsonSchema {
  const entries = Object.entries(schema.properties);
  const open = openValue(schema);
  const required = entries.filter(
    ([, property]) => !KindGuard.IsOptional(property) && !("default" in property),
  );
  const optional = ([name, property]: [string, TSchema]): [string, JsonSchema] => {
    const written = jsonSchema(property);
    const needed = required.some(([other]) => other === name);
    return [name, needed ? written : orNothing(written)];
  };
  return {
    type: "object",
    additionalProperties: open === undefined ? false : jsonSchema(open),
    ...(required.length === 0 ? {} : { required: required.map(([name]) => name) }),
    properties: Object.fromEntries(entries.map(optional)),
  };
}

function orNothing({ description, default: fallback, ...schema }: JsonSchema): JsonSchema {
  const forms = Array.isArray(schema.anyOf) && Object.keys(schema).length === 1 ? schema.anyOf : [schema];
  const notes = { description, ...(fallback === undefined ? {} : { default: fallback }) };
  return { ...notes, anyOf: [...forms, NOTHING] };
}

function recordSchema(schema: TRecord): JsonSchema {
  const entries = Object.entries(schema.patternProperties).map(([pattern, item]) => [
    pattern,
    jsonSchema(item),
  ]);
  return {
    type: "object",
    additionalProperties: false,
    ...keywords(schema, ["maxProperties"]),
    patternProperties: Object.fromEntries(entries),
  };
}

function listSchema(schema: TArray): JsonSchema {
  return { type: "array", ...keywords(schema, ["minItems", "maxItems"]), items: jsonSchema(schema.items) };
}

function shape(schema: TSchema): JsonSchema {
  const { unsupported, discriminator, byKind } = notesOf(schema);
  if (unsupported)
    return {
      anyOf: [
        { type: "object", maxProperties: 0 },
        { type: "array", maxItems: 0 },
      ],
    };
  if ((discriminator !== undefined || byKind) && KindGuard.IsUnion(schema))
    return { anyOf: schema.anyOf.map(jsonSchema) };
  if (KindGuard.IsObject(schema)) return objectSchema(schema);
  if (KindGuard.IsRecord(schema)) return recordSchema(schema);
  if (KindGuard.IsArray(schema)) return listSchema(schema);
  const forms = scalarForms(schema);
  return forms.length === 1 ? { ...forms[0] } : { anyOf: forms };
}

/** Returns the JSON Schema of a setting and of everything below it. */
export function jsonSchema(schema: TSchema): JsonSchema {
  const { description, unsupported, rules = [] } = notesOf(schema);
  const summary = unsupported ? `Not supported: ${description}` : description;
  const sentences = [summary, ...rules.map(({ rule }) => rule)].filter((sentence) => sentence !== undefined);
  return {
    ...(sentences.length === 0 ? {} : { description: sentences.join(" ") }),
    ...keywords(schema, ["default"]),
    ...shape(schema),
  };
}
