/** Which time zones a request may name: those of the IANA list, spelled exactly as there. */
import { timeZoneNames } from "./zone-names.js";

/**
 * Built from a list, because JavaScript's own check takes `america/denver` and `+05:00` too, which the stores then refuse,
 * and because looking a name up as a file, as others do, takes `/etc/passwd`.
 */
const known: ReadonlySet<string> = new Set(timeZoneNames.filter(isAcceptedByRuntime));

export function isTimeZone(name: string): boolean {
  return known.has(name);
}

/** All accepted names, ascending. */
export function timeZones(): string[] {
  return [...known].sort();
}

/** A name that this version of Node.js is too old for cannot be used. */
function isAcceptedByRuntime(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
