/** Settings for prices and their currency. */
import { parseNonNegativeDecimal } from "../../config/reader/decimal.js";
import { type Parsed, text } from "../../config/reader/setting.js";
import { CURRENCY } from "../../domain/text-limits.js";

export const currencySetting = text({
  description: "The currency of all rates, as ISO 4217 code.",
  expected: "three capital letters such as EUR",
  pattern: CURRENCY,
  default: "USD",
});

export const rateSetting = (description: string, unit: string) =>
  text({
    description: `${description} Kept exactly as written.`,
    unit,
    expected: "a decimal of at least 0, with at most 12 decimals",
    pattern: "^\\d{1,26}(\\.\\d{1,12})?$",
    decimal: true,
    parse: parseRate,
  });

/** Rejects `0.25 EUR` and `$1` with a hint to the setting `currency`. */
function parseRate(written: string): Parsed {
  const parsed = parseNonNegativeDecimal(written);
  if ("value" in parsed || !/[A-Z]{3}|\p{Sc}/u.test(written)) return parsed;
  return {
    problem: "must be a plain decimal number such as 0.25, without the currency, which stands in `currency`",
  };
}
