/**
 * Checks whether a record of an upstream can be stored. A check returns the reason as part of a sentence, or undefined.
 */
import { type ColumnKind, columnsOf, type FactRecord } from "../../domain/fact-tables.js";
import { CURRENCY, LONGEST_ID } from "../../domain/text-limits.js";
import type { StagedInput } from "./row-text.js";

const LONGEST_METADATA = 1_000_000;

/** `Decimal(38, 12)`. */
const DECIMAL = /^-?\d{1,26}(\.\d{1,12})?$/;
/** A whole number of at most 30 digits, so that a day's sum stays far below 128 bits. */
const MICRO_UNITS = /^\d{1,31}$/;
const CURRENCY_CODE = new RegExp(CURRENCY);
const TIME = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
/** Control characters break logs, CSV and terminals. A lone surrogate is not valid text. */
const UNFIT = /[\p{Cc}\p{Surrogate}]/u;

type Check = (name: string, value: string) => string | undefined;

/** Checks by kind of column, for columns that an upstream states. */
const checks: Readonly<Partial<Record<ColumnKind, Check>>> = {
  time: refuseTime,
  id: (name, text) => (text === "" ? `its ${name} is empty` : refuseText(name, text)),
  text: refuseText,
  currency: (name, text) =>
    CURRENCY_CODE.test(text) ? undefined : `its ${name} is not three capital letters`,
  decimal: (name, text) =>
    DECIMAL.test(text) ? undefined : `its ${name} is not a decimal of at most 26 digits and 12 places`,
  micro_units: (name, text) =>
    MICRO_UNITS.test(text) ? undefined : `${name} is not a whole number of at most 31 digits`,
  scale: (name, text) =>
    /^([0-3]?\d|4[0-8])?$/.test(text) ? undefined : `${name} is not a whole number from 0 to 48`,
  json: (name, value) =>
    JSON.stringify(value).length > LONGEST_METADATA ? `its ${name} is too long` : undefined,
};

/** Returns the check of a table's records. It is prepared once, because it runs millions of times. */
export function refuser<Table extends StagedInput>(
  table: Table,
): (record: FactRecord<Table>) => string | undefined {
  const columns = columnsOf(table).flatMap(([name, { kind, statedBy }]) => {
    const check = statedBy === undefined ? checks[kind] : undefined;
    return check === undefined ? [] : [{ name, check }];
  });
  return (record) => {
    for (const { name, check } of columns) {
      const refusal = check(name, (record as Readonly<Record<string, string>>)[name] ?? "");
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
}

/** Quotes a text of an upstream for a message: no control characters, and not too long. */
export function quotedValue(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Surrogate}]/gu, "?");
  return JSON.stringify(clean.length > 100 ? `${clean.slice(0, 100)}…` : clean);
}

/** Caches valid times. A window has a few hundred of them, in millions of facts. */
const validTimes = new Set<string>();
const MAX_CACHED_TIMES = 20_000;

function refuseTime(name: string, timestamp: string): string | undefined {
  if (validTimes.has(timestamp)) return undefined;
  if (!TIME.test(timestamp) || Number.isNaN(Date.parse(timestamp))) return `its ${name} is not a UTC time`;
  if (validTimes.size >= MAX_CACHED_TIMES) validTimes.clear();
  validTimes.add(timestamp);
  return undefined;
}

function refuseText(name: string, text: string): string | undefined {
  if (text.length > LONGEST_ID) return `its ${name} is longer than ${LONGEST_ID} characters`;
  return UNFIT.test(text) ? `its ${name} has control characters` : undefined;
}
