/**
 * Offsets for rounding the parts of a line, and who gets its residue, the remainder below one tick. Each division is
 * rounded at an offset derived from the line itself, so that no recipient is favoured over many lines, and the same line
 * is always divided the same way. The rounding itself is in `allocate/sql/allocate-days.ts`, and
 * `docs/explanation/allocation.md` has the rule, byte by byte.
 */
import { type Ledger, lineColumns } from "./ledger.js";

/**
 * - `components`: offset of the line's ticks among its components
 * - `recipients`: offset of a component's ticks among its recipients
 * - `residue component`, `residue recipient`: which of them get the part of the line below one tick
 */
export const linePoints = ["components", "recipients", "residue component", "residue recipient"] as const;
export type LinePoint = (typeof linePoints)[number];

/** Shares of a line are in millionths. */
export const WHOLE_LINE = 1_000_000n;

/**
 * SQL for the hash of a line that a point is derived from: a UInt64 expression on columns of the bill.
 *
 * @param more an expression for text to append
 */
export function hashOfPoint(ledger: Ledger, point: LinePoint, more = ""): string {
  const key = lineColumns(ledger, "key").map(({ billColumn }) =>
    billColumn === "timestamp" ? "toString(toUnixTimestamp(timestamp))" : `toString(${billColumn})`,
  );
  return `xxHash64(concat(toString(day), '\\n', ${key.join(", '\\n', ")}, '\\n${point}'${more === "" ? "" : `, ${more}`}))`;
}

/**
 * SQL for a point in [0, whole): `hash * whole / 2^64`, rounded down. A modulo would favour the first positions as the
 * whole approaches 2^64, and never reach the last ones beyond it.
 */
export function pointSql(hash: string, whole: string, int: string): string {
  return `CAST(bitShiftRight(CAST(${hash} AS UInt256) * CAST(${whole} AS UInt256), 64) AS ${int})`;
}

/** Returns the point in [0, whole) for a hash that was read. */
export function pointOf(hash: bigint, whole: bigint): bigint {
  return (hash * whole) >> 64n;
}
