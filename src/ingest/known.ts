/** Resources and identities that the service has stored. Sets of past days are chosen from them. */
export interface KnownInventory {
  readonly resources: readonly KnownResource[];
  readonly identities: readonly KnownIdentity[];
}

/**
 * In milliseconds since 1970. `created_at` is null if the upstream does not say; `deleted_at` is null while the entity
 * exists.
 */
export interface Lifetime {
  readonly created_at: number | null;
  /** When the deletion was detected. */
  readonly deleted_at: number | null;
}

export interface KnownResource extends Lifetime {
  readonly resource_id: string;
  readonly resource_type: string;
  readonly parent_id: string | null;
  readonly owner_id: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Earlier states, ascending. Left out if it has always been the same. */
  readonly earlier?: readonly EarlierState[];
}

/**
 * Owner and metadata of a resource up to `until`, exclusive, in milliseconds since 1970: the time when the change was
 * detected.
 */
export interface EarlierState extends Pick<KnownResource, "owner_id" | "metadata"> {
  readonly until: number;
}

export interface KnownIdentity extends Lifetime {
  readonly identity_id: string;
  readonly identity_type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}
