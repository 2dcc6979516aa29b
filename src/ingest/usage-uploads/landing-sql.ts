/**
 * The statement that reads a CSV file of usage into its partition. A value that cannot be taken marks its row with the
 * name of its column.
 */
import { literal } from "../../clickhouse/sql-text.js";
import { FIRST_DAY, LAST_DAY } from "../../domain/stored-days.js";
import { LONGEST_ID } from "../../domain/text-limits.js";
import { LARGEST_QUANTITY, type UploadColumn, type UploadHeader } from "./columns.js";

export interface LandingUpload {
  readonly uploadId: string;
  readonly header: UploadHeader;
  readonly metrics: readonly string[];
  /** First value of the row that is sent after the last one. */
  readonly endMark: string;
}

/** Value of `refused` in that last row. */
export const END = "end";

const HOUR = "^\\d{4}-\\d{2}-\\d{2}T([01]\\d|2[0-3])(:00(:00)?)?Z$";
const CONTROL = "\\p{Cc}";
const NUMBER = "^(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d{1,3})?$";

/** Decimal places that a quantity is read with. */
const PLACES = 38;
const tenTo = (exponent: number) => `toInt256('1${"0".repeat(exponent)}')`;
/** Divisors of a quantity for a scale of 0, 3, 6, … */
const units = Array.from({ length: 11 }, (_, index) => tenTo(PLACES - 6 - 3 * index));

export function uploadStatement({ uploadId, header, metrics, endMark }: LandingUpload): string {
  const structure = Array.from({ length: header.size }, (_, at) => `c${at + 1} String`).join(", ");
  const text = (column: UploadColumn) => `c${(header.get(column) ?? 0) + 1}`;
  const time = header.has("hour") ? "hour" : "date";
  const day = `toDate32OrNull(substring(${text(time)}, 1, 10))`;
  // Compare with the text, because the engine reads 2026-02-30 as another day.
  const isDay = `ifNull(toString(${day}) = substring(${text(time)}, 1, 10) AND ${day} BETWEEN toDate32('${FIRST_DAY}') AND toDate32('${LAST_DAY}'), false)`;
  const isTime =
    time === "hour"
      ? `match(${text(time)}, ${literal(HOUR)}) AND is_day`
      : `length(${text(time)}) = 10 AND is_day`;
  const seconds = time === "hour" ? `toUInt32OrZero(substring(${text(time)}, 12, 2)) * 3600` : "0";
  const isId = (column: UploadColumn) =>
    `isValidUTF8(${text(column)}) AND lengthUTF8(${text(column)}) BETWEEN 1 AND ${LONGEST_ID} AND trimBoth(${text(column)}) = ${text(column)} AND NOT match(${text(column)}, ${literal(CONTROL)})`;
  const checks: readonly (readonly [UploadColumn, string])[] = [
    [time, isTime],
    ["metric", `${text("metric")} IN (${metrics.map(literal).join(", ")})`],
    ["resource_id", isId("resource_id")],
    ["identity_id", isId("identity_id")],
    [
      "quantity",
      `match(${text("quantity")}, ${literal(NUMBER)}) AND ifNull(amount < toDecimal256('${LARGEST_QUANTITY}', 38), false)`,
    ],
  ];
  const refused = checks.map(([column, holds]) => `NOT (${holds}), ${literal(column)}`).join(", ");
  return `INSERT INTO usage_uploads (upload_id, row, day, timestamp, metric, resource_id, identity_id, micro_units, scale, refused)
SELECT ${literal(uploadId)}, row, toDate(known_day), toDateTime(known_day, 'UTC') + if(refused = '', ${seconds}, 0),
  if(refused = '', ${text("metric")}, ''), if(refused = '', ${text("resource_id")}, ''), if(refused = '', ${text("identity_id")}, ''),
  if(refused = '', toInt128(intDiv(raw + intDiv(unit, 2), unit)), 0), scale, refused
FROM (
  SELECT *, if(is_day, assumeNotNull(${day}), toDate32('${FIRST_DAY}')) AS known_day,
    multiIf(c1 = ${literal(endMark)}, '${END}', ${refused}, '') AS refused,
    -- Twelve digits, as of samples, unless all of the quantity is whole millionths.
    reinterpret(if(refused = '', assumeNotNull(amount), 0), 'Int256') AS raw,
    if(raw % ${tenTo(PLACES - 6)} = 0, 0, toUInt8(least(${PLACES - 8}, greatest(0, 3 * ceil((5 - floor(log10(toFloat64(raw)) - ${PLACES})) / 3))))) AS scale,
    [${units.join(", ")}][1 + intDiv(scale, 3)] AS unit
  FROM (
    SELECT *, ${isDay} AS is_day, toDecimal256OrNull(${text("quantity")}, ${PLACES}) AS amount
    FROM (SELECT rowNumberInAllBlocks() AS row, * FROM input(${literal(structure)}))
    WHERE row > 0
  )
)
FORMAT CSV`;
}
