/** The identity that a line names, as SQL on the staged bill. */
import { literal } from "../../clickhouse/sql-text.js";
import type { IdentityMap } from "../../config/allocation/identity-map.js";
import {
  IDENTITY_GROUP,
  type IdentitySource,
  sourceColumn,
} from "../../config/allocation/identity-source.js";
import { groupPosition } from "../../config/allocation/patterns.js";
import type { AllocationPlan } from "../../config/allocation/plan.js";
import { missingValueTexts, UNALLOCATED } from "../../domain/allocation-rule.js";
import { LONGEST_ID } from "../../domain/text-limits.js";
import { lineValueSql } from "../../stores/facts/line-value.js";

/**
 * Returns the first identity that a source finds, or an empty text. Values that cannot be an identity are skipped:
 * placeholders, `null`, control characters, and texts that are too long.
 */
export function identitySql({
  identity,
  maps,
  columns,
}: Pick<AllocationPlan, "identity" | "maps" | "columns">): string {
  if (identity.length === 0) return "''";
  const sources = identity.map((source) => {
    const text = lineValueSql(sourceColumn(source), columns, source.ignore_case);
    const map = source.map === undefined ? undefined : maps.get(source.map);
    return `trimBoth(toString(${foundIdentity(text, source, map)}))`;
  });
  const isIdentity = `x -> notEmpty(x) AND x != ${literal(UNALLOCATED)} AND lower(x) NOT IN (${missingValueTexts.map(literal).join(", ")}) AND lengthUTF8(x) <= ${LONGEST_ID} AND NOT match(x, '[[:cntrl:]]')`;
  return `arrayFirst(${isIdentity}, [${sources.join(", ")}])`;
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
