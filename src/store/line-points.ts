/**
 * Where a line is cut. Every split of a line is rounded at an offset that is drawn from the line itself, so nobody is favoured over
 * many lines, and the same line is always cut at the same places. `docs/explanation/allocation.md` has the rule, byte by byte.
 */
import { type Ledger, lineColumns } from "./ledger.js";

/**
 * - `components`: offset of the line's ticks among its components
 * - `recipients`: offset of a component's ticks among its recipients
 * - `residue component`, `residue recipient`: who gets what the line has below one tick
 */
export const linePoints = ["components", "recipients", "residue component", "residue recipient"] as const;
export type LinePoint = (typeof linePoints)[number];

/** A share of the line is cut in millionths of it. */
export const WHOLE_LINE = 1_000_000n;

/** The hash of a line that a point is drawn from, as a UInt64: an expression on columns of the bill. */
export function hashOfPoint(ledger: Ledger, point: LinePoint): string {
  const key = lineColumns(ledger, "key").map(({ ofBill }) =>
    ofBill === "timestamp" ? "toString(toUnixTimestamp(timestamp))" : `toString(${ofBill})`,
  );
  return `xxHash64(concat(toString(day), '\\n', ${key.join(", '\\n', ")}, '\\n${point}'))`;
}

/**
 * A point of a whole from 0 up to but without it, `hash * whole / 2^64` rounded down. The remainder of a division by the whole would
 * favour the first places as soon as the whole comes near to 2^64, and never reach the last ones beyond it.
 */
export function pointSql(hash: string, whole: string, int: string): string {
  return `CAST(bitShiftRight(CAST(${hash} AS UInt256) * CAST(${whole} AS UInt256), 64) AS ${int})`;
}

/** The same, of a hash that was read. */
export function pointOf(hash: bigint, whole: bigint): bigint {
  return (hash * whole) >> 64n;
}
