/** Identities of the organisation: service accounts, users, and identity pools with their providers. */
import { type Era, idOf, lifetimeOf, objectKinds, type SimulatedLifetime } from "./lifetime.js";

export type IdentityKind = "service_account" | "user" | "identity_pool";

export interface SimulatedIdentity extends SimulatedLifetime {
  readonly index: number;
  readonly id: string;
  readonly kind: IdentityKind;
  readonly name: string;
  /** Undefined if the identity is not a pool. */
  readonly provider: SimulatedProvider | undefined;
}

export interface SimulatedProvider extends SimulatedLifetime {
  readonly id: string;
  readonly name: string;
}

const JOBS = ["gateway", "ledger", "indexer", "notifier", "etl", "scoring", "archive", "audit", "sync"];
const FIRST = ["Ada", "Edsger", "Barbara", "Alan", "Grace", "Niklaus", "Radia", "Donald"];
const LAST = ["Okafor", "Lindqvist", "Moreau", "Tanaka", "Haddad", "Silva", "Novak"];

/** Of every ten identities, seven are service accounts, two are users and one is a pool. */
export function createIdentities(
  era: Era,
  count: number,
): { identities: SimulatedIdentity[]; providers: SimulatedProvider[] } {
  const providers = Array.from({ length: Math.max(1, Math.ceil(count / 100)) }, (_, index) => ({
    ...lifetimeOf(era, objectKinds.provider, 0),
    id: idOf("op-", era, objectKinds.provider, index),
    name: `login-${index + 1}`,
  }));
  const identities = Array.from({ length: count }, (_, index) => {
    const place = index % 10;
    const kind = place === 3 || place === 8 ? "user" : place === 6 ? "identity_pool" : "service_account";
    return {
      ...lifetimeOf(era, objectKinds.identity, index),
      index,
      kind,
      id: idOf(
        { service_account: "sa-", user: "u-", identity_pool: "pool-" }[kind],
        era,
        objectKinds.identity,
        index,
      ),
      name: kind === "user" ? personName(index) : `${JOBS[index % JOBS.length]}-${index + 1}`,
      provider: kind === "identity_pool" ? providers[Math.floor(index / 10) % providers.length] : undefined,
    } satisfies SimulatedIdentity;
  });
  return { identities, providers };
}

function personName(index: number): string {
  return `${FIRST[index % FIRST.length]} ${LAST[Math.floor(index / 10) % LAST.length]} ${index + 1}`;
}
