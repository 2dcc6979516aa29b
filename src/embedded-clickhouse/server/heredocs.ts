/**
 * Heredocs of ClickHouse SQL: `$tag$ any text $tag$`. A tag begins at a `$` and ends at the next one, and its heredoc
 * ends at the next occurrence of the same tag. Searching for that occurrence from each `$` would take time quadratic in
 * the text (192 KiB of `$1 $2 $3 …`: 4.5 s), so the pieces between neighbouring `$` are indexed once, at the first `$`.
 */
export interface Heredocs {
  /**
   * Returns where the heredoc that begins at this `$` ends, or undefined if none begins there. Call in ascending order.
   */
  endOf(start: number): number | undefined;
}

interface Index {
  /** Offsets of all `$`, ascending. */
  readonly dollars: readonly number[];
  /** Positions in `dollars` at which each tag begins, last first. */
  readonly beginnings: ReadonlyMap<string, number[]>;
}

export function heredocsOf(sql: string): Heredocs {
  let index: Index | undefined;
  let next = 0;
  return {
    endOf(start) {
      index ??= indexOf(sql);
      const { dollars, beginnings } = index;
      while ((dollars[next] ?? sql.length) < start) next += 1;
      const tag = tagAt(sql, dollars, next);
      const candidates = tag === undefined ? undefined : beginnings.get(tag);
      if (tag === undefined || candidates === undefined) return undefined;
      // The closing tag must not share its first `$` with the last one of the opening tag.
      while (candidates.length > 0 && (candidates.at(-1) ?? 0) < next + 2) candidates.pop();
      const closing = dollars[candidates.at(-1) ?? dollars.length];
      return closing === undefined ? undefined : closing + tag.length;
    },
  };
}

function indexOf(sql: string): Index {
  const dollars: number[] = [];
  for (let at = sql.indexOf("$"); at >= 0; at = sql.indexOf("$", at + 1)) dollars.push(at);
  const beginnings = new Map<string, number[]>();
  for (let position = dollars.length - 1; position >= 0; position -= 1) {
    const tag = tagAt(sql, dollars, position);
    if (tag === undefined) continue;
    const positions = beginnings.get(tag);
    if (positions === undefined) beginnings.set(tag, [position]);
    else positions.push(position);
  }
  return { dollars, beginnings };
}

function tagAt(sql: string, dollars: readonly number[], index: number): string | undefined {
  const [start, end] = [dollars[index], dollars[index + 1]];
  return start === undefined || end === undefined ? undefined : sql.slice(start, end + 1);
}
