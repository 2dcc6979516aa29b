/**
 * Gathers the current inventory of an organisation.
 *
 * Environments and clusters come first, because all other requests need them; without them, the gathering fails. The
 * others run in parallel. If one of them fails, only entities of its types cannot be marked as deleted.
 */
import pLimit from "p-limit";
import type { Logger } from "pino";
import { allOrStop } from "../../../../common/all-or-stop.js";
import type { InventorySink } from "../../../ecosystem.js";
import type { KnownInventory } from "../../../known.js";
import type { InventoryReport } from "../../../reports.js";
import type { ConfluentApi } from "../api/client.js";
import { indexOwners } from "../owners.js";
import { gatherConnectors } from "./connectors.js";
import {
  gatherClusters,
  gatherEnvironments,
  gatherKsqlClusters,
  gatherSchemaRegistries,
} from "./environments.js";
import { type FlinkRegions, gatherFlink } from "./flink.js";
import { gatherApiKeys, gatherIdentityProviders, gatherServiceAccounts, gatherUsers } from "./identities.js";
import type { Listing } from "./listing.js";
import { createTally } from "./tally.js";

/** Lists that are read in parallel. The client paces the requests. */
const PARALLEL_LISTS = 8;

/** Throws if environments or clusters cannot be listed. */
export async function gatherConfluentInventory(
  connection: {
    readonly cloud: ConfluentApi;
    readonly flink: FlinkRegions;
    known(signal: AbortSignal): Promise<KnownInventory>;
  },
  sink: InventorySink,
  signal: AbortSignal,
  logger: Logger,
): Promise<InventoryReport> {
  const stop = new AbortController();
  const stopSignal = AbortSignal.any([signal, stop.signal]);
  const tally = createTally(stopSignal);
  const listing: Listing = {
    cloud: connection.cloud,
    sink,
    tally,
    limit: pLimit(PARALLEL_LISTS),
    stop,
    signal: stopSignal,
  };
  const environments = await gatherEnvironments(listing);
  const clusters = await gatherClusters(listing, environments);
  const keys = gatherApiKeys(listing);
  const connectors = async () => {
    // The stored inventory has the owners of keys that are no longer listed, or whose list failed.
    const known = await connection.known(stopSignal);
    const identities = [...known.identities, ...(await keys)];
    await gatherConnectors(listing, clusters, indexOwners({ identities }));
  };
  const work = [
    gatherSchemaRegistries(listing, environments),
    gatherKsqlClusters(listing, environments),
    connectors(),
    gatherServiceAccounts(listing),
    gatherUsers(listing),
    keys,
    gatherIdentityProviders(listing),
    gatherFlink(listing, connection.flink, environments).then(({ poolsWithoutKey }) => {
      if (poolsWithoutKey.length === 0) return;
      logger.info(
        { pools: poolsWithoutKey.length, first: poolsWithoutKey[0] },
        "compute pools of regions without a Flink key: their statements and the statements' owners are unknown",
      );
    }),
  ];
  await allOrStop(stop, work);
  return tally.report();
}
