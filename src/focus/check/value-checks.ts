/** Checks of single values: null, type, format, allowed values. */
import { identifier, literal } from "../../clickhouse/sql-text.js";
import { nullTexts } from "../null-texts.js";
import { isAtLeast } from "../version.js";
import { type Check, forColumns } from "./check-types.js";
import { decimalSql, instantSql, isNull, listSql, matches, object, raw } from "./sql.js";
import { UNIT_PATTERN } from "./units.js";

/** ISO 4217 codes of the runtime. They include currencies that are no longer used, because old bills may have them. */
const currencyCodes: readonly string[] = Intl.supportedValuesOf("currency");

const NUMBER = "^-?\\d+(\\.\\d+)?([eE]-?\\d+)?$";
const DATE = "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$";

/** Numbers within these limits are added exactly: decimal places, and an upper bound. */
const PLACES = 38;
const UPPER_BOUND = "1e20";

const isNumber = (name: string) => matches(identifier(name), NUMBER);

export const valueChecks: readonly Check[] = [
  {
    id: "value-null",
    level: "error",
    kind: "rows",
    what: "The value is null, and this column must not be null.",
    conditions: forColumns(({ nullable }) => !nullable, isNull),
  },
  {
    id: "null-text",
    level: "error",
    kind: "rows",
    what: "The value is empty, or a text such as NULL, \\N or N/A, instead of null.",
    conditions: forColumns(
      () => true,
      (name) => `${raw(name)} = '' OR lower(${raw(name)}) IN ${listSql(nullTexts)}`,
    ),
  },
  {
    id: "text-blanks",
    level: "warning",
    kind: "rows",
    what: "The text begins or ends with a blank.",
    conditions: forColumns(
      ({ type }) => type === "String",
      (name) => matches(identifier(name), "^\\s|\\s$"),
    ),
  },
  {
    id: "date-format",
    level: "error",
    kind: "rows",
    what: "The value is not a date and time in UTC as 2026-05-01T00:00:00Z.",
    conditions: forColumns(
      ({ type }) => type === "Date/Time",
      (name) =>
        `NOT ${matches(identifier(name), DATE)} OR (${isNull(`${name}`)} = 0 AND isNull(${instantSql(name)}))`,
    ),
  },
  {
    id: "date-fraction",
    level: "warning",
    kind: "rows",
    what: "The date and time has a fraction of a second, which the format of the standard does not have.",
    conditions: forColumns(
      ({ type }) => type === "Date/Time",
      (name) => `${matches(identifier(name), DATE)} AND position(${identifier(name)}, '.') > 0`,
    ),
  },
  {
    id: "number-format",
    level: "error",
    kind: "rows",
    what: "The value is not a plain number such as -1.5 or 1.5E-7. Plus signs, thousands separators, blanks and symbols are not allowed.",
    conditions: forColumns(
      ({ type }) => type === "Decimal",
      (name) => `NOT ${isNumber(name)}`,
    ),
  },
  {
    id: "number-digits",
    level: "warning",
    kind: "rows",
    what: "The number has more than 20 digits before the decimal point or 38 behind it. It is left out of sums, or cut to 38 digits.",
    conditions: forColumns(
      ({ type }) => type === "Decimal",
      (name) => {
        const text = `assumeNotNull(${identifier(name)})`;
        const places = `length(extract(${text}, '\\\\.(\\\\d+)')) - toInt64OrZero(extract(${text}, '[eE](-?\\\\d+)'))`;
        const large = `ifNull(abs(${decimalSql(name)}) >= toDecimal256(${literal(UPPER_BOUND)}, 0), true)`;
        return `${isNumber(name)} AND (${places} > ${PLACES} OR ${large})`;
      },
    ),
  },
  {
    id: "number-negative",
    level: "error",
    kind: "rows",
    what: "The unit price is negative. The sign of a refund is in its quantity and its costs.",
    conditions: forColumns(
      ({ nonNegative }) => nonNegative === true,
      (name) => `${decimalSql(name)} < 0`,
    ),
  },
  {
    id: "currency-code",
    level: "error",
    kind: "rows",
    what: "The value is not an ISO 4217 currency code (three capital letters).",
    conditions: forColumns(
      ({ format }) => format === "Currency",
      (name) => `${identifier(name)} NOT IN ${listSql(currencyCodes)}`,
    ),
  },
  {
    id: "value-list",
    level: "error",
    kind: "rows",
    what: "The value is not one of those that the standard allows in this column.",
    conditions: (file) =>
      file.columns.flatMap(({ column: { name, allowed } }) =>
        allowed === undefined
          ? []
          : [{ column: name, violated: `${identifier(name)} NOT IN ${listSql(allowed)}` }],
      ),
  },
  {
    id: "unit-format",
    level: "warning",
    kind: "rows",
    what: "The unit is not spelled as the standard recommends, as in GB, GB-Hours, GB/Hour, 1000 Requests.",
    conditions: forColumns(
      ({ format }, { version }) => format === "Unit" && isAtLeast(version, "1.0"),
      (name) => `NOT ${matches(identifier(name), UNIT_PATTERN)}`,
    ),
  },
  {
    id: "json-object",
    level: "error",
    kind: "rows",
    what: "The value is not a JSON object.",
    conditions: forColumns(
      ({ type }) => type === "JSON",
      (name) => `NOT isValidJSON(${identifier(name)}) OR JSONType(${identifier(name)}) != 'Object'`,
    ),
  },
  {
    id: "json-keys",
    level: "error",
    kind: "rows",
    what: "The JSON object has a key more than once.",
    conditions: forColumns(
      ({ type }) => type === "JSON",
      (name) => {
        const keys = `JSONExtractKeys(${object(name)})`;
        return `length(${keys}) != length(arrayDistinct(${keys}))`;
      },
    ),
  },
  {
    id: "key-value",
    level: "error",
    kind: "rows",
    what: "A value of the key-value object is an object or an array. Values are text, numbers, true, false or null.",
    conditions: forColumns(
      ({ format }) => format === "Key-Value",
      (name) =>
        `arrayExists(pair -> JSONType(pair.2) IN ('Object', 'Array'), JSONExtractKeysAndValuesRaw(${object(name)}))`,
    ),
  },
];
