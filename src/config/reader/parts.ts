/** Pairs each part of a parsed value with its schema. */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { formOfKind, notesOf, openValue } from "./setting.js";

export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Returns the variant of the schema that applies to `value`. */
function formOf(schema: TSchema, value: Record<string, unknown>): TSchema {
  const { discriminator, byKind } = notesOf(schema);
  if (byKind) return formOfKind(schema, "mapping") ?? schema;
  const key = discriminator?.key;
  if (key === undefined || !KindGuard.IsUnion(schema)) return schema;
  const forms = schema.anyOf.filter(KindGuard.IsObject);
  return forms.find((form) => form.properties[key]?.const === value[key]) ?? schema;
}

/**
 * Returns the entries of a mapping with their schemas; `definition` is undefined for keys that the schema does not
 * have.
 */
export function entriesOf(
  schema: TSchema,
  value: Record<string, unknown>,
): { readonly key: string; readonly part: unknown; readonly definition: TSchema | undefined }[] {
  const form = formOf(schema, value);
  const definitionOf = (key: string): TSchema | undefined => {
    if (KindGuard.IsObject(form)) return form.properties[key] ?? openValue(form);
    return KindGuard.IsRecord(form) ? Object.values(form.patternProperties)[0] : undefined;
  };
  return Object.entries(value).map(([key, part]) => ({ key, part, definition: definitionOf(key) }));
}

export function itemDefinition(schema: TSchema): TSchema | undefined {
  const form = notesOf(schema).byKind ? formOfKind(schema, "list") : schema;
  return form !== undefined && KindGuard.IsArray(form) ? form.items : undefined;
}
