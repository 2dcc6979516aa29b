import { newestStagedEpoch } from "../clickhouse/staging.js";
import { daysInWords } from "../common/days.js";
import { shownInResult } from "../common/shown-in-result.js";
import { ledgerNames } from "../domain/ledger.js";
import { runStatement } from "../postgres/statement.js";
import { checkFacts, type DifferingDay } from "../stores/facts/check-facts.js";
import { checkStoreIdentity, takeOwnership } from "../stores/facts/store-identity.js";
import { recordPublishedDays } from "../stores/facts/store-state.js";
import type { TenantStore } from "../stores/stores.js";
import type { Lease } from "./lease.js";
import type { BegunRun } from "./run-context.js";
import { correctDifferingDays } from "./sql/lost-days.js";
import { resetGather } from "./sql/tenants.js";

export interface RetentionStarts {
  readonly chargebacks: string;
  readonly topic_attributions: string;
}

/**
 * Checks the store before a run changes anything: that this version knows its schema, that it belongs to the tenant,
 * and that its contents match the records in Postgres. A store in use by another host is refused. A store that was
 * lost, exchanged or set back is accepted as it is: its missing days no longer count as published and are recalculated.
 * Returns notes as sentences.
 */
export async function claimStore(
  run: BegunRun,
  store: TenantStore,
  lease: Lease,
  keepFrom: RetentionStarts,
): Promise<string[]> {
  const { postgres, owners } = run.stores;
  const { client, tenantName } = store;
  const ownership = { store, postgres, owners };
  await store.refuseNewerSchema();
  const identity = await checkStoreIdentity(ownership);
  const staged = await newestStagedEpoch(client);
  // If the lease was lost to that epoch, claiming the staging tables reports it.
  if (staged > lease.epoch) await lease.raise(staged, run.runId);
  const { epoch } = lease;
  const { differing, agreeing } = await checkFacts({ client, postgres, tenantName, keepFrom });
  if (identity.verdict === "first" && identity.storeId === null) {
    for (const ledger of ledgerNames)
      await recordPublishedDays(client, {
        ledger,
        epoch,
        days: agreeing.filter((day) => day.ledger === ledger),
      });
  }
  await takeOwnership(ownership, identity);
  for (const ledger of ledgerNames) {
    const days = differing.filter((day) => day.ledger === ledger);
    if (days.length > 0)
      await runStatement(postgres, correctDifferingDays({ ledger, tenantName, epoch, days }));
  }
  // Gather these days now, regardless of the minimum gap between gathers.
  if (differing.length > 0) await runStatement(postgres, resetGather(tenantName));
  const notes = [
    ...(identity.verdict === "replaced"
      ? [`the store is not that of the last run, or was emptied: ${store.location.name}`]
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
      "published, and lost by the store: recalculated if they are still gathered",
    ),
    ...sentence(
      differing.filter(({ stored }) => stored !== undefined),
      "the store has another state than Postgres: it counts as published, and days that changed since are " +
        "recalculated",
    ),
  ];
}
