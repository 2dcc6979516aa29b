/** Builds examples of whole bodies from the examples of their fields, so that they are complete and never outdated. */
import { type Components, resolvedSchema, type Schema } from "./document.js";

export function exampleOf(schemaOrReference: Schema, components: Components): unknown {
  const schema = resolvedSchema(schemaOrReference, components);
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
