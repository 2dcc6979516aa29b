/** The sentence about a name that nothing here has, with the one that was probably meant. Long input is not repeated whole. */
import { nearest } from "../../config/nearest.js";

export function unknownName(
  kind: "parameter" | "field" | "column",
  name: string,
  known: readonly string[],
): string {
  const shown = name.length > 64 ? `${name.slice(0, 61)}…` : name;
  const guess = nearest(name, known);
  const allowed = known.length === 0 ? `No ${kind}s are taken here.` : `Allowed: ${known.join(", ")}.`;
  return `Unknown ${kind} \`${shown}\`${guess === undefined ? "" : `, did you mean \`${guess}\``}. ${allowed}`;
}
