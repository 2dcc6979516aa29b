/**
 * How a line is cut into ticks and its ticks into components, as `docs/explanation/allocation.md` describes: calculated again, in
 * whole numbers, from what is published. Money is counted in units of 1e-12, the smallest that the stores hold.
 */
const PLACES = 12;
/** Ratios are cut in millionths of the line. */
const WHOLE = 1_000_000n;

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
  /** The largest component, of several the first: it takes what the line has below one tick. */
  readonly leads: boolean;
}

export interface LineTicks {
  /** 1e-12 units of a tick. */
  readonly tick: bigint;
  /** Of a refund -1, of nothing 0. */
  readonly direction: bigint;
  /** Whole ticks of the line, without its sign. */
  readonly ticks: bigint;
  /** What it has beside them, in 1e-12 units, without its sign. */
  readonly residue: bigint;
  readonly components: readonly ComponentTicks[];
}

/** `decimalPlaces`: 2 to 12. `cost`: a plain decimal. At least one range; they cover the line. */
export function ticksOfLine(cost: string, decimalPlaces: number, ranges: readonly RatioRange[]): LineTicks {
  const units = unitsOf(cost);
  const size = units < 0n ? -units : units;
  const tick = 10n ** BigInt(PLACES - decimalPlaces);
  const ticks = size / tick;
  const shares = ranges.map(({ from, to }) => shareTo(ticks, to) - shareTo(ticks, from));
  const leading = shares.findIndex((share) => shares.every((other) => other <= share));
  return {
    tick,
    direction: units === 0n ? 0n : units / size,
    ticks,
    residue: size % tick,
    components: ranges.map((range, index) => ({
      ...range,
      ticks: shares[index] ?? 0n,
      leads: index === leading,
    })),
  };
}

/** What so many ticks of the line are, in 1e-12 units, with its sign. */
export function amountOf(line: LineTicks, ticks: bigint, hasResidue: boolean): bigint {
  return line.direction * (ticks * line.tick + (hasResidue ? line.residue : 0n));
}

/** Ticks up to a share of the line, rounded half up: cumulative, so that components add up to the line. */
function shareTo(ticks: bigint, millionths: bigint): bigint {
  return (ticks * 2n * millionths + WHOLE) / (2n * WHOLE);
}

/** A plain decimal of at most 12 places, in 1e-12 units. */
function unitsOf(decimal: string): bigint {
  const [whole = "0", fraction = ""] = decimal.replace("-", "").split(".");
  const units = BigInt(whole + fraction.padEnd(PLACES, "0"));
  return decimal.startsWith("-") ? -units : units;
}

/** So many units of `10^-places` as a plain decimal without trailing zeros. */
export function decimalOf(units: bigint, places: number = PLACES): string {
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, "0");
  const cut = digits.length - places;
  const fraction = digits.slice(cut).replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${digits.slice(0, cut)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** A part of a whole as a decimal of six places, rounded half up: for bars, not for sums. */
export function shareText(part: bigint, whole: bigint): string {
  return decimalOf((part * 2n * WHOLE + whole) / (2n * whole), 6);
}
