import t from "tap";
import { parseDecimal } from "../../src/config/reader/decimal.js";
import { settingsOf } from "../../src/config/settings/ecosystem-settings.js";
import { holds } from "../holds.js";
import fc from "../property.js";
import { configOf, oneTenant, problemsOf, testEcosystems } from "./loading.js";

const costTypes = (rate: string) =>
  `[{name: A, product_category: c, rate: ${rate}, cost_quantity: {type: fixed, count: 1}, allocation_strategy: even_split}]`;

function rateOf(rate: string, env = {}): string | undefined {
  const tenant = configOf(oneTenant({ costTypes: costTypes(rate) }), env).tenants.get("acme");
  const ecosystem = testEcosystems.get("generic_metrics_only");
  if (tenant === undefined || ecosystem === undefined) throw new Error("the tenant is missing");
  return settingsOf(ecosystem, tenant.plugin_settings).cost_types[0]?.rate;
}

t.test("a rate keeps every digit, quoted or not", async (t) => {
  const cases = [
    ["0.1", "0.1"],
    ["'0.1'", "0.1"],
    ["0.30000000000000004", undefined],
    ["12345678901234567890123456.123456789012", "12345678901234567890123456.123456789012"],
    ["9007199254740993", "9007199254740993"],
    ["007.50", "7.5"],
    ["0", "0"],
    ["0.000", "0"],
    ["-0.0", "0"],
    ["1.1000000000000000000", "1.1"],
    ["!!str 2.50", "2.5"],
  ] as const;
  for (const [written, expected] of cases) {
    if (expected !== undefined) t.equal(rateOf(written), expected, written);
    else holds(t, problemsOf(oneTenant({ costTypes: costTypes(written) })), [/at most 12 decimals/]);
  }
  t.equal(rateOf(`"\${RATE}"`, { RATE: " 0.10\n" }), "0.1");
});

t.test("a text that is not a plain decimal is refused", async (t) => {
  const cases = [
    [".nan", /must be a plain decimal/],
    [".inf", /must be a plain decimal/],
    ["NaN", /must be a plain decimal/],
    ["Infinity", /must be a plain decimal/],
    ["0x10", /must be a plain decimal/],
    ["1e3", /must be a plain decimal/],
    ["'1,000'", /must be a plain decimal/],
    ["1_000", /must be a plain decimal/],
    ["'1.'", /must be a plain decimal/],
    ["'.5'", /must be a plain decimal/],
    ["true", /must be a plain decimal/],
    ["[1]", /must be a decimal of at least 0.*, not a list/],
    ["0.0000000000001", /must have at most 12 decimals/],
    ["123456789012345678901234567", /must have at most 26 digits/],
    [
      "0.25 EUR",
      /must be a plain decimal number such as 0\.25, without the currency, which stands in `currency`, not "0\.25 EUR"/,
    ],
    ["€0.25", /without the currency, which stands in `currency`, not "€0\.25"/],
    ["-0.01", /must not be negative, not -0.01/],
  ] as const;
  for (const [written, expected] of cases) {
    holds(t, problemsOf(oneTenant({ costTypes: costTypes(written) })), [expected], written);
  }
});

t.test("property: a decimal keeps its value and is normalized", async (t) => {
  const zeros = fc.nat(5).map((count) => "0".repeat(count));
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }),
      fc.nat(12),
      zeros,
      zeros,
      (ticks, places, before, after) => {
        const digits = ticks.toString().padStart(places + 1, "0");
        const whole = digits.slice(0, digits.length - places);
        const fraction = digits.slice(digits.length - places);
        const written = `${before}${whole}${places === 0 && after === "" ? "" : `.${fraction}${after}`}`;
        const parsed = parseDecimal(written.replace(/\.$/, ""));
        if (whole.length > 26) return "problem" in parsed;
        if ("problem" in parsed) return false;
        const [head = "", tail = ""] = parsed.value.split(".");
        const same = BigInt(head + tail.padEnd(12, "0")) === ticks * 10n ** BigInt(12 - places);
        return same && /^(0|[1-9]\d*)(\.\d*[1-9])?$/.test(parsed.value);
      },
    ),
  );
  t.pass("the property is true for all examples");
});
