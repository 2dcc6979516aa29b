/**
 * Parses the part of PromQL that the simulator supports: `metric{…}`, a function over `metric{…}[1h]`, one aggregation
 * around either, with `by (…)` on either side, and `count(…)` around that. Everything else is rejected like a syntax
 * error.
 */

export const aggregations = ["sum", "avg", "min", "max", "count", "group"] as const;
export type PromqlAggregation = (typeof aggregations)[number];
export const functions = [
  "increase",
  "rate",
  "sum_over_time",
  "avg_over_time",
  "min_over_time",
  "max_over_time",
  "last_over_time",
  "count_over_time",
  "present_over_time",
] as const;
export type RangeFunction = (typeof functions)[number];

export interface Selection {
  readonly metric: string;
  readonly matches: (labels: Readonly<Record<string, string>>) => boolean;
  /** Label values that matchers list (`="a"`, `=~"a|b"`). They speed up the lookup of series; `matches` decides. */
  readonly listed: Listed;
  readonly over?: { readonly name: RangeFunction; readonly seconds: number };
  readonly aggregation?: { readonly name: PromqlAggregation; readonly by: readonly string[] };
  /** The query counts the series at each point. */
  readonly counted?: boolean;
}

export type Listed = Readonly<Record<string, readonly string[]>>;

export class UnsupportedQueryError extends Error {}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const SELECTOR = new RegExp(`^(${NAME})\\s*(?:\\{(.*)\\})?\\s*(?:\\[(\\d+)(ms|[smhd])\\])?$`, "s");
const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

export function parseQuery(text: string): Selection {
  const { call, rest } = unwrap(text.trim());
  const isOfAggregation = aggregations.some((name) => name === unwrap(rest).call?.name);
  if (call?.name === "count" && call.by.length === 0 && isOfAggregation)
    return { ...parseSelection(rest), counted: true };
  return parseSelection(text);
}

function parseSelection(text: string): Selection {
  const { call: outer, rest } = unwrap(text.trim());
  const aggregation = aggregations.find((name) => name === outer?.name);
  const inner = aggregation === undefined ? { call: outer, rest } : unwrap(rest);
  const over = functions.find((name) => name === inner.call?.name);
  if (inner.call !== undefined && over === undefined)
    throw new UnsupportedQueryError(`unknown function ${inner.call.name}`);
  const [, metric, matchers, count, unit] = SELECTOR.exec(inner.rest) ?? [];
  if (metric === undefined) throw new UnsupportedQueryError("no selector that the simulator understands");
  if ((over !== undefined) !== (count !== undefined))
    throw new UnsupportedQueryError("a range needs a function, and a function a range");
  return {
    metric,
    ...parseMatchers(matchers ?? ""),
    ...(over === undefined
      ? {}
      : // A range may be a millisecond short, to exclude one of its ends. Samples are on whole minutes, so round up.
        { over: { name: over, seconds: Math.ceil(Number(count) * (SECONDS[unit ?? ""] ?? 0)) } }),
    ...(aggregation === undefined ? {} : { aggregation: { name: aggregation, by: outer?.by ?? [] } }),
  };
}

interface Call {
  readonly name: string;
  readonly by: readonly string[];
}

const BY = "by\\s*\\(([^()]*)\\)";
const CALL = new RegExp(`^([a-z_]+)\\s*(?:${BY}\\s*)?\\((.*?)\\)\\s*(?:${BY})?$`, "s");

/** Removes the outermost call: `sum by (a) (x)` returns `sum`, `a` and `x`. */
function unwrap(text: string): { call?: Call; rest: string } {
  const [, name, before, inside, after] = CALL.exec(text) ?? [];
  if (name === undefined || inside === undefined) return { rest: text };
  const by = (before ?? after ?? "")
    .split(",")
    .map((label) => label.trim())
    .filter(Boolean);
  return { call: { name, by }, rest: inside.trim() };
}

const MATCHER = /\s*([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)/sy;

function parseMatchers(text: string): Pick<Selection, "matches" | "listed"> {
  const tests: Selection["matches"][] = [];
  const listed: Record<string, readonly string[]> = {};
  MATCHER.lastIndex = 0;
  let at = 0;
  while (at < text.trimEnd().length) {
    const [, label, operator, quoted] = MATCHER.exec(text) ?? [];
    if (label === undefined || quoted === undefined)
      throw new UnsupportedQueryError("label matchers cannot be read");
    at = MATCHER.lastIndex;
    const value = quoted.replace(/\\(.)/gs, (_all, character: string) =>
      character === "n" ? "\n" : character,
    );
    if (operator === "=") listed[label] = [value];
    else if (operator === "=~" && LITERALS.test(value)) listed[label] = value.split("|");
    tests.push(matcher(label, operator ?? "=", value));
  }
  return { listed, matches: (labels) => tests.every((test) => test(labels)) };
}

/** Matches a regular expression that is only a list of words. */
const LITERALS = /^[\w-]+(\|[\w-]+)*$/;

function matcher(label: string, operator: string, value: string): Selection["matches"] {
  if (operator === "=") return (labels) => (labels[label] ?? "") === value;
  if (operator === "!=") return (labels) => (labels[label] ?? "") !== value;
  const pattern = compiled(value);
  return (labels) => pattern.test(labels[label] ?? "") === (operator === "=~");
}

function compiled(pattern: string): RegExp {
  try {
    return new RegExp(`^(?:${pattern})$`, "s");
  } catch {
    throw new UnsupportedQueryError("a regular expression cannot be read");
  }
}
