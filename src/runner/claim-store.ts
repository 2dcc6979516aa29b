import { shownInResult } from "../config/shown-in-result.js";
import { newestStagedEpoch } from "../store/clickhouse/staging.js";
import { checkFacts, type DifferingDay } from "../store/facts/check-facts.js";
import { checkStoreIdentity, takeOwnership } from "../store/facts/store-identity.js";
import { recordPublishedDays } from "../store/facts/store-state.js";
import { ledgerNames } from "../store/ledger.js";
import { runStatement } from "../store/postgres/statement.js";
import type { TenantStore } from "../store/stores.js";
import { daysInWords } from "../time/days.js";
import type { Lease } from "./lease.js";
import type { BegunRun } from "./run-context.js";
import { takeOverHeld } from "./sql/lost-days.js";
import { forgetGather } from "./sql/tenants.js";

export interface RetentionStarts {
  readonly chargebacks: string;
  readonly topic_attributions: string;
}

/**
 * Before a run touches anything: whether this version still knows the schema of the stores, and whether the store is the tenant's and holds what Postgres says of it. A store in use by another host is
 * refused; one that was lost, exchanged or set back is taken as it is, and what it lacks is calculated anew, since nothing counts as
 * published any more. Returns what is worth knowing, as sentences.
 */
export async function claimStore(
  run: BegunRun,
  store: TenantStore,
  lease: Lease,
  keepFrom: RetentionStarts,
): Promise<string[]> {
  const { postgres, owners } = run.stores;
  const { client, tenantName } = store;
  const own = { store, postgres, owners };
  await store.refuseNewerSchema();
  const seen = await checkStoreIdentity(own);
  const staged = await newestStagedEpoch(client);
  // Where the lease is lost to that epoch, the claim of the staging tables says so.
  if (staged > lease.epoch) await lease.raise(staged, run.runId);
  const { epoch } = lease;
  const { differing, agreeing } = await checkFacts({ client, postgres, tenantName, keepFrom });
  if (seen.verdict === "first" && seen.storeId === null) {
    for (const ledger of ledgerNames)
      await recordPublishedDays(client, {
        ledger,
        epoch,
        days: agreeing.filter((day) => day.ledger === ledger),
      });
  }
  await takeOwnership(own, seen);
  for (const ledger of ledgerNames) {
    const days = differing.filter((day) => day.ledger === ledger);
    if (days.length > 0) await runStatement(postgres, takeOverHeld({ ledger, tenantName, epoch, days }));
  }
  // They are gathered now, whatever the gap between gathers.
  if (differing.length > 0) await runStatement(postgres, forgetGather(tenantName));
  const notes = [
    ...(seen.verdict === "replaced"
      ? [`the store is another one than in the last run, or was emptied: ${store.location.name}`]
      : []),
    ...describe(differing),
  ];
  for (const note of notes)
    run.logger.error({ [shownInResult]: true, tenant: tenantName }, `Tenant ${tenantName}: ${note}`);
  return notes;
}

function describe(differing: readonly DifferingDay[]): string[] {
  const sentence = (days: readonly DifferingDay[], what: string) => {
    const names = [...new Set(days.map(({ day }) => day))].sort();
    return names.length === 0 ? [] : [`${daysInWords(names)}: ${what}`];
  };
  return [
    ...sentence(
      differing.filter(({ stored }) => stored === undefined),
      "published, and lost by the store: calculated anew where they are still gathered",
    ),
    ...sentence(
      differing.filter(({ stored }) => stored !== undefined),
      "the store holds another state than Postgres: it counts as published, and what has changed since is calculated anew",
    ),
  ];
}
