/** The identity that a line names, as SQL on the staged bill. */
import { literal } from "../../clickhouse/sql-text.js";
import { type IdentityMap, PERIOD_SEPARATOR } from "../../config/allocation/identity-map.js";
import {
  IDENTITY_GROUP,
  type IdentitySource,
  isAssigned,
  sourceColumn,
} from "../../config/allocation/identity-source.js";
import { groupPosition } from "../../config/allocation/patterns.js";
import type { AllocationPlan } from "../../config/allocation/plan.js";
import { missingValueTexts, UNALLOCATED } from "../../domain/allocation-rule.js";
import { LONGEST_ID } from "../../domain/text-limits.js";
import { lineValueSql } from "../../stores/facts/line-value.js";

type Sources = Pick<AllocationPlan, "identity" | "maps" | "columns"> &
  Partial<Pick<AllocationPlan, "assigned">>;

/**
 * Returns the first identity that a source finds, or an empty text. Values that cannot be an identity are skipped:
 * placeholders, `null`, control characters, and texts that are too long.
 */
export function identitySql({ identity, maps, columns, assigned }: Sources): string {
  if (identity.length === 0) return "''";
  const sources = identity.map((source) => {
    if (isAssigned(source)) return assigned === undefined ? "''" : assignedSql(assigned.map);
    const text = lineValueSql(sourceColumn(source), columns, source.ignore_case);
    const map = source.map === undefined ? undefined : maps.get(source.map);
    return `trimBoth(toString(${foundIdentity(text, source, map)}))`;
  });
  const isIdentity = `x -> notEmpty(x) AND x != ${literal(UNALLOCATED)} AND lower(x) NOT IN (${missingValueTexts.map(literal).join(", ")}) AND lengthUTF8(x) <= ${LONGEST_ID} AND NOT match(x, '[[:cntrl:]]')`;
  return `arrayFirst(${isIdentity}, [${sources.join(", ")}])`;
}

/** Returns a condition: the line names an identity because it is assigned, and no source before that found one. */
export function isAssignedSql({ identity, ...sources }: Sources): string {
  const position = identity.findIndex(isAssigned);
  if (position < 0 || sources.assigned === undefined) return "false";
  const isFound = `notEmpty(${assignedSql(sources.assigned.map)})`;
  const before = identity.slice(0, position);
  return before.length === 0
    ? isFound
    : `(${isFound} AND empty(${identitySql({ ...sources, identity: before })}))`;
}

function assignedSql(map: IdentityMap): string {
  return dayLookup("toString(resource_id)", map, "value");
}

function foundIdentity(text: string, source: IdentitySource, map: IdentityMap | undefined): string {
  if (source.pattern !== undefined) {
    const position = groupPosition(source.pattern, IDENTITY_GROUP) ?? 1;
    return `extractGroups(${text}, ${literal(source.pattern)})[${position}]`;
  }
  if (source.map === undefined) return text;
  if (map === undefined) throw new Error(`a map that was not read: ${source.map}`);
  if (map.entries.size === 0) return "''";
  const entries = `SELECT value, identity FROM identity_maps WHERE map_hash = ${literal(map.hash)} ORDER BY value`;
  const exact = map.hasDays ? dayLookup(text, map, "value") : lookup(text, entries);
  if (source.ignore_case !== true) return exact;
  const lowered = `SELECT lowerUTF8(value) AS value, identity FROM (${entries}) LIMIT 1 BY value`;
  const lowerText = `lowerUTF8(${text})`;
  const ignoringCase = map.hasDays
    ? dayLookup(lowerText, map, "lowerUTF8(value)")
    : lookup(lowerText, lowered);
  return `arrayFirst(x -> notEmpty(x), [${exact}, ${ignoringCase}])`;
}

/** Looks up the identity of a value, or returns an empty text. */
function lookup(value: string, entries: string): string {
  const column = (name: "value" | "identity") => `(SELECT groupArray(${name}) FROM (${entries}))`;
  return `transform(${value}, ${column("value")}, ${column("identity")}, '')`;
}

/** Looks up the value, then the entry of it that counts on the day of the line, or returns an empty text. */
function dayLookup(text: string, { hash }: IdentityMap, key: "value" | "lowerUTF8(value)"): string {
  const periods = `
    SELECT ${key} AS known, arraySort(groupArray((value, from, to, identity))) AS of_value
    FROM (
      SELECT parts[1] AS value, toDate(parts[2]) AS from, toDate(parts[3]) AS to, identity
      FROM (SELECT splitByChar(${literal(PERIOD_SEPARATOR)}, value) AS parts, identity FROM identity_maps WHERE map_hash = ${literal(hash)})
    )
    GROUP BY known ORDER BY known`;
  const all = (expression: string) => `(SELECT ${expression} FROM (${periods}))`;
  const position = `transform(${text}, ${all("groupArray(known)")}, ${all("arrayEnumerate(groupArray(known))")}, 0)`;
  return `arrayFirst(p -> day >= p.2 AND day <= p.3, ${all("groupArray(of_value)")}[${position}]).4`;
}
