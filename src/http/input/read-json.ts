/** Validates values of a JSON body by their schemas, without any conversion: `"1"` is not the number 1. */
import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { isDate } from "../../query/time/date-window.js";
import { isInstant } from "../../query/time/instant.js";
import { type InputProblem, MOST_PROBLEMS } from "../errors.js";
import { expected, unknownName } from "./messages.js";
import { isTagParameter, readTagParameters } from "./tag-parameters.js";

/** Returns `value` with its defaults filled in. Adds to `problems` what is wrong with it. */
export function readJson(schema: TSchema, value: unknown, name: string, problems: InputProblem[]): unknown {
  if (KindGuard.IsObject(schema) && isRecord(value)) return readFields(schema, value, name, problems);
  if (
    KindGuard.IsArray(schema) &&
    Array.isArray(value) &&
    value.length >= (schema.minItems ?? 0) &&
    value.length <= (schema.maxItems ?? value.length)
  ) {
    return readItems(schema.items, value, name, problems);
  }
  // The schema allows one value or a list of values; return a list in both cases.
  const list = schema.anyOf?.find(KindGuard.IsArray);
  if (list !== undefined && Array.isArray(value) && value.length > 0)
    return readJson(list, value, name, problems);
  if (list !== undefined && fitsScalar(list.items, value)) return [value];
  if (list === undefined && fitsScalar(schema, value)) return value;
  const subject = name === "" ? "The body" : `\`${name}\``;
  problems.push({ in: "body", name, detail: `${subject} must be ${expected(schema)}.`, code: "invalid" });
  return undefined;
}

function readItems(
  item: TSchema,
  values: readonly unknown[],
  name: string,
  problems: InputProblem[],
): unknown[] {
  const before = problems.length;
  const read: unknown[] = [];
  for (const [index, value] of values.entries()) {
    read.push(readJson(item, value, `${name}[${index}]`, problems));
    if (problems.length - before > MOST_PROBLEMS) break;
  }
  return read;
}

function readFields(schema: TObject, value: Record<string, unknown>, name: string, problems: InputProblem[]) {
  const path = (field: string) => (name === "" ? field : `${name}.${field}`);
  const known = Object.keys(schema.properties);
  const isTag = (field: string) => schema.patternProperties !== undefined && isTagParameter(field);
  const unknown = Object.keys(value).filter((field) => !known.includes(field) && !isTag(field));
  for (const field of unknown.slice(0, MOST_PROBLEMS + 1)) {
    problems.push({
      in: "body",
      name: path(field.slice(0, 64)),
      detail: unknownName(
        "field",
        field,
        schema.patternProperties === undefined ? known : [...known, "tag:KEY"],
      ),
      code: "unknown",
    });
  }
  const fields = Object.entries(schema.properties).map(([field, fieldSchema]): [string, unknown] => {
    // Null counts as a missing field at the top level, but not inside `filters`: a filter must never be ignored
    // silently.
    const isGiven = Object.hasOwn(value, field) && (value[field] !== null || name !== "");
    if (!isGiven && schema.required?.includes(field)) {
      const detail = `\`${path(field)}\` must be given: ${expected(fieldSchema)}.`;
      problems.push({ in: "body", name: path(field), detail, code: "missing" });
    }
    return [
      field,
      isGiven
        ? readJson(fieldSchema, value[field], path(field), problems)
        : structuredClone(fieldSchema.default),
    ];
  });
  const tags = Object.entries(value).filter(([field]) => isTag(field));
  readTagParameters(Object.fromEntries(tags), "body", problems);
  fields.push(...tags);
  return Object.fromEntries(fields.filter(([, read]) => read !== undefined));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fitsScalar(schema: TSchema, value: unknown): boolean {
  if (KindGuard.IsBoolean(schema)) return typeof value === "boolean";
  if (KindGuard.IsInteger(schema)) {
    return (
      Number.isSafeInteger(value) &&
      Number(value) >= (schema.minimum ?? 0) &&
      Number(value) <= (schema.maximum ?? 0)
    );
  }
  return (
    typeof value === "string" &&
    !KindGuard.IsObject(schema) &&
    !KindGuard.IsArray(schema) &&
    fitsText(schema, value)
  );
}

export function fitsText(schema: TSchema, text: string): boolean {
  if (Array.isArray(schema.enum)) return schema.enum.includes(text);
  if (schema.format === "date") return isDate(text);
  if (schema.format === "date-time") return isInstant(text);
  if (Array.isArray(schema.anyOf)) return schema.anyOf.some((each) => fitsText(each, text));
  return fitsLength(schema, text) && !UNSTORABLE.test(text) && fitsPattern(schema, text);
}

/** Neither ClickHouse nor Postgres can store NUL or half of a surrogate pair. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/** The length is in code points, as in JSON Schema. */
function fitsLength({ minLength = 0, maxLength = Number.POSITIVE_INFINITY }: TSchema, text: string): boolean {
  if (text.length < minLength || text.length > 2 * maxLength) return false;
  const length = [...text].length;
  return length >= minLength && length <= maxLength;
}

function fitsPattern({ pattern }: TSchema, text: string): boolean {
  return typeof pattern !== "string" || new RegExp(pattern, "u").test(text);
}
