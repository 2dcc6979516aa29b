/** Helpers that write the stored inventory of an organisation in a short form. */
import type { KnownIdentity, KnownInventory, KnownResource } from "../../../src/ingest/known.js";

interface Lifespan {
  readonly created?: string;
  readonly deleted?: string;
}

const at = (time: string | undefined) => (time === undefined ? null : Date.parse(time));
const lifetime = ({ created, deleted }: Lifespan) => ({ created_at: at(created), deleted_at: at(deleted) });

export function knownIdentity(
  identity_id: string,
  identity_type: string,
  more: Lifespan & { readonly metadata?: Readonly<Record<string, unknown>> } = {},
): KnownIdentity {
  return { identity_id, identity_type, metadata: more.metadata ?? {}, ...lifetime(more) };
}

export function knownAccount(id: string, life: Lifespan = {}): KnownIdentity {
  return knownIdentity(id, "service_account", life);
}

export function knownKey(id: string, owner: string | null, resource: string | null, life: Lifespan = {}) {
  return knownIdentity(id, "api_key", { ...life, metadata: { owner_id: owner, resource_id: resource } });
}

export function knownResource(
  resource_id: string,
  resource_type: string,
  more: Lifespan & {
    readonly owner?: string | null;
    readonly metadata?: Readonly<Record<string, unknown>>;
  } = {},
): KnownResource {
  const { owner = null, metadata = {} } = more;
  return { resource_id, resource_type, parent_id: null, owner_id: owner, metadata, ...lifetime(more) };
}

export function knownStatement(
  uid: string,
  owner: string | null,
  metadata: Readonly<Record<string, unknown>>,
  life: Lifespan = {},
): KnownResource {
  return knownResource(uid, "flink_statement", { ...life, owner, metadata });
}

export function knownConnector(id: string, metadata: Readonly<Record<string, unknown>>): KnownResource {
  return knownResource(id, "connector", { metadata });
}

export const knownOf = (
  identities: readonly KnownIdentity[],
  resources: readonly KnownResource[] = [],
): KnownInventory => ({ identities, resources });
