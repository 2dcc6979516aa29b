/** Generates the reference page of the configuration: a table per section, from the definitions of the settings. */
import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { expectation, wordsOf } from "./expectation.js";
import { choice, mapping, notesOf, openValue } from "./setting.js";

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

function typeOf(schema: TSchema): string {
  const { secret, decimal, unit, unsupported, byKind } = notesOf(schema);
  const unitText = unit === undefined ? "" : ` (${unit})`;
  if (unsupported) return "–";
  if (decimal) return `decimal${unitText}`;
  if (byKind && KindGuard.IsUnion(schema)) return schema.anyOf.map(typeOf).join(", ");
  if (KindGuard.IsInteger(schema)) return `integer${unitText}`;
  if (KindGuard.IsBoolean(schema)) return "boolean";
  if (KindGuard.IsArray(schema)) return "list";
  if (KindGuard.IsObject(schema) || KindGuard.IsRecord(schema)) return "mapping";
  if (wordsOf(schema) !== undefined) return "choice";
  return secret ? "secret text" : "text";
}

function defaultOf(schema: TSchema): string {
  if ("default" in schema)
    return `\`${typeof schema.default === "string" ? schema.default : JSON.stringify(schema.default)}\``;
  return KindGuard.IsOptional(schema) ? "–" : "required";
}

function row(key: string, schema: TSchema): string {
  const { description = "", unsupported } = notesOf(schema);
  const meaning = unsupported ? `Not supported: ${description}` : description;
  const allowed = unsupported ? "nothing" : expectation(schema);
  return `| \`${key}\` | ${typeOf(schema)} | ${defaultOf(schema)} | ${cell(allowed)} | ${cell(meaning)} |`;
}

/** A mapping with its own heading and table. */
interface Part {
  path: string;
  /** The form that the mapping belongs to, such as `ecosystem: confluent_cloud`. */
  form: string;
  schema: TObject;
}

function formsOf(schema: TSchema): TObject[] {
  return (KindGuard.IsUnion(schema) ? schema.anyOf : [schema]).filter(KindGuard.IsObject);
}

/** Returns one part for the keys that all forms share, and one for the keys of each form. */
function formParts(path: string, form: string, schema: TSchema, key: string, shared: TObject): Part[] {
  const forms = formsOf(schema);
  const words = forms.flatMap((each) => wordsOf(each.properties[key] ?? each) ?? []);
  const selector = choice(words, {
    description: notesOf(forms[0]?.properties[key] ?? schema).description ?? "",
  });
  const { description = "" } = notesOf(schema);
  const { rules = [] } = notesOf(shared);
  const own = forms.map((each, index) => {
    const ownEntries = Object.entries(each.properties).filter(
      ([name]) => name !== key && !(name in shared.properties),
    );
    const { description: ofForm = "", rules: ownRules = [] } = notesOf(each);
    const properties = mapping(Object.fromEntries(ownEntries), {
      description: ofForm === description ? "" : ofForm,
      rules: ownRules.filter((rule) => !rules.includes(rule)),
    });
    return { path, form: `${key}: ${words[index]}`, schema: properties };
  });
  return [
    { path, form, schema: mapping({ [key]: selector, ...shared.properties }, { description, rules }) },
    ...own,
  ];
}

/** Returns the parts below a key: one for a mapping or a list of mappings, several for a mapping with several forms. */
function partsOf(path: string, form: string, schema: TSchema): Part[] {
  const { discriminator, keys, byKind } = notesOf(schema);
  if (byKind && KindGuard.IsUnion(schema)) return schema.anyOf.flatMap((each) => partsOf(path, form, each));
  if (discriminator !== undefined)
    return formParts(path, form, schema, discriminator.key, discriminator.shared);
  if (KindGuard.IsObject(schema)) return [{ path, form, schema }];
  if (KindGuard.IsArray(schema)) return partsOf(`${path}[]`, form, schema.items);
  if (!KindGuard.IsRecord(schema)) return [];
  return Object.values(schema.patternProperties).flatMap((item) =>
    partsOf(`${path}.${keys?.name}`, form, item),
  );
}

function rulesOf(schema: TSchema): string[] {
  const { rules = [] } = notesOf(schema);
  return rules.length === 0 ? [] : ["", "Rules:", "", ...rules.map(({ rule }) => `- ${rule}`)];
}

/** Renders the heading, the table of keys, and the parts below. */
function section({ path, form, schema }: Part, level: number): string[] {
  const { description = "" } = notesOf(schema);
  const open = openValue(schema);
  const properties: [string, TSchema][] = [
    ...Object.entries(schema.properties),
    ...(open === undefined ? [] : [[notesOf(schema).keys?.name ?? "", open] satisfies [string, TSchema]]),
  ];
  const opened = properties.flatMap(([name, property]) =>
    partsOf(path === "" ? name : `${path}.${name}`, form, property),
  );
  const heading = `${"#".repeat(level)} \`${path}\`${form === "" ? "" : ` with \`${form}\``}`;
  const table = ["", "| Key | Type | Default | Allowed | Meaning |", "|---|---|---|---|---|"];
  return [
    ...(path === "" ? [] : ["", heading, ...(description === "" ? [] : ["", description])]),
    ...table,
    ...properties.map(([name, property]) => row(name, property)),
    ...rulesOf(schema),
    ...opened.flatMap((part) => section(part, Math.min(level + 1, 4))),
  ];
}

export function referenceTables(schema: TObject): string {
  return section({ path: "", form: "", schema }, 1).join("\n").trim();
}
