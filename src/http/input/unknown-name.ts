/** The error message for an unknown name. It suggests the nearest known one. Long input is cut. */
import { nearest } from "../../common/nearest.js";
import { NOT } from "../../query/value-filters.js";

export function unknownName(
  kind: "parameter" | "field" | "column",
  name: string,
  known: readonly string[],
): string {
  const shown = name.length > 64 ? `${name.slice(0, 61)}…` : name;
  const guess = nearest(name, known);
  const allowed = known.length === 0 ? `No ${kind}s are allowed here.` : `Allowed: ${inWords(known)}.`;
  return `Unknown ${kind} \`${shown}\`${guess === undefined ? "" : `, did you mean \`${guess}\``}. ${allowed}`;
}

/** Leaves out the names with `not:`, since each filter has one, and mentions the prefix instead. */
function inWords(names: readonly string[]): string {
  const plain = names.filter((name) => !name.startsWith(NOT)).join(", ");
  return names.some((name) => name.startsWith(NOT))
    ? `${plain}; filters also with \`${NOT}\` before them`
    : plain;
}
