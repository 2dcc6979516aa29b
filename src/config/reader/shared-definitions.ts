/** Moves the parts of a JSON Schema that occur more than once to `$defs`, so that the file stays small. */
import type { JsonSchema } from "./json-schema.js";

/** Groups of settings are longer than this, as JSON. Single settings are not, and stay where they are. */
const SHORTEST = 450;

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the schema with each schema directly below it replaced. `key` is the key of the setting below, if it has one. */
function mapBelow(schema: JsonSchema, replace: (below: JsonSchema, key?: string) => JsonSchema): JsonSchema {
  const entries = Object.entries(schema).map(([keyword, value]) => {
    if (keyword === "anyOf" && Array.isArray(value)) return [keyword, value.map((each) => replace(each))];
    if (!isSchema(value)) return [keyword, value];
    if (keyword === "items" || keyword === "additionalProperties") return [keyword, replace(value)];
    if (keyword !== "properties" && keyword !== "patternProperties") return [keyword, value];
    const named = Object.entries(value).map(([key, below]) => {
      if (!isSchema(below)) throw new Error(`${key} is not a schema`);
      return [key, keyword === "properties" ? replace(below, key) : replace(below)];
    });
    return [keyword, Object.fromEntries(named)];
  });
  return Object.fromEntries(entries);
}

/** A definition is named after the setting at its first place, with a number if that is not unique. */
export function withSharedDefinitions(root: JsonSchema): JsonSchema {
  const places = new Map<string, number>();
  const count = (schema: JsonSchema): JsonSchema => {
    const text = JSON.stringify(schema);
    const before = places.get(text) ?? 0;
    places.set(text, before + 1);
    // The parts of a shared part are in the file once.
    return before === 0 ? mapBelow(schema, count) : schema;
  };
  count(root);

  const $defs: JsonSchema = {};
  const names = new Map<string, string>();
  const share = (schema: JsonSchema, setting: string): JsonSchema => {
    const text = JSON.stringify(schema);
    const below = () => mapBelow(schema, (each, key = setting) => share(each, key));
    if ((places.get(text) ?? 0) < 2 || text.length < SHORTEST) return below();
    const name = names.get(text) ?? (setting in $defs ? `${setting}_${names.size}` : setting);
    if (!names.has(text)) {
      names.set(text, name);
      $defs[name] = {}; // Its place is before the definitions that it uses.
      $defs[name] = below();
    }
    return { $ref: `#/$defs/${name}` };
  };
  return { ...share(root, "configuration"), $defs };
}
