/** Lists every setting of the configuration's schema. */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { notesOf, openValue } from "../../src/config/reader/setting.js";

/** Returns every setting with its path, including those inside mappings, lists and variants. */
export function allSettings(schema: TSchema, path: string): [string, TSchema][] {
  const { discriminator, byKind } = notesOf(schema);
  if (KindGuard.IsUnion(schema) && (discriminator !== undefined || byKind)) {
    return schema.anyOf.flatMap((form) => allSettings(form, path));
  }
  const here: [string, TSchema][] = [[path, schema]];
  if (KindGuard.IsArray(schema)) return [...here, ...allSettings(schema.items, `${path}[]`)];
  if (KindGuard.IsRecord(schema)) {
    const items = Object.values(schema.patternProperties);
    return [...here, ...items.flatMap((item) => allSettings(item, `${path}.*`))];
  }
  if (!KindGuard.IsObject(schema)) return here;
  const open = openValue(schema);
  return [
    ...here,
    ...Object.entries(schema.properties).flatMap(([key, part]) => allSettings(part, `${path}.${key}`)),
    ...(open === undefined ? [] : allSettings(open, `${path}.*`)),
  ];
}
