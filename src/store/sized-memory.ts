/** A cache with a total size. The oldest entries are evicted first. */
export interface SizedCache<Value> {
  get(key: string): Value | undefined;
  /** Returns the value and removes it. */
  take(key: string): Value | undefined;
  keep(key: string, value: Value): void;
}

export function createSizedCache<Value>({
  most,
  sizeOf,
}: {
  /** Maximum total size of all values. */
  readonly most: number;
  readonly sizeOf: (value: Value) => number;
}): SizedCache<Value> {
  const values = new Map<string, Value>();
  let size = 0;
  const take = (key: string) => {
    const value = values.get(key);
    if (value !== undefined) size -= sizeOf(value);
    values.delete(key);
    return value;
  };
  return {
    get: (key) => values.get(key),
    take,
    keep(key, value) {
      take(key);
      values.set(key, value);
      size += sizeOf(value);
      for (const oldest of values.keys()) {
        if (size <= most) return;
        take(oldest);
      }
    },
  };
}
