/** Examples of whole bodies, put together from those of their fields, so that no field is missing and none can lag behind. */
import { type Components, resolvedSchema, type Schema } from "./document.js";

export function exampleOf(given: Schema, components: Components): unknown {
  const schema = resolvedSchema(given, components);
  const [example] = schema.examples ?? schema.enum ?? [];
  if (example !== undefined) return example;
  if (schema.default !== undefined) return schema.default;
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties);
    return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, components)]));
  }
  if (schema.items !== undefined) return [exampleOf(schema.items, components)];
  const [first] = [...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  if (first !== undefined) return exampleOf(first, components);
  return schema.type === "boolean" ? true : undefined;
}
