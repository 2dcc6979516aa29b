/** Deterministic noise: the same inputs give the same number on every machine and in every run. */

/** A 32-bit hash of integers (the mixing steps of MurmurHash3). */
export function hash(...parts: readonly number[]): number {
  let state = 0x9e3779b9;
  for (const part of parts) {
    let word = Math.imul(part | 0, 0xcc9e2d51);
    word = (word << 15) | (word >>> 17);
    state ^= Math.imul(word, 0x1b873593);
    state = (state << 13) | (state >>> 19);
    state = (Math.imul(state, 5) + 0xe6546b64) | 0;
  }
  state ^= state >>> 16;
  state = Math.imul(state, 0x85ebca6b);
  state ^= state >>> 13;
  state = Math.imul(state, 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

/** A number from 0 (inclusive) to 1 (exclusive). */
export function chance(...parts: readonly number[]): number {
  return hash(...parts) / 2 ** 32;
}
