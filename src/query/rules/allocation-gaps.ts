/**
 * Explains why an identity source finds no identity for a line, so that a user can add the tag or the value to the map.
 */
import { RE2JS } from "re2js";
import type { IdentityMaps } from "../../config/allocation/check-allocation.js";
import { IDENTITY_GROUP, type IdentitySource } from "../../config/allocation/identity-source.js";
import { missingValueTexts, UNALLOCATED } from "../../domain/allocation-rule.js";
import { LONGEST_ID } from "../../domain/text-limits.js";
import type { FoundValue } from "./worklist-sql.js";

/** `now_known`: the source finds an identity now, but the days were calculated before. */
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
  /** Value of the tag or column. */
  readonly value: string;
  /** A tag of the lines whose key differs from `tag` only in case. */
  readonly similar_tag?: string;
  /** Set if `reason` is `now_known`. */
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
  const foundIdentity = identityBy(source, value, maps);
  if (foundIdentity !== undefined) {
    const identity = foundIdentity.replace(/^ +| +$/g, "");
    return isValidIdentity(identity)
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
  // A dot also matches a line break, as in the store.
  const matcher = RE2JS.compile(pattern, RE2JS.DOTALL).matcher(value);
  return matcher.find() ? (matcher.group(IDENTITY_GROUP) ?? "") : undefined;
}

/** Applies the same conditions as `identitySql`, which assigns lines. */
function isValidIdentity(identity: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  const hasControls = /[\u0000-\u001f\u007f]/.test(identity);
  const isName =
    identity !== "" && identity !== UNALLOCATED && !missingValueTexts.includes(identity.toLowerCase());
  return isName && [...identity].length <= LONGEST_ID && !hasControls;
}
