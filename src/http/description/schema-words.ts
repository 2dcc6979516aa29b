/** Describes schemas in words, for the tables of the reference page. */
import { referred, type Schema } from "./document.js";

/** `integer 1–1000`, `list of [TagRecord](#tagrecord)`, `text or null`. */
export function typeInWords(schema: Schema): string {
  const name = referred(schema);
  if (name !== undefined) return linkTo(name);
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeInWords))].join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${String(word)}\``).join(", ");
  const types = [schema.type ?? "anything"].flat();
  return types.map((type) => oneType(type, schema)).join(" or ");
}

export function linkTo(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

const formats: Readonly<Record<string, string>> = {
  date: "date",
  "date-time": "date and time",
  uuid: "UUID",
};

function oneType(type: string, { format, items, additionalProperties, ...schema }: Schema): string {
  switch (type) {
    case "string":
      if (format !== undefined) return formats[format] ?? format;
      return schema.pattern?.startsWith("^-?[0-9]")
        ? "decimal as text"
        : `text${bounds(schema.minLength, schema.maxLength)}`;
    case "integer":
      return `integer${bounds(schema.minimum, schema.maximum)}`;
    case "array":
      return `list of ${typeInWords(items ?? {})}`;
    case "object":
      return typeof additionalProperties === "object"
        ? `object of ${typeInWords(additionalProperties)}`
        : "object";
    default:
      return type;
  }
}

/** Omits the maximum if it is only the largest safe integer of JSON. */
function bounds(least = 0, most = Number.MAX_SAFE_INTEGER): string {
  if (most !== Number.MAX_SAFE_INTEGER) return least === 0 ? `, at most ${most}` : ` ${least}–${most}`;
  return least === 0 ? "" : ` from ${least}`;
}

export function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** Lists all fields with nested ones by their paths, such as `filters.cost_type`. */
export function fieldsOf(schema: Schema, path = ""): { path: string; field: Schema; required: boolean }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = path === "" ? name : `${path}.${name}`;
    const required = schema.required?.includes(name) ?? false;
    const inside = field.type === "array" ? fieldsOf(field.items ?? {}, `${here}[]`) : fieldsOf(field, here);
    return [{ path: here, field, required }, ...inside];
  });
}
