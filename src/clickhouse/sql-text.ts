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

/**
 * Returns a condition: the text equals one of the values, or matches one of them that is a glob. In a glob, `*` matches
 * any text; all other characters match themselves.
 */
export function isOneOf(text: string, values: readonly string[]): string {
  const exact = values.filter((value) => !value.includes("*"));
  const globs = values.filter((value) => value.includes("*"));
  const parts = [
    ...(exact.length === 0 ? [] : [`${text} IN (${exact.map(literal).join(", ")})`]),
    ...globs.map((glob) => `${text} LIKE ${literal(likePattern(glob))}`),
  ];
  return `(${parts.join(" OR ")})`;
}

function likePattern(glob: string): string {
  return glob.replace(/[\\%_]/g, "\\$&").replaceAll("*", "%");
}
