/**
 * An assertion about named fields, each compared strictly. tap's own `match` is not strict: it accepts `[]` for any
 * array.
 */
import type { Test } from "tap";

interface Asserts extends Pick<Test, "currentAssert"> {
  strictSame(found: unknown, expected: unknown, ...message: [] | [string]): boolean;
}

const TYPES = new Set<unknown>([String, Number, Boolean, Date]);

function isOfType(value: unknown, type: unknown): boolean {
  return type === Date
    ? value instanceof Date
    : typeof value === String((type as { name: string }).name).toLowerCase();
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Returns the parts of `actual` that the expectation names. A pattern or a type that matches is returned itself, so
 * that both sides are equal.
 */
function spokenOf(actual: unknown, expected: unknown): unknown {
  if (expected instanceof RegExp)
    return typeof actual === "string" && expected.test(actual) ? expected : actual;
  if (TYPES.has(expected)) return isOfType(actual, expected) ? expected : actual;
  if (Array.isArray(expected) && Array.isArray(actual)) {
    return actual.map((item, index) => (index < expected.length ? spokenOf(item, expected[index]) : item));
  }
  if (!isPlainObject(expected) || typeof actual !== "object" || actual === null) return actual;
  const names = Object.keys(expected);
  if (names.length === 0 || Array.isArray(actual)) return actual;
  const known = names.filter((name) => name in actual || expected[name] === undefined);
  return Object.fromEntries(
    known.map((name) => [name, spokenOf((actual as Record<string, unknown>)[name], expected[name])]),
  );
}

/**
 * Passes if each field of `expected` is strictly equal, at any depth. Other fields are ignored. Arrays are compared as
 * a whole, `[]` and `{}` must be empty, a regular expression matches only strings, and `String`, `Number`, `Boolean` or
 * `Date` matches any value of that type.
 */
export function holds(
  t: Asserts,
  actual: unknown,
  expected: unknown,
  ...message: [] | [message: string]
): boolean {
  t.currentAssert = holds;
  return t.strictSame(spokenOf(actual, expected), expected, ...message);
}
