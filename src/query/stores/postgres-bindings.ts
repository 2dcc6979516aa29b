/** The values of a Postgres statement whose text is joined from parts. */

/** Takes a value, gives its placeholder. */
export type Bind = (value: unknown) => string;

/** Values of a statement for Postgres, in the order of their placeholders. */
export function bindings(): { readonly bind: Bind; readonly params: unknown[] } {
  const params: unknown[] = [];
  return { bind: (value) => `$${params.push(value)}`, params };
}
