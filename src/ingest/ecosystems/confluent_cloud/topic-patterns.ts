/** Patterns of topic names: `*` is any text, `?` one character, `[ab]` one of these and `[!ab]` one of the others. Case counts. */

/** Whether a name matches any of the patterns, as a whole. */
export function topicMatcher(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map((pattern) => new RegExp(`^${expressionOf(pattern)}$`, "su"));
  const known = new Map<string, boolean>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const matches = expressions.some((expression) => expression.test(name));
    known.set(name, matches);
    return matches;
  };
}

const PART = /\*+|\?|\[!?[^\]]+\]|[\s\S]/gu;

/**
 * Stars that follow each other are one: each is a loop that the next would repeat. A bracket that nothing closes, or whose range
 * runs backwards, is itself.
 */
function expressionOf(pattern: string): string {
  return pattern.replace(PART, (part) => {
    if (part.startsWith("*")) return ".*";
    if (part === "?") return ".";
    return part.length === 1 ? escaped(part) : oneOf(part);
  });
}

function oneOf(bracket: string): string {
  const negated = bracket.startsWith("[!");
  const members = bracket.slice(negated ? 2 : 1, -1).replace(/[\\\]^]/g, "\\$&");
  const expression = `[${negated ? "^" : ""}${members}]`;
  try {
    return new RegExp(expression, "u").source;
  } catch {
    return [...bracket].map(escaped).join("");
  }
}

function escaped(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
