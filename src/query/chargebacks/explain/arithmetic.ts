/**
 * Recalculates how a line is cut into ticks and its ticks into components, as `docs/explanation/allocation.md`
 * describes. It uses whole numbers, from published data. Money is in units of 1e-12, the smallest amount that the
 * stores represent.
 */
import { pointOf, WHOLE_LINE } from "../../../domain/rounding-offsets.js";

const PLACES = 12;

export interface RatioRange {
  readonly component: number;
  /** Decimal as text. */
  readonly ratio: string;
  /** In millionths of the line, `[from, to)`. */
  readonly from: bigint;
  readonly to: bigint;
}

export interface ComponentTicks extends RatioRange {
  readonly ticks: bigint;
  /** One of its recipients gets the remainder of the line below one tick. */
  readonly hasResidue: boolean;
}

/** The hashes of a line that determine its components. */
interface ComponentHashes {
  readonly components: bigint;
  readonly residueComponent: bigint;
}

export interface LineTicks {
  /** 1e-12 units per tick. */
  readonly tick: bigint;
  /** -1 for a refund, 0 for a line without cost. */
  readonly direction: bigint;
  /** Whole ticks of the line, without its sign. */
  readonly ticks: bigint;
  /** The remainder below one tick, in 1e-12 units, without its sign. */
  readonly residue: bigint;
  /** The rounding offset, and the offset that decides who gets the residue, in millionths of the line. */
  readonly offset: bigint;
  readonly residuePoint: bigint;
  readonly components: readonly ComponentTicks[];
}

/** `decimalPlaces` is 2 to 12, `cost` a plain decimal. The ranges cover the line; there is at least one. */
export function ticksOfLine(
  cost: string,
  decimalPlaces: number,
  ranges: readonly RatioRange[],
  hashes: ComponentHashes,
): LineTicks {
  const units = unitsOf(cost);
  const size = units < 0n ? -units : units;
  const tick = 10n ** BigInt(PLACES - decimalPlaces);
  const ticks = size / tick;
  const offset = pointOf(hashes.components, WHOLE_LINE);
  const residuePoint = pointOf(hashes.residueComponent, WHOLE_LINE);
  const ticksTo = (millionths: bigint) => (ticks * millionths + offset) / WHOLE_LINE;
  return {
    tick,
    direction: units === 0n ? 0n : units / size,
    ticks,
    residue: size % tick,
    offset,
    residuePoint,
    components: ranges.map((range) => ({
      ...range,
      ticks: ticksTo(range.to) - ticksTo(range.from),
      hasResidue: range.from <= residuePoint && residuePoint < range.to,
    })),
  };
}

/** Converts ticks of the line to 1e-12 units, with its sign. */
export function explainedAmount(line: LineTicks, ticks: bigint, hasResidue: boolean): bigint {
  return line.direction * (ticks * line.tick + (hasResidue ? line.residue : 0n));
}

/** Converts a plain decimal of at most 12 places to 1e-12 units. */
function unitsOf(decimal: string): bigint {
  const [whole = "0", fraction = ""] = decimal.replace("-", "").split(".");
  const units = BigInt(whole + fraction.padEnd(PLACES, "0"));
  return decimal.startsWith("-") ? -units : units;
}

/** Formats units of `10^-places` as a plain decimal without trailing zeros. */
export function decimalOf(units: bigint, places: number = PLACES): string {
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, "0");
  const cut = digits.length - places;
  const fraction = digits.slice(cut).replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${digits.slice(0, cut)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Formats a part of a whole as a decimal of six places, rounded half up. For bars, not for sums. */
export function shareText(part: bigint, whole: bigint): string {
  return decimalOf((part * 2n * WHOLE_LINE + whole) / (2n * whole), 6);
}
