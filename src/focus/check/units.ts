/** Spelling of units in FOCUS. Source: FOCUS specification 1.4, attribute Unit Format, CC-BY-4.0. */
const data = "[KMGTPE]?[bB]|[KMGTPE]i[bB]";
const time = "Year|Month|Day|Hour|Minute|Second|Millisecond|Microsecond";
const count = "Count|Unit|Request|Token|Connection|Certificate|Domain|Core";
/** Any other counted unit, in the singular or the plural. */
const other = "[A-Z][A-Za-z]+";
const unit = `(?:${data}|(?:${time}|${count})s?|${other})`;
const quantity = `(?:\\d+ )?`;

/** A unit, several units joined by hyphens, or a ratio of these. Each side may start with a number. */
export const UNIT_PATTERN = `^${quantity}${unit}(?:-${unit})*(?:/${quantity}${unit}(?:-${unit})*)?$`;
