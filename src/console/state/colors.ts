/**
 * Colours of groups. A group keeps its colour on every chart and page: the browser remembers it for the tenant. Each
 * group prefers a colour of its own, so that other browsers mostly choose the same.
 */

/** Number of colours in the style sheet. Each has two tones. */
const COLORS = 10;
const TONES = 2;
const SLOTS = COLORS * TONES;
const MAX_REMEMBERED = 1000;

/** The series of all groups that have no series of their own. */
export const OTHERS_COLOR = "var(--color-0)";
export const UNALLOCATED_COLOR = "var(--unallocated)";

/** Returns a colour for each key. Keys that are new get one that no other of them has, if there are enough. */
export function colorsOf(tenant: string, keys: readonly string[]): ReadonlyMap<string, string> {
  const item = `colors ${tenant}`;
  const slots = new Map<string, number>(JSON.parse(localStorage.getItem(item) ?? "[]"));
  const added = keys.filter((key) => !slots.has(key)).sort();
  for (const key of added) {
    const used = new Set(keys.map((each) => slots.get(each)));
    let slot = preferredSlot(key);
    for (let tried = 0; used.has(slot) && tried < SLOTS; tried++) slot = (slot + 1) % SLOTS;
    slots.set(key, slot);
  }
  if (added.length > 0) localStorage.setItem(item, JSON.stringify([...slots].slice(-MAX_REMEMBERED)));
  return new Map(keys.map((key) => [key, colorOfSlot(slots.get(key) ?? 0)]));
}

function preferredSlot(key: string): number {
  let hash = 0;
  for (const letter of key) hash = (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  return hash % SLOTS;
}

function colorOfSlot(slot: number): string {
  const color = `var(--color-${(slot % COLORS) + 1})`;
  return slot < COLORS ? color : `color-mix(in oklab, ${color} 68%, var(--text))`;
}
