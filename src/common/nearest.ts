/**
 * Finds the known name that is nearest to a mistyped one, for "did you mean …?".
 *
 * The measure is the optimal string alignment distance: insertions, deletions, substitutions and swapped neighbours
 * cost one each.
 */

/** Classic dynamic programming, row by row: O(length × length), for names of at most some dozens of letters. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

/**
 * Returns the nearest of `known`, or undefined if none is near: no suggestion is better than a wrong one.
 *
 * @param most the largest distance that is near
 */
export function nearest(
  name: string,
  known: readonly string[],
  most = Number.POSITIVE_INFINITY,
): string | undefined {
  if (name.length > 64) return undefined;
  const written = name.toLowerCase().replaceAll("-", "_");
  const limit = Math.min(most, Math.max(1, Math.floor(written.length / 3)));
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(written, candidate.toLowerCase());
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { name: candidate, distance };
  }
  return best?.name;
}
