/** What an identity source lacks to say who a line is for: so that a person can add the tag, or the value to the map. */
import { RE2JS } from "re2js";
import type { IdentityMaps } from "../../config/allocation/check-allocation.js";
import { IDENTITY_GROUP, type IdentitySource } from "../../config/allocation/identity-source.js";
import { missingValueTexts, UNALLOCATED } from "../../config/allocation-rule.js";
import { LONGEST_ID } from "../../store/text-limits.js";
import type { FoundValue } from "./worklist-sql.js";

/** `now_known`: the source gives an identity by now, and the days were calculated before. */
export const gapReasons = [
  "no_tag",
  "no_value",
  "not_in_map",
  "no_match",
  "no_identity",
  "now_known",
] as const;

export interface AllocationGap
  extends Pick<IdentitySource, "tag" | "column" | "map" | "pattern" | "ignore_case"> {
  readonly reason: (typeof gapReasons)[number];
  /** Of the tag or column. */
  readonly value: string;
  /** A tag of the lines whose key differs from `tag` in nothing but its case. */
  readonly similar_tag?: string;
  /** Only where it is known by now. */
  readonly identity?: string;
}

export function gapOf(
  source: IdentitySource,
  [exists, value, similar]: FoundValue,
  maps: IdentityMaps,
): AllocationGap {
  if (value === "") {
    const isMissing = source.tag !== undefined && !exists;
    const meant = source.ignore_case !== true && similar !== "" && { similar_tag: similar };
    return { ...source, reason: isMissing ? "no_tag" : "no_value", value, ...meant };
  }
  const given = identityBy(source, value, maps);
  if (given !== undefined) {
    const identity = given.replace(/^ +| +$/g, "");
    return isFit(identity)
      ? { ...source, reason: "now_known", value, identity }
      : { ...source, reason: "no_identity", value };
  }
  return { ...source, reason: source.map === undefined ? "no_match" : "not_in_map", value };
}

function identityBy(
  { map, pattern, ignore_case: ignoresCase }: IdentitySource,
  value: string,
  maps: IdentityMaps,
): string | undefined {
  if (map !== undefined) {
    const entries = maps.get(map)?.entries;
    const exact = entries?.get(value);
    if (exact !== undefined || ignoresCase !== true) return exact;
    const wanted = value.toLowerCase();
    return [...(entries ?? [])].find(([each]) => each.toLowerCase() === wanted)?.[1];
  }
  if (pattern === undefined) return value;
  // As in the store, a dot also fits a line break.
  const matcher = RE2JS.compile(pattern, RE2JS.DOTALL).matcher(value);
  return matcher.find() ? (matcher.group(IDENTITY_GROUP) ?? "") : undefined;
}

/** As lines are assigned: see `identitySql`. */
function isFit(identity: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  const hasControls = /[\u0000-\u001f\u007f]/.test(identity);
  const isName =
    identity !== "" && identity !== UNALLOCATED && !missingValueTexts.includes(identity.toLowerCase());
  return isName && [...identity].length <= LONGEST_ID && !hasControls;
}
