/**
 * Identities that could be charged for a resource on a day, besides those in metrics:
 * - `resource_active`: owners of the API keys that are bound to a Kafka cluster or schema registry, owners of the
 * statements of a compute pool;
 * - `owner`: the one identity that is responsible for a connector or a ksqlDB cluster;
 * - `tenant_period`: all service accounts, users and identity pools of the organisation.
 *
 * They are chosen by lifetime from the stored inventory. So a set of a past day stays the same if a key, a statement or
 * an account is deleted today, and the day is not recalculated. The same applies if a connector or a ksqlDB cluster
 * changes its owner: a day has the owner that was known at its end.
 */
import { type DayRange, daysOfWindow } from "../../../common/days.js";
import type { IdentitySetMember, WindowSink } from "../../ecosystem.js";
import type { KnownIdentity, KnownInventory } from "../../known.js";
import { type BilledResources, billedOn } from "./billed.js";
import type { ProductFamily } from "./costs/product-types.js";
import { inventoryText } from "./inventory/fields.js";
import { existedDuring, type Span, spanOfDay, stateAtEnd } from "./lifetimes.js";
import { indexOwners, ownerTypes } from "./owners.js";
import { indexStatements, statementOwner } from "./statements.js";

const KEYED: readonly ProductFamily[] = [
  "kafka_network_read",
  "kafka_network_write",
  "kafka_partition",
  "kafka_base",
  "kafka_cku",
  "cluster_extra",
  "schema_registry",
];
const OWNED: readonly ProductFamily[] = ["connector_tasks", "connector_capacity", "ksqldb"];
const POOLS: readonly ProductFamily[] = ["flink"];

const BATCH = 10_000;

export interface IdentitySetsInput {
  readonly billed: BilledResources;
  readonly window: DayRange;
  readonly known: KnownInventory;
}

export async function writeIdentitySets(
  { billed, window, known }: IdentitySetsInput,
  sink: Pick<WindowSink, "identitySets">,
  signal: AbortSignal,
): Promise<void> {
  const membersOn = memberFinder(billed, known);
  let batch: IdentitySetMember[] = [];
  for (const day of daysOfWindow(window)) {
    signal.throwIfAborted();
    for (const member of membersOn(day)) {
      batch.push(member);
      if (batch.length < BATCH) continue;
      await sink.identitySets(batch);
      batch = [];
    }
  }
  if (batch.length > 0) await sink.identitySets(batch);
}

function memberFinder(billed: BilledResources, known: KnownInventory) {
  const owners = indexOwners(known);
  const statements = indexStatements(known);
  const resources = new Map(known.resources.map((resource) => [resource.resource_id, resource]));
  const keys = keysByResource(known.identities);
  const accounts = known.identities.filter(({ identity_type }) => ownerTypes.has(identity_type));

  const keyOwners = (resourceId: string, day: Span) =>
    (keys.get(resourceId) ?? []).filter((key) => existedDuring(key, day)).map(owners.ofKey);
  const ownerOn = (id: string, day: Span) => {
    const resource = resources.get(id);
    return resource && owners.ofResource(stateAtEnd(resource, day));
  };
  const statementOwners = (pool: string, day: Span) => statements.ofPool(pool, day).map(statementOwner);

  return function* membersOn(day: string): Generator<IdentitySetMember> {
    const span = spanOfDay(day);
    const set = (
      scope: IdentitySetMember["scope"],
      resource_id: string,
      ids: readonly (string | undefined)[],
    ) =>
      [...new Set(ids)]
        .filter((id) => id !== undefined)
        .map((identity_id) => ({ day, scope, resource_id, identity_id }));
    for (const id of billedOn(billed, day, KEYED)) yield* set("resource_active", id, keyOwners(id, span));
    for (const id of billedOn(billed, day, POOLS))
      yield* set("resource_active", id, statementOwners(id, span));
    for (const id of billedOn(billed, day, OWNED)) yield* set("owner", id, [ownerOn(id, span)]);
    // Configured rules may divide any line among all identities.
    if (!billed.has(day)) return;
    const present = accounts.filter((account) => existedDuring(account, span));
    yield* set(
      "tenant_period",
      "",
      present.map(({ identity_id }) => identity_id),
    );
  };
}

function keysByResource(identities: readonly KnownIdentity[]): ReadonlyMap<string, readonly KnownIdentity[]> {
  const keys = new Map<string, KnownIdentity[]>();
  for (const identity of identities) {
    const resource =
      identity.identity_type === "api_key" ? inventoryText(identity.metadata, "resource_id") : null;
    if (resource === null) continue;
    const bound = keys.get(resource);
    if (bound === undefined) keys.set(resource, [identity]);
    else bound.push(identity);
  }
  return keys;
}
