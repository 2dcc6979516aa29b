/** Resources and identities as the service remembers them: what sets of past days are chosen from. */
export interface KnownInventory {
  readonly resources: readonly KnownResource[];
  readonly identities: readonly KnownIdentity[];
}

/** In milliseconds since 1970. `created_at` is null when the upstream does not say, `deleted_at` while it exists. */
export interface Lifetime {
  readonly created_at: number | null;
  /** When the deletion was noticed. */
  readonly deleted_at: number | null;
}

export interface KnownResource extends Lifetime {
  readonly resource_id: string;
  readonly resource_type: string;
  readonly parent_id: string | null;
  readonly owner_id: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What it was before, ascending; left out of one that has always been as it is. */
  readonly earlier?: readonly EarlierState[];
}

/** Owner and metadata of a resource up to a time, exclusive, in milliseconds since 1970: when the change was noticed. */
export interface EarlierState extends Pick<KnownResource, "owner_id" | "metadata"> {
  readonly until: number;
}

export interface KnownIdentity extends Lifetime {
  readonly identity_id: string;
  readonly identity_type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}
