/** How FOCUS spells units. Source: FOCUS specification 1.4, attribute Unit Format, CC-BY-4.0. */
const data = "[KMGTPE]?[bB]|[KMGTPE]i[bB]";
const time = "Year|Month|Day|Hour|Minute|Second|Millisecond|Microsecond";
const count = "Count|Unit|Request|Token|Connection|Certificate|Domain|Core";
/** A count may be of something else, in the plural or the singular. */
const other = "[A-Z][A-Za-z]+";
const unit = `(?:${data}|(?:${time}|${count})s?|${other})`;
const quantity = `(?:\\d+ )?`;

/** One unit, several multiplied by hyphens, and a ratio of both; a number may stand before each side. */
export const UNIT_PATTERN = `^${quantity}${unit}(?:-${unit})*(?:/${quantity}${unit}(?:-${unit})*)?$`;
