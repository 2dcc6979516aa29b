/** A price that stands in the configuration. */
import { parseNonNegativeDecimal } from "../../config/decimal.js";
import { text } from "../../config/setting.js";

export const rateSetting = (description: string, unit: string) =>
  text({
    description: `${description} Kept exactly as written.`,
    unit,
    expected: "a decimal of at least 0, with at most 12 decimals",
    pattern: "^\\d{1,26}(\\.\\d{1,12})?$",
    decimal: true,
    parse: parseNonNegativeDecimal,
  });
