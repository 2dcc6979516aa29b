/** Which time zones a request may name: those of the IANA list, spelled exactly as there. */
import { timeZoneNames } from "./zone-names.js";

/**
 * Built from a list, because JavaScript's own check takes `america/denver` and `+05:00` too, which the stores then refuse,
 * and because looking a name up as a file, as others do, takes `/etc/passwd`.
 */
const listed: ReadonlySet<string> = new Set(timeZoneNames);

/** Of those that were asked for: every request names a zone, and to try them all takes 0.1 s. */
const tried = new Map<string, boolean>();

/** A name that this version of Node.js is too old for cannot be used. */
export function isTimeZone(name: string): boolean {
  if (!listed.has(name)) return false;
  const isAccepted = tried.get(name) ?? isAcceptedByRuntime(name);
  tried.set(name, isAccepted);
  return isAccepted;
}

/** All accepted names, ascending. */
export function timeZones(): string[] {
  return timeZoneNames.filter(isTimeZone).sort();
}

function isAcceptedByRuntime(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
