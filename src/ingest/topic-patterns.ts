/**
 * Patterns of topic names: `*` matches any text, `?` one character, `[ab]` one of these and `[!ab]` one of the others.
 * Case matters.
 */

/** Returns a function that checks whether the whole name matches one of the patterns. */
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
 * Consecutive stars count as one. A part between two stars matches at the first position where it fits, without
 * backtracking (a lookahead is not tried again). A later position fits no better, and trying all of them takes minutes
 * if a name of 249 characters repeats itself. A bracket that is not closed, or whose range runs backwards, matches
 * itself.
 */
function expressionOf(pattern: string): string {
  const pieces = [""];
  for (const part of pattern.match(PART) ?? []) {
    if (part.startsWith("*")) pieces.push("");
    else pieces.push(`${pieces.pop()}${pieceOf(part)}`);
  }
  const [first = "", ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return first;
  const between = others.map((piece, index) => `(?=(.*?${piece}))\\${index + 1}`);
  return `${first}${between.join("")}.*${last}`;
}

function pieceOf(part: string): string {
  if (part === "?") return ".";
  return part.length === 1 ? escaped(part) : oneOf(part);
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
