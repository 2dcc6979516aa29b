import { emitterName, type FileEmitter, type FilePipeline, filePipelinesOf } from "../config/emitters.js";
import { runStatement } from "../store/postgres/statement.js";
import type { Emission, EmissionFailure } from "./emission.js";
import { emitFiles } from "./emit-files.js";
import { forgetUnconfigured } from "./sql/forget-emissions.js";

/**
 * Brings the files of a tenant's emitters up to date with what is published. An emitter that fails concerns no other one, and
 * tries again in the next run; only an abort ends the whole. Returns what failed.
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
  await runStatement(postgres, forgetUnconfigured({ tenantName, configured, keepFrom: keepFrom.chargeback }));
  return failures;
}

/** One failed file is told as such; several in one sentence, since they mostly have one cause. */
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
  const who = `emitter ${name} (${pipeline})`;
  if (failed.length === 1) return [{ date: first.firstDay, message: `${who}: ${first.message}` }];
  const days = `${failed.length} files, the first of ${first.firstDay}`;
  return [{ date: null, message: `${who} failed for ${days}: ${first.message}` }];
}
