/** Time zones that a request may use: the names of the IANA list, spelled exactly as there. */
import { timeZoneNames } from "./zone-names.js";

/**
 * A list, because other checks are too permissive. JavaScript's own accepts `america/denver` and `+05:00`, which the
 * stores then reject. Looking a name up as a file, as other software does, accepts `/etc/passwd`.
 */
const listed: ReadonlySet<string> = new Set(timeZoneNames);

/** A cache, because every request has a zone. Checking all names takes 0.1 s, so each is checked on first use. */
const acceptedByName = new Map<string, boolean>();

/** False also for names that this version of Node.js does not know yet. */
export function isTimeZone(name: string): boolean {
  if (!listed.has(name)) return false;
  const isAccepted = acceptedByName.get(name) ?? isAcceptedByRuntime(name);
  acceptedByName.set(name, isAccepted);
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
