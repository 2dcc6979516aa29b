/**
 * Colours of groups. A group keeps its colour on every chart and page: the browser remembers it for the tenant. Each
 * group prefers a colour of its own, so that other browsers mostly choose the same.
 */

/** Number of colours in the style sheet. No chart has more groups. */
const COLORS = 12;
const MAX_REMEMBERED = 1000;

/** The series of all groups that have no series of their own. */
export const OTHERS_COLOR = "var(--color-0)";
export const UNALLOCATED_COLOR = "var(--unallocated)";

/**
 * Returns a different colour for each key. If two keys of a chart remember the same colour, the one that has it longer
 * keeps it, and the other gets a free one on this chart.
 */
export function colorsOf(tenant: string, keys: readonly string[]): ReadonlyMap<string, string> {
  const item = `colors ${tenant}`;
  const remembered = new Map<string, number>(JSON.parse(localStorage.getItem(item) ?? "[]"));
  const old = [...remembered.keys()].filter((key) => keys.includes(key));
  const added = keys.filter((key) => !remembered.has(key)).sort();
  const shown = new Map<string, number>();
  const used = new Set<number>();
  for (const key of [...old, ...added]) {
    let color = (remembered.get(key) ?? hashOf(key)) % COLORS;
    for (let tried = 1; used.has(color) && tried < COLORS; tried++) color = (color + 1) % COLORS;
    used.add(color);
    shown.set(key, color);
  }
  for (const key of added) remembered.set(key, shown.get(key) ?? 0);
  if (added.length > 0) localStorage.setItem(item, JSON.stringify([...remembered].slice(-MAX_REMEMBERED)));
  return new Map([...shown].map(([key, color]) => [key, `var(--color-${color + 1})`]));
}

function hashOf(key: string): number {
  let hash = 0;
  for (const letter of key) hash = (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}
