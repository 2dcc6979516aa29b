import { InvalidParameterError } from "../../query/time/date-window.js";

/** Reads `order=NAME.asc|desc`. Throws InvalidParameterError for other names. */
export function requestedSort<Name extends string>(
  order: string,
  names: readonly Name[],
): { readonly by: Name; readonly isDescending: boolean } {
  const end = order.lastIndexOf(".");
  const by = names.find((name) => name === order.slice(0, end));
  if (by === undefined)
    throw new InvalidParameterError(
      "order",
      `\`order\` must sort by one of ${[...new Set(names)].join(", ")}.`,
    );
  return { by, isDescending: order.slice(end) === ".desc" };
}
