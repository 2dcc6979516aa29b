/** Filters on values of columns: rows that have one of some values, or none of others. */

/** Prefix of a filter's name: only rows that have none of the values. */
export const NOT = "not:";

/** Values of one filter are alternatives; all filters have to match. An undefined filter matches every row. */
export type ValueFilters<Name extends string> = {
  readonly [Filter in Name | `${typeof NOT}${Name}`]?: readonly string[] | undefined;
};

export interface ValueFilter<Name extends string = string> {
  readonly name: Name;
  readonly isExcluding: boolean;
  readonly values: readonly string[];
  /** Name of the values among the parameters of a statement. */
  readonly param: string;
}

/** Returns the filters that are set, in the order of `names`. */
export function valueFilters<Name extends string>(
  names: readonly Name[],
  filters: ValueFilters<NoInfer<Name>>,
): ValueFilter<Name>[] {
  return names.flatMap((name) => {
    const included = filters[name];
    const excluded = filters[`${NOT}${name}` as const];
    return [
      ...(included === undefined ? [] : [{ name, isExcluding: false, values: included, param: name }]),
      ...(excluded === undefined
        ? []
        : [{ name, isExcluding: true, values: excluded, param: `not_${name}` }]),
    ];
  });
}

/** Returns SQL conditions to append to another one. `columns` maps names of filters to columns. */
export function valueConditions<Name extends string>(
  columns: Readonly<Record<Name, string>>,
  filters: ValueFilters<NoInfer<Name>>,
): { readonly condition: string; readonly params: Readonly<Record<string, readonly string[]>> } {
  const used = valueFilters(Object.keys(columns) as Name[], filters);
  return {
    condition: used
      .map(
        ({ name, isExcluding, param }) =>
          ` AND ${columns[name]} ${isExcluding ? "NOT IN" : "IN"} {${param}:Array(String)}`,
      )
      .join(""),
    params: Object.fromEntries(used.map(({ param, values }) => [param, values])),
  };
}
