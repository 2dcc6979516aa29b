/** The identity that a line names, as SQL on the staged bill. */
import { literal } from "../../clickhouse/sql-text.js";
import { PERIOD_SEPARATOR } from "../../config/allocation/assigned.js";
import type { IdentityMap } from "../../config/allocation/identity-map.js";
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

/** Looks up the period of the line's resource that has its day. */
function assignedSql({ hash }: IdentityMap): string {
  const periods = `
    SELECT parts[1] AS resource, groupArray((toDate(parts[2]), toDate(parts[3]), identity)) AS of_resource
    FROM (SELECT splitByChar(${literal(PERIOD_SEPARATOR)}, value) AS parts, identity FROM identity_maps WHERE map_hash = ${literal(hash)})
    GROUP BY resource ORDER BY resource`;
  const all = (expression: string) => `(SELECT ${expression} FROM (${periods}))`;
  const position = `transform(toString(resource_id), ${all("groupArray(resource)")}, ${all("arrayEnumerate(groupArray(resource))")}, 0)`;
  return `arrayFirst(p -> day >= p.1 AND day <= p.2, ${all("groupArray(of_resource)")}[${position}]).3`;
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
  const exact = lookup(text, entries);
  if (source.ignore_case !== true) return exact;
  const lowered = `SELECT lowerUTF8(value) AS value, identity FROM (${entries}) LIMIT 1 BY value`;
  return `arrayFirst(x -> notEmpty(x), [${exact}, ${lookup(`lowerUTF8(${text})`, lowered)}])`;
}

/** Looks up the identity of a value, or returns an empty text. */
function lookup(value: string, entries: string): string {
  const column = (name: "value" | "identity") => `(SELECT groupArray(${name}) FROM (${entries}))`;
  return `transform(${value}, ${column("value")}, ${column("identity")}, '')`;
}
