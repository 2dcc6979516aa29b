/** The sentence about a name that nothing here has, with the one that was probably meant. Long input is not repeated whole. */
import { nearest } from "../../config/nearest.js";
import { NOT } from "../../query/value-filters.js";

export function unknownName(
  kind: "parameter" | "field" | "column",
  name: string,
  known: readonly string[],
): string {
  const shown = name.length > 64 ? `${name.slice(0, 61)}…` : name;
  const guess = nearest(name, known);
  const allowed = known.length === 0 ? `No ${kind}s are taken here.` : `Allowed: ${inWords(known)}.`;
  return `Unknown ${kind} \`${shown}\`${guess === undefined ? "" : `, did you mean \`${guess}\``}. ${allowed}`;
}

/** A filter that excludes is named like the one that does not. */
function inWords(names: readonly string[]): string {
  const plain = names.filter((name) => !name.startsWith(NOT)).join(", ");
  return names.some((name) => name.startsWith(NOT))
    ? `${plain}; filters also with \`${NOT}\` before them`
    : plain;
}
