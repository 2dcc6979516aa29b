/**
 * Records of an upstream as rows of the staging tables: which columns are written, whether a record can be stored, and
 * its text.
 */
import {
  type Column,
  type ColumnKind,
  columnsOf,
  type FactRecord,
  type FactTable,
} from "../../domain/fact-tables.js";
import { CURRENCY, LONGEST_ID } from "../../domain/text-limits.js";

const LONGEST_METADATA = 1_000_000;

/** `Decimal(38, 12)`. */
const DECIMAL = /^-?\d{1,26}(\.\d{1,12})?$/;
/** A whole number of at most 30 digits, so that a day's sum stays far below 128 bits. */
const MICRO_UNITS = /^\d{1,31}$/;
const CURRENCY_CODE = new RegExp(CURRENCY);
const TIME = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
/** Control characters break logs, CSV and terminals. A lone surrogate is not valid text. */
const UNFIT = /[\p{Cc}\p{Surrogate}]/u;

/** Returns the reason as part of a sentence, or undefined if the value can be stored. */
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

/** Facts that are gathered. The others are calculated. */
export type StagedInput = Exclude<FactTable, "chargebacks" | "topic_attributions">;

/** Names of the columns that are written. The engine computes the rest. */
export function stagedColumns(table: StagedInput): [string, ...string[]] {
  return written(table).map(([name]) => name) as [string, ...string[]];
}

/** Columns of lines that the engine selects. Rule and identity of a line are derived from the others. */
export const selectedColumns: readonly string[] = columnsOf("billing").flatMap(([name, { statedBy }]) =>
  statedBy === "tenant" || statedBy === "table" || name === "rule" || name === "named_identity" ? [] : [name],
);

/** Columns that are written to a table, in order. */
export function written(table: StagedInput): [name: string, column: Column][] {
  return columnsOf(table).filter(([, { statedBy }]) => statedBy === undefined || statedBy === "tenant");
}

/** Columns that are the same for all records of the tenant. */
export type TenantColumns = Readonly<Record<"ecosystem" | "tenant_id", string>>;

type Field = (record: object) => string;

/**
 * Returns a function that writes records as lines of ClickHouse's TabSeparated format, which takes a third of the bytes
 * of JSONEachRow and is the fastest to parse. It is prepared once, because it runs millions of times.
 */
export function rowText<Table extends StagedInput>(
  table: Table,
  tenant?: TenantColumns,
): (record: FactRecord<Table>) => string {
  const fields = written(table).map(([name, column]) => fieldOf(name, column, tenant));
  // Joining a list is faster: text that grows field by field costs half as much again once it is sent.
  return (record) => `${fields.map((field) => field(record)).join("\t")}\n`;
}

function fieldOf(name: string, { kind, statedBy }: Column, tenant: TenantColumns | undefined): Field {
  if (statedBy === "tenant") {
    const text = escaped(tenant?.[name as keyof TenantColumns] ?? "");
    return () => text;
  }
  const textOf = textOfKind[kind] ?? escaped;
  return (record) => textOf((record as Readonly<Record<string, never>>)[name] as never);
}

/** Formats of kinds whose text differs from their value. */
const textOfKind: Readonly<Partial<Record<ColumnKind, (value: never) => string>>> = {
  time: (timestamp: string) => `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)}`,
  json: (value: unknown) => escaped(JSON.stringify(value)),
  scale: (value: string | undefined) => value ?? "0",
};

const SPECIAL = /[\\\t\n\r\0]/;
const EACH_SPECIAL = /[\\\t\n\r\0]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\0": "\\0",
};

function escaped(field: string): string {
  // Hardly any field needs escaping, and the test costs a third of a replacement without effect.
  if (!SPECIAL.test(field)) return field;
  return field.replace(EACH_SPECIAL, (character) => ESCAPES[character] ?? character);
}
