/** Errors of writing tags. */

/** The tenant has no such dimension. */
export class DimensionNotFoundError extends Error {
  override readonly name = "DimensionNotFoundError";
  constructor(readonly dimensionId: number) {
    super(`no dimension ${dimensionId}`);
  }
}

/** The tenant, or the given dimension, has no such tag. */
export class TagNotFoundError extends Error {
  override readonly name = "TagNotFoundError";
  constructor(
    readonly tagId: number,
    readonly dimensionId?: number,
  ) {
    super(`no tag ${tagId}`);
  }
}

/** The dimension has a tag with this key, or the request has the key twice. */
export class TagKeyTakenError extends Error {
  override readonly name = "TagKeyTakenError";
  constructor(
    readonly tagKey: string,
    readonly dimensionId: number,
  ) {
    super(`dimension ${dimensionId} has a tag with the key ${tagKey}`);
  }
}
