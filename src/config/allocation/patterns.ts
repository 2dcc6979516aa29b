/** Checks regular expressions of the configuration. They run in the store, so their syntax is RE2. */
import { RE2JS, RE2JSSyntaxException } from "re2js";

/** Returns why the store would refuse the pattern, or undefined if it is valid. */
export function refusePattern(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return `is not a regular expression of RE2 (no lookaround, no backreferences): ${error.message}`;
  }
}

/** Position of a named group among the groups of a valid pattern, from 1; undefined if there is no such group. */
export function groupPosition(pattern: string, name: string): number | undefined {
  return new Map(Object.entries(RE2JS.compile(pattern).namedGroups())).get(name);
}
