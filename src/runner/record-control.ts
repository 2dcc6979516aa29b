/** Records the class of each delivered row after the run has published. */
import type { DayRange } from "../common/days.js";
import { readControlReport, replaceAllTotals } from "../ingest/control/record-totals.js";
import type { AnyEcosystem, ControlResult } from "../ingest/ecosystem.js";
import { runStatement } from "../postgres/statement.js";
import { withTransaction } from "../postgres/transaction.js";
import type { TenantStore } from "../stores/stores.js";
import type { RunProgress } from "./progress.js";
import type { BegunRun } from "./run-context.js";

export interface ControlledRun {
  readonly run: BegunRun;
  readonly ecosystem: AnyEcosystem;
  readonly store: TenantStore;
  /** The usual window of the tenant. */
  readonly window: DayRange;
  /** First UTC day within the retention. */
  readonly keepFrom: string;
  /** True if days were published that the progress does not count. */
  readonly published: boolean;
  readonly progress: RunProgress;
}

/** If nothing has changed for the tenant, its totals stay as they are. */
export async function recordControl(
  { run, ecosystem, store, window, keepFrom, published, progress }: ControlledRun,
  signal: AbortSignal,
): Promise<void> {
  if (ecosystem.controlTotals === undefined) return;
  const { postgres } = run.stores;
  const { tenant_name: tenantName, plugin_settings } = run.tenant;
  const isChanged = published || progress.dates_calculated > 0;
  type Report = Omit<ControlResult, "totals">;
  const { rows } = await runStatement<{ control_report: Report | null }>(
    postgres,
    readControlReport(tenantName),
  );
  const last = rows[0]?.control_report ?? undefined;
  const digest = isChanged ? undefined : last?.digest;
  const input = { tenantName, client: store.client, postgres, window, keepFrom, digest };
  const result = await ecosystem.controlTotals(plugin_settings, input, signal);
  if (result !== undefined)
    await withTransaction(postgres, async (on) => {
      for (const statement of replaceAllTotals(tenantName, result)) await runStatement(on, statement);
    });
  const { notes = [], errors = [] } = result ?? last ?? {};
  progress.notes.push(...notes);
  for (const message of errors) progress.errors.push({ date: null, source: "gather", message });
}
