/** Quotes values and names for ClickHouse SQL, where parameters are not possible. */

export function literal(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

export function identifier(name: string): string {
  return `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}

/** Returns the day for use in a partition literal. Throws if it is not a day, because DDL takes no parameters. */
export function isoDay(day: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`not a day: ${day}`);
  return day;
}
