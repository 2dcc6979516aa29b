/** Values and placeholders of a Postgres statement whose text is joined from parts. */

/** Adds a value and returns its placeholder. */
export type Bind = (value: unknown) => string;

/** Collects the values in the order of their placeholders. */
export function bindings(): { readonly bind: Bind; readonly params: unknown[] } {
  const params: unknown[] = [];
  return { bind: (value) => `$${params.push(value)}`, params };
}
