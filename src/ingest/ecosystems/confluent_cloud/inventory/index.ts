/**
 * The inventory of an organisation: who and what there is now.
 *
 * Environments and clusters come first, as everything else is asked for in terms of them; without them the gathering fails as a
 * whole. All others run side by side, and one that fails costs only the proof that things of its types have gone.
 */
import pLimit from "p-limit";
import type { Logger } from "pino";
import { allOrStop } from "../../../all-or-stop.js";
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

/** Lists that are read at once. The pace of the requests is the client's. */
const PARALLEL_LISTS = 8;

/** Throws when environments or clusters cannot be listed. */
export async function gatherInventory(
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
  const either = AbortSignal.any([signal, stop.signal]);
  const tally = createTally(either);
  const listing: Listing = {
    cloud: connection.cloud,
    sink,
    tally,
    limit: pLimit(PARALLEL_LISTS),
    stop,
    signal: either,
  };
  const environments = await gatherEnvironments(listing);
  const clusters = await gatherClusters(listing, environments);
  const keys = gatherApiKeys(listing);
  const connectors = async () => {
    // A key that is not listed any more, or whose list failed, is still remembered by who it belonged to.
    const remembered = await connection.known(either);
    const identities = [...remembered.identities, ...(await keys)];
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
        "compute pools of regions without a Flink key: their statements and the owners of these are not known",
      );
    }),
  ];
  await allOrStop(stop, work);
  return tally.report();
}
