/** Filters on values of columns: rows that have one of some values, and rows that have none of others. */

/** Before the name of a filter: only rows that do not have any of the values. */
export const NOT = "not:";

/** Values of one name are alternatives; filters of different names have to hold together. One that is left out does not filter. */
export type ValueFilters<Name extends string> = {
  readonly [Filter in Name | `${typeof NOT}${Name}`]?: readonly string[] | undefined;
};

export interface ValueFilter<Name extends string = string> {
  readonly name: Name;
  readonly isExcluding: boolean;
  readonly values: readonly string[];
  /** Name of its values among the parameters of a statement. */
  readonly param: string;
}

/** Those that filter, in the order of `names`. */
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

/** As conditions, ready to follow another one. `columns`: by the name of the filter. */
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
