/**
 * Parts of the configuration that count on some days only: `valid_from` and `valid_to`. Everything that depends on the
 * configuration works with the part of it that counts on a day, which has no dates. So no statement and no ecosystem
 * knows about dates.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import { addDays, isDay } from "../../common/days.js";
import { FIRST_DAY, LAST_DAY } from "../../domain/stored-days.js";
import { entriesOf, isRecord, itemDefinition } from "./parts.js";
import { notesOf, type Rule, text } from "./setting.js";

/** The UTC days on which a part counts, both included. Without a day, there is no limit. */
export interface Validity {
  readonly valid_from?: string | undefined;
  readonly valid_to?: string | undefined;
}

/** The days that the configuration may name. */
export const STORED_DAY = `a day from ${FIRST_DAY} to ${LAST_DAY}, such as 2026-03-01`;

export const isStoredDay = (written: string) => isDay(written) && written >= FIRST_DAY && written <= LAST_DAY;

const day = (description: string) =>
  Type.Optional(
    text({
      description,
      isValidity: true,
      pattern: "^\\d{4}-\\d{2}-\\d{2}$",
      expected: STORED_DAY,
      parse: (written) => (isStoredDay(written) ? { value: written } : { problem: `must be ${STORED_DAY}` }),
    }),
  );

/** Keys of a mapping in a list: on other days, the entry does not exist. */
export const validityKeys = {
  valid_from: day("The first UTC day on which this counts. By default every day."),
  valid_to: day("The last UTC day on which this counts. By default it has no end."),
};

export const validityRule: Rule<Validity> = {
  rule: "`valid_to` is not before `valid_from`.",
  check({ valid_from: from, valid_to: to }, report) {
    if (from !== undefined && to !== undefined && to < from)
      report(["valid_to"], `is before valid_from (${from})`);
  },
};

export function isValidOn({ valid_from = FIRST_DAY, valid_to = LAST_DAY }: Validity, day: string): boolean {
  return day >= valid_from && day <= valid_to;
}

/** Whether both count on some day. */
export function overlap(one: Validity, other: Validity): boolean {
  const [from, to] = limits(one);
  const [otherFrom, otherTo] = limits(other);
  return from <= otherTo && otherFrom <= to;
}

/** Whether one counts on every day on which the other does. */
export function includes(one: Validity, other: Validity): boolean {
  const [from, to] = limits(one);
  const [otherFrom, otherTo] = limits(other);
  return from <= otherFrom && to >= otherTo;
}

/** Says in brackets when a part counts, for a message that names two parts; empty for every day. */
export function inWords({ valid_from: from, valid_to: to }: Validity): string {
  const parts = [...(from === undefined ? [] : [`from ${from}`]), ...(to === undefined ? [] : [`to ${to}`])];
  return parts.length === 0 ? "" : ` (${parts.join(" ")})`;
}

function limits({ valid_from = FIRST_DAY, valid_to = LAST_DAY }: Validity): readonly [string, string] {
  return [valid_from, valid_to];
}

/** Returns the first days of parts of the configuration, and the days after their last ones, unordered. */
export function daysOfChange(definition: TSchema | undefined, value: unknown): string[] {
  if (definition === undefined || typeof value !== "object" || value === null) return [];
  const changes = changesOf(validityOf(definition, value));
  if (Array.isArray(value))
    return value.flatMap((item) => daysOfChange(itemDefinition(definition), item)).concat(changes);
  const parts = isRecord(value) ? entriesOf(definition, value) : [];
  return parts.flatMap((each) => daysOfChange(each.definition, each.part)).concat(changes);
}

export function changesOf({ valid_from: from, valid_to: to }: Validity): string[] {
  return [
    ...(from === undefined || from === FIRST_DAY ? [] : [from]),
    ...(to === undefined || to === LAST_DAY ? [] : [addDays(to, 1)]),
  ];
}

/** Returns the value without entries of lists that do not count on the day, and without the days of the others. */
export function validOn<Value>(definition: TSchema | undefined, value: Value, day: string): Value {
  return partValidOn(definition, value, day) as Value;
}

function partValidOn(definition: TSchema | undefined, value: unknown, day: string): unknown {
  if (definition === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const item = itemDefinition(definition);
    return value
      .filter((each) => isValidOn(validityOf(item, each), day))
      .map((each) => partValidOn(item, each, day));
  }
  if (!isRecord(value)) return value;
  const parts = entriesOf(definition, value).filter(({ definition: of }) => !isValidity(of));
  return Object.fromEntries(parts.map((each) => [each.key, partValidOn(each.definition, each.part, day)]));
}

/** A user's own key may be named like a day, so the definition decides. */
export function validityOf(definition: TSchema | undefined, value: unknown): Validity {
  if (definition === undefined || !isRecord(value)) return {};
  const days = entriesOf(definition, value).filter(({ definition: of }) => isValidity(of));
  return Object.fromEntries(days.map(({ key, part }) => [key, part]));
}

function isValidity(definition: TSchema | undefined): boolean {
  return definition !== undefined && notesOf(definition).isValidity === true;
}
