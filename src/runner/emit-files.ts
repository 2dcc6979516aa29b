import type { Publication } from "../allocate/allocation-job.js";
import { fileEmitters } from "../config/settings/emitters.js";
import { emitResults } from "../export/emitters/emit-results.js";
import type { RunProgress } from "./progress.js";
import type { BegunRun } from "./run-context.js";

/**
 * The last stage: writes the files of the tenant's emitters. A failure is an error of the run, which has published
 * everything by then.
 */
export async function emitTenantFiles(
  { tenant, logger }: BegunRun,
  input: {
    readonly publication: Publication;
    readonly today: string;
    readonly keepFrom: string;
    readonly keepAttributionsFrom: string;
    readonly gatheredFrom: string;
    readonly stage: (name: string, day: string | null) => Promise<void>;
    readonly progress: RunProgress;
  },
): Promise<void> {
  const { publication, today, gatheredFrom, stage, progress } = input;
  publication.signal.throwIfAborted();
  const failures = await emitResults({
    ...publication,
    tenantId: tenant.tenant_id,
    today,
    gatheredFrom,
    keepFrom: { chargeback: input.keepFrom, topic_attribution: input.keepAttributionsFrom },
    emitters: fileEmitters(tenant.plugin_settings.emitters),
    logger,
    onFile: (firstDay) => stage("emitting", firstDay),
  });
  for (const failure of failures) progress.errors.push({ ...failure, source: "emit" });
}
