/** SQL for the days that a line is charged to, and the part of its amounts on each of them. */

/** A longer charge is taken for a mistake in the end of its period, and stays on its first day. */
const LONGEST_DAYS = 3700;

export type Spread = "none" | "daily";

/** Seconds of the charge, at least 1. */
const seconds = "toInt256(greatest(ifNull(dateDiff('second', ChargePeriodStart, ChargePeriodEnd), 0), 1))";
const days = `toUInt32(intDiv(toInt64(toUnixTimestamp(assumeNotNull(ChargePeriodStart))) % 86400 + toInt64(${seconds}) - 1, 86400) + 1)`;

/** Number of days that a line is charged to. */
function dayCount(spread: Spread): string {
  return spread === "none" ? "toUInt32(1)" : `if(${days} > ${LONGEST_DAYS}, 1, ${days})`;
}

/** Positions of the days within the charge, from 0, as an array. */
export function dayOffsets(spread: Spread): string {
  return spread === "none" ? "[toUInt32(0)]" : `range(${dayCount(spread)})`;
}

/** The last day that a line is charged to. */
export function lastDay(spread: Spread): string {
  return `charge_day + ${dayCount(spread)} - 1`;
}

/** Start of the part that is charged on a day. `day_offset` is one of `dayOffsets`. */
export const chargeStart =
  "if(day_offset = 0, assumeNotNull(ChargePeriodStart), toDateTime(charge_day + day_offset, 'UTC'))";

/**
 * Returns the part of an amount on a day: the amount of all days up to and including this one, cut to the last place,
 * minus that of the days before. So the parts always add up to the amount, whichever days are selected.
 */
export function partOf(amount: string, spread: Spread): string {
  if (spread === "none") return amount;
  const ticks = `toInt256(${amount} * toDecimal256(1000000000000, 0))`;
  const until = (offset: string) =>
    `intDiv(${ticks} * least(toInt256(${offset}) * 86400 - if(${offset} = 0, 0, toInt256(toUnixTimestamp(assumeNotNull(ChargePeriodStart))) % 86400), ${seconds}), ${seconds})`;
  const part = `(${until("(day_offset + 1)")} - ${until("day_offset")})`;
  // An implausible number of days: charge all of it on the first day.
  const whole = `if(${days} > ${LONGEST_DAYS}, ${ticks}, ${part})`;
  return `CAST(toDecimal256(toString(${whole}), 0) * toDecimal256('0.000000000001', 12) AS Decimal(38, 12))`;
}
