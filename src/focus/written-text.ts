/** Values of a typed file, such as Parquet, as the text that they are in CSV: exact numbers, the shortest digits of a double, instants in UTC, JSON. */

/** The type without what wraps it. */
export function plain(type: string): string {
  const inside = /^(?:Nullable|LowCardinality)\((.*)\)$/s.exec(type)?.[1];
  return inside === undefined ? type : plain(inside);
}

/** @param column SQL of the value. @param written the type in which the engine reads it. Null stays null. */
export function writtenText(column: string, written: string): string {
  const type = plain(written);
  if (/^DateTime/.test(type)) {
    const text = `formatDateTime(${column}, '%Y-%m-%dT%H:%i:%S.%f', 'UTC')`;
    return `concat(replaceRegexpOne(${text}, '\\\\.?0+$', ''), 'Z')`;
  }
  // The engine reads a null map or list as an empty one.
  if (/^(Map|Array)\b/.test(type)) return `if(empty(${column}), NULL, toJSONString(${column}))`;
  if (/^(Tuple|JSON|Object|Variant|Dynamic)\b/.test(type)) return `toJSONString(${column})`;
  return `toString(${column})`;
}
