import {
  emitterName,
  type FileEmitter,
  type FilePipeline,
  filePipelinesOf,
} from "../../config/settings/emitters.js";
import { runStatement } from "../../postgres/statement.js";
import type { Emission, EmissionFailure } from "./emission.js";
import { emitFiles } from "./emit-files.js";
import { deleteUnconfigured } from "./sql/delete-emissions.js";

/**
 * Updates the files of a tenant's emitters to the published data. An emitter that fails does not affect others, and is
 * retried in the next run. Only an abort ends all of them. Returns the failures.
 */
export async function emitResults(emission: Emission): Promise<EmissionFailure[]> {
  const { postgres, tenantName, keepFrom } = emission;
  const failures: EmissionFailure[] = [];
  const jobs = emission.emitters.flatMap((emitter) =>
    filePipelinesOf(emitter).map((pipeline) => ({ emitter, pipeline })),
  );
  for (const { emitter, pipeline } of jobs)
    failures.push(...(await emitPipeline(emission, emitter, pipeline)));
  const configured = jobs.map(({ emitter, pipeline }) => ({ emitter: emitterName(emitter), pipeline }));
  await runStatement(postgres, deleteUnconfigured({ tenantName, configured, keepFrom: keepFrom.chargeback }));
  return failures;
}

/** Reports one failed file by itself, and several in one sentence, because they mostly have the same cause. */
async function emitPipeline(
  emission: Emission,
  emitter: FileEmitter,
  pipeline: FilePipeline,
): Promise<EmissionFailure[]> {
  const { tenantName, logger } = emission;
  const name = emitterName(emitter);
  const { written, removed, failed } = await emitFiles(emission, emitter, pipeline);
  if (written + removed > 0) {
    const message = `Tenant ${tenantName}: emitter ${name} wrote ${written} files, removed ${removed}`;
    logger.info({ tenant: tenantName, emitter: name, pipeline, written, removed }, message);
  }
  const [first] = failed;
  if (first === undefined) return [];
  const label = `emitter ${name} (${pipeline})`;
  if (failed.length === 1) return [{ date: first.firstDay, message: `${label}: ${first.message}` }];
  const days = `${failed.length} files, the first of ${first.firstDay}`;
  return [{ date: null, message: `${label} failed for ${days}: ${first.message}` }];
}
