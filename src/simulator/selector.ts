/**
 * The corner of PromQL that the simulator understands: `metric{…}`, a function over `metric{…}[1h]`, and one aggregation
 * around either, with `by (…)` on either side, and `count(…)` around that. Anything else is refused, as Prometheus refuses what it cannot parse.
 */

export const aggregations = ["sum", "avg", "min", "max", "count", "group"] as const;
export type Aggregation = (typeof aggregations)[number];
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
  /** Values that a matcher leaves, where it lists them (`="a"`, `=~"a|b"`): to look series up before `matches` has the last word. */
  readonly listed: Listed;
  readonly over?: { readonly name: RangeFunction; readonly seconds: number };
  readonly aggregation?: { readonly name: Aggregation; readonly by: readonly string[] };
  /** Asked is only how many series there are at each point. */
  readonly counted?: boolean;
}

export type Listed = Readonly<Record<string, readonly string[]>>;

export class UnknownQuery extends Error {}

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
    throw new UnknownQuery(`unknown function ${inner.call.name}`);
  const [, metric, matchers, count, unit] = SELECTOR.exec(inner.rest) ?? [];
  if (metric === undefined) throw new UnknownQuery("no selector that the simulator understands");
  if ((over !== undefined) !== (count !== undefined))
    throw new UnknownQuery("a range needs a function, and a function a range");
  return {
    metric,
    ...parseMatchers(matchers ?? ""),
    ...(over === undefined
      ? {}
      : // Samples lie on whole minutes: a range that misses a millisecond, so as not to take both its ends, has them all.
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

/** Takes one call off: `sum by (a) (x)` gives `sum`, `a` and `x`. */
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
    if (label === undefined || quoted === undefined) throw new UnknownQuery("label matchers cannot be read");
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

/** A regular expression that is a list of plain words. */
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
    throw new UnknownQuery("a regular expression cannot be read");
  }
}
