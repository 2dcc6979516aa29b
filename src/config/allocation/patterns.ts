/** Regular expressions of the configuration: they run in the store, whose syntax is RE2. */
import { RE2JS, RE2JSSyntaxException } from "re2js";

/** Why the store would not take a pattern, or undefined. */
export function refusePattern(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return `is not a regular expression of RE2 (no lookaround, no backreferences): ${error.message}`;
  }
}

/** Position of a named group among the groups of a valid pattern, from 1; undefined when there is none of this name. */
export function groupPosition(pattern: string, name: string): number | undefined {
  return new Map(Object.entries(RE2JS.compile(pattern).namedGroups())).get(name);
}
