/** SQL of which days a line is charged to, and with how much of each of its amounts. */

/** Longer charges are taken for mistakes in the end of the period, and stay on their first day. */
const LONGEST_DAYS = 3700;

export type Spread = "none" | "daily";

/** Seconds of the charge, at least 1. */
const seconds = "toInt256(greatest(ifNull(dateDiff('second', ChargePeriodStart, ChargePeriodEnd), 0), 1))";
const days = `toUInt32(intDiv(toInt64(toUnixTimestamp(assumeNotNull(ChargePeriodStart))) % 86400 + toInt64(${seconds}) - 1, 86400) + 1)`;

/** On how many days a line is charged. */
function dayCount(spread: Spread): string {
  return spread === "none" ? "toUInt32(1)" : `if(${days} > ${LONGEST_DAYS}, 1, ${days})`;
}

/** Array of the days' places in the charge, from 0. */
export function dayPlaces(spread: Spread): string {
  return spread === "none" ? "[toUInt32(0)]" : `range(${dayCount(spread)})`;
}

/** The last day that a line is charged to. */
export function lastDay(spread: Spread): string {
  return `charge_day + ${dayCount(spread)} - 1`;
}

/** The start of what is charged on a day, `place` being one of `dayPlaces`. */
export const chargeStart =
  "if(place = 0, assumeNotNull(ChargePeriodStart), toDateTime(charge_day + place, 'UTC'))";

/**
 * A day's part of an amount. What all days up to this one have is cut to the last place, less what those before have: the parts always add
 * up to the amount, whichever days are asked for.
 */
export function partOf(amount: string, spread: Spread): string {
  if (spread === "none") return amount;
  const ticks = `toInt256(${amount} * toDecimal256(1000000000000, 0))`;
  const until = (place: string) =>
    `intDiv(${ticks} * least(toInt256(${place}) * 86400 - if(${place} = 0, 0, toInt256(toUnixTimestamp(assumeNotNull(ChargePeriodStart))) % 86400), ${seconds}), ${seconds})`;
  const part = `(${until("(place + 1)")} - ${until("place")})`;
  // More days than are believed: all of it on the first.
  const whole = `if(${days} > ${LONGEST_DAYS}, ${ticks}, ${part})`;
  return `CAST(toDecimal256(toString(${whole}), 0) * toDecimal256('0.000000000001', 12) AS Decimal(38, 12))`;
}
