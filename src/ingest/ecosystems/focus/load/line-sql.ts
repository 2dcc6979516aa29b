/** SQL that reads the columns of a FOCUS line from their texts. An empty text is null. */
import { literal } from "../../../../clickhouse/sql-text.js";
import { isoInstant, nullTexts } from "../../../../focus/index.js";

const longestNull = Math.max(...nullTexts.map(({ length }) => length));

/** Replaces the spellings of null by an empty text. */
export function given(text: string): string {
  return `if(length(${text}) <= ${longestNull} AND lower(${text}) IN (${nullTexts.map(literal).join(", ")}), '', ${text})`;
}

/** 26 digits before the point: as many as `Decimal(38, 12)` has. */
const bound = "toDecimal256('100000000000000000000000000', 38)";

/** Exact to 38 places. Null if the text is not a number or too large to be stored. */
function exact(text: string): string {
  const number = `toDecimal256OrNull(${text}, 38)`;
  return `if(abs(${number}) < ${bound}, ${number}, NULL)`;
}

/**
 * Condition: the text is empty, or a number that is stored as written. Such a number need not be rounded, which takes
 * several times as long.
 */
export function isPlain(text: string): string {
  return `match(${text}, '^([+-]?[0-9]{1,26}([.][0-9]{1,12})?)?$')`;
}

/**
 * Rounds half away from zero to the stored places. Null if the text is not a number or too large. `plain`: `isPlain` of
 * the text.
 */
export function stored(text: string, plain: string): string {
  return `if(${plain}, toDecimal128OrNull(${text}, 12), CAST(round(${exact(text)}, 12) AS Nullable(Decimal(38, 12))))`;
}

/** Condition: digits were lost, including digits beyond the 38 places. */
export function isRounded(text: string, plain: string): string {
  const number = exact(text);
  return `NOT ${plain} AND ifNull(round(${number}, 12) != ${number} OR (${number} = 0 AND match(${text}, '^[^eE]*[1-9]')), false)`;
}

/**
 * Null if the text is not an instant or is out of range. A bill has few different instants, and each is parsed once in
 * a block.
 */
export function instantColumn(text: string): string {
  return instantInRange(isoInstant(`toLowCardinality(${text})`));
}

/** Null outside of the years that a column of seconds holds. */
export function instantInRange(moment: string): string {
  const year = (first: number) => `toDateTime64('${first}-01-01 00:00:00', 3, 'UTC')`;
  return `if(${moment} BETWEEN ${year(1990)} AND ${year(2100)}, toDateTime(${moment}, 'UTC'), NULL)`;
}

/** Pairs of key and value of a map, whose values may be null. */
export function mapPairs(map: string): string {
  return `arrayMap((k, v) -> (k, ifNull(v, '')), mapKeys(${map}), mapValues(${map}))`;
}

/** Pairs of key and value as in the text, which is an object, or a list of objects with a key and a value each. */
export function tagPairs(text: string): string {
  const value = "if(x.2 = 'null', '', if(startsWith(x.2, '\"'), JSONExtractString(x.2), x.2))";
  const ofObject = `arrayMap(x -> (x.1, ${value}), JSONExtractKeysAndValuesRaw(${text}))`;
  const member = (name: string) =>
    `(arrayFirst(y -> lower(y.1) = '${name}', JSONExtractKeysAndValuesRaw(o)) AS ${name}_pair).2`;
  const raw = (name: string) => `(${member(name)} AS ${name}_raw)`;
  const plain = (name: string) =>
    `if(${raw(name)} = 'null', '', if(startsWith(${name}_raw, '"'), JSONExtractString(${name}_raw), ${name}_raw))`;
  const ofList = `arrayMap(o -> (${plain("key")}, ${plain("value")}), JSONExtractArrayRaw(${text}))`;
  return `if(startsWith(${text}, '['), ${ofList}, ${ofObject})`;
}

/** Condition: the text can be read as tags. Null can. */
export function areTags(text: string): string {
  return `${text} = '' OR (isValidJSON(${text}) AND (JSONType(${text}) = 'Object' OR (JSONType(${text}) = 'Array' AND arrayAll(o -> JSONType(o) = 'Object', JSONExtractArrayRaw(${text})))))`;
}

/** A map of pairs with trimmed keys. Of equal keys, it keeps the first value that is not empty. */
export function tagMap(trimmed: string): string {
  const keys = `arraySort(arrayDistinct(arrayFilter(k -> k != '', ${trimmed}.1)))`;
  const valueOfKey = `arrayFirst(p -> p.1 = k AND p.2 != '', ${trimmed}).2`;
  return `CAST(if(empty(${trimmed}), ([], []), (${keys} AS tag_keys, arrayMap(k -> ${valueOfKey}, tag_keys))) AS Map(String, String))`;
}
