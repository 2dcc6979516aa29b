/** Connectors, with every form in which the vendor reports (or omits) the credentials they use. */
import { hash } from "../hash.js";
import type { ApiKey } from "./keys.js";
import { type Era, idOf, lifetimeOf, objectKinds, type SimulatedLifetime } from "./lifetime.js";
import type { SimulatedIdentity } from "./people.js";
import { pickAt, type SimulatedCluster } from "./places.js";

export const connectorAuthModes = [
  "service_account",
  "api_key",
  "masked_api_key",
  "unknown_api_key",
  "service_account_without_id",
  "api_key_without_mode",
  "service_account_without_mode",
  "api_key_without_key",
  "none",
] as const;
export type AuthMode = (typeof connectorAuthModes)[number];

export interface Connector extends SimulatedLifetime {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly cluster: SimulatedCluster;
  readonly custom: boolean;
  readonly mode: AuthMode;
  /** The credentials in its configuration. */
  readonly credentials: Readonly<Record<string, string>>;
}

export function createConnectors(
  era: Era,
  count: number,
  clusters: readonly SimulatedCluster[],
  keys: ReadonlyMap<string, readonly ApiKey[]>,
): Connector[] {
  const connecting = clusters.filter(({ hasConnect }) => hasConnect);
  return Array.from({ length: count }, (_, index) => {
    const cluster = pickAt(connecting, index);
    const custom = index % 5 === 2;
    // Half of the connectors have a service account, as the vendor recommends. The others rotate through all modes.
    const mode = index % 2 === 0 ? "service_account" : pickAt(connectorAuthModes, 1 + (index - 1) / 2);
    return {
      ...lifetimeOf(era, objectKinds.connector, index),
      index,
      id: idOf(custom ? "clcc-" : "lcc-", era, objectKinds.connector, index),
      name: `${pickAt(["s3-sink", "postgres-source", "http-sink", "mongo-source"], index)}-${index + 1}`,
      cluster,
      custom,
      mode,
      credentials: credentialsOf(
        mode,
        pickAt(cluster.principals, hash(era.seed, 51, index)),
        keyOf(keys, cluster),
      ),
    };
  });
}

function keyOf(keys: ReadonlyMap<string, readonly ApiKey[]>, cluster: SimulatedCluster): string {
  return keys.get(cluster.id)?.find(({ deleted }) => deleted === undefined)?.id ?? "KEYGONE";
}

function credentialsOf(
  mode: AuthMode,
  account: SimulatedIdentity,
  key: string,
): Readonly<Record<string, string>> {
  const withKey = { "kafka.auth.mode": "KAFKA_API_KEY" };
  const withAccount = { "kafka.auth.mode": "SERVICE_ACCOUNT" };
  switch (mode) {
    case "service_account":
      return { ...withAccount, "kafka.service.account.id": account.id };
    case "api_key":
      return { ...withKey, "kafka.api.key": key };
    case "masked_api_key":
      return { ...withKey, "kafka.api.key": "****************" };
    case "unknown_api_key":
      return { ...withKey, "kafka.api.key": "KEYOFOTHERS" };
    case "service_account_without_id":
      return withAccount;
    case "api_key_without_mode":
      return { "kafka.api.key": key };
    case "service_account_without_mode":
      return { "kafka.service.account.id": account.id };
    case "api_key_without_key":
      return withKey;
    case "none":
      return {};
  }
}
