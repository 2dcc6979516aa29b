/** Which definition each part of a value has: what walks a configuration beside its schema goes by. */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { formOfKind, notesOf, openValue } from "./setting.js";

export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The form of a mapping that `value` has. */
function formOf(schema: TSchema, value: Record<string, unknown>): TSchema {
  const { discriminator, byKind } = notesOf(schema);
  if (byKind) return formOfKind(schema, "mapping") ?? schema;
  const key = discriminator?.key;
  if (key === undefined || !KindGuard.IsUnion(schema)) return schema;
  const forms = schema.anyOf.filter(KindGuard.IsObject);
  return forms.find((form) => form.properties[key]?.const === value[key]) ?? schema;
}

/** Entries of a mapping, each with its definition; undefined for what the schema does not know. */
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
