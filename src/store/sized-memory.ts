/** Values by key, as many as there is room for: those that were kept first go first. */
export interface SizedMemory<Value> {
  get(key: string): Value | undefined;
  /** The same, and forgets it. */
  take(key: string): Value | undefined;
  keep(key: string, value: Value): void;
}

export function createSizedMemory<Value>({
  most,
  sizeOf,
}: {
  /** Of all values together. */
  readonly most: number;
  readonly sizeOf: (value: Value) => number;
}): SizedMemory<Value> {
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
