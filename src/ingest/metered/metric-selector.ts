/**
 * Setting `metric_selector`: selects the series of this cluster. Its label matchers go into every query, so that one
 * Prometheus that monitors several clusters does not charge one with the bytes of another.
 */
import type { Parsed } from "../../config/reader/setting.js";

/** Placeholder for the matchers in a query: `kafka_log_log_size{$selector}`. */
export const SELECTOR = "$selector";

const VALUE = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|${"`[^`]*`"}`;
const MATCHER = new RegExp(`^\\s*([a-zA-Z_][a-zA-Z0-9_]*)\\s*(=~|!~|!=|=)\\s*(${VALUE})\\s*(,|$)`);

/**
 * Normalizes `cluster = "a", env=~"x|y",` to `cluster="a",env=~"x|y"`. Only matchers are accepted, because a brace
 * would end the selector.
 */
export function parseSelector(text: string): Parsed {
  const matchers: string[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const found = MATCHER.exec(rest);
    if (found === null)
      return { problem: `must be label matchers such as cluster="orders",env=~"prod|stage"` };
    const [whole, label = "", operator = "", value = ""] = found;
    matchers.push(label + operator + value);
    rest = rest.slice(whole.length);
  }
  return { value: matchers.join(",") };
}

/** Inserts the matchers into the query. Without matchers, an empty selector is removed: `metric{}` becomes `metric`. */
export function withSelector(query: string, selector: string | undefined): string {
  if (selector !== undefined) return query.replaceAll(SELECTOR, () => selector);
  return query.replaceAll(`{${SELECTOR}}`, "").replaceAll(SELECTOR, "");
}
