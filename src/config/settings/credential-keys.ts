/** Rules for settings with several kinds of credentials. */
import type { Rule } from "../reader/setting.js";

/** Options of a text that is never shown. */
export const secretText = { secret: true, maxLength: 10_000 } as const;

/** A kind of credentials requires some keys, allows others, and excludes the keys of other kinds. */
export function keysRule<Value extends object>(
  by: keyof Value & string,
  required: Readonly<Record<string, readonly (keyof Value & string)[]>>,
  optional: Readonly<Record<string, readonly (keyof Value & string)[]>>,
  rule: string,
): Rule<Value> {
  const all = [...new Set([...Object.values(required), ...Object.values(optional)].flat())];
  return {
    rule,
    check(value, report) {
      const kind = value[by];
      if (typeof kind !== "string") return;
      for (const key of all) {
        const isGiven = value[key] !== undefined;
        const isRequired = required[kind]?.includes(key) ?? false;
        if (isRequired && !isGiven) report([key], `is required with ${by} ${kind}`);
        if (!isRequired && isGiven && !(optional[kind] ?? []).includes(key))
          report([key], `is not used with ${by} ${kind}: remove it`);
      }
    },
  };
}
