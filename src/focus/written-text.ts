/**
 * Converts values of typed files such as Parquet to the text they would have in CSV: exact numbers, the shortest digits
 * of a double, instants in UTC, JSON.
 */

/** The type without Nullable and LowCardinality. */
export function plain(type: string): string {
  const inside = /^(?:Nullable|LowCardinality)\((.*)\)$/s.exec(type)?.[1];
  return inside === undefined ? type : plain(inside);
}

/**
 * Returns SQL that converts a value to text. Null stays null.
 *
 * @param column SQL of the value
 * @param written the engine's type of the value
 */
export function writtenText(column: string, written: string): string {
  const type = plain(written);
  if (/^DateTime/.test(type)) {
    const text = `formatDateTime(${column}, '%Y-%m-%dT%H:%i:%S.%f', 'UTC')`;
    return `concat(replaceRegexpOne(${text}, '\\\\.?0+$', ''), 'Z')`;
  }
  // The engine reads null maps and lists as empty ones.
  if (/^(Map|Array)\b/.test(type)) return `if(empty(${column}), NULL, toJSONString(${column}))`;
  if (/^(Tuple|JSON|Object|Variant|Dynamic)\b/.test(type)) return `toJSONString(${column})`;
  return `toString(${column})`;
}
