/**
 * Reads one scalar by its setting: text, integer, true/false, decimal or one of a list of words.
 *
 * The result of `${…}` is text and is converted to the type of the setting. A problem quotes the value, unless the
 * setting is a secret, the value came from the environment (where secrets come from), or it looks like an address with
 * credentials.
 */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { expectation, wordsOf } from "./expectation.js";
import { notesOf } from "./setting.js";
import { type Environment, substitute } from "./substitute.js";
import type { WrittenScalar } from "./written.js";

export type Reading = { value: unknown } | { messages: string[] };

const LONGEST_SHOWN = 60;

/** Returns `, not "x"`, or an empty text if the value must not be shown. */
function shown(schema: TSchema, scalar: WrittenScalar): string {
  if (notesOf(schema).secret || /:\/\/|@/.test(scalar.text)) return "";
  if (scalar.looks !== "text") return `, not ${scalar.text.slice(0, LONGEST_SHOWN)}`;
  const cut = scalar.text.length > LONGEST_SHOWN ? `${scalar.text.slice(0, LONGEST_SHOWN)}…` : scalar.text;
  return `, not ${JSON.stringify(cut)}`;
}

function integerFrom(text: string): number | undefined {
  const value = /^[+-]?\d{1,16}$/.test(text.trim()) ? Number(text) : undefined;
  return Number.isSafeInteger(value) ? value : undefined;
}

function booleanFrom(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return word === "true" || word === "false" ? word === "true" : undefined;
}

function wordFrom(schema: TSchema, words: readonly string[], text: string): string | undefined {
  const { synonyms } = notesOf(schema);
  const word = synonyms === undefined ? text : text.trim().toLowerCase();
  const meant = synonyms !== undefined && Object.hasOwn(synonyms, word) ? synonyms[word] : word;
  return words.find((known) => known === meant);
}

/** Parses a text with its own syntax, such as a URL or a decimal. */
function parsed(schema: TSchema, text: string): Reading {
  const { parse } = notesOf(schema);
  const result = parse?.(text) ?? { value: text };
  return "problem" in result ? { messages: [result.problem] } : result;
}

function convert(schema: TSchema, text: string): unknown {
  if (KindGuard.IsInteger(schema)) return integerFrom(text);
  if (KindGuard.IsBoolean(schema)) return booleanFrom(text);
  const words = wordsOf(schema);
  return words === undefined ? text : wordFrom(schema, words, text);
}

export function readScalar(schema: TSchema, scalar: WrittenScalar, env: Environment): Reading {
  const { text, fromEnvironment, problems } = substitute(scalar.text, env);
  if (problems.length > 0) return { messages: problems };
  const { decimal, parse } = notesOf(schema);
  const not = fromEnvironment ? " (the value comes from the environment)" : shown(schema, scalar);
  const isText = KindGuard.IsString(schema) && !decimal;
  if (isText && scalar.looks !== "text") return { messages: [`must be text: put it in quotes${not}`] };
  const converted = parse === undefined ? { value: convert(schema, text) } : parsed(schema, text);
  if ("messages" in converted) return { messages: converted.messages.map((message) => message + not) };
  if (converted.value !== undefined && Value.Check(schema, converted.value)) return converted;
  return { messages: [`must be ${expectation(schema)}${not}`] };
}
