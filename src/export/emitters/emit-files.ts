import { addDays } from "../../common/days.js";
import { emitterName, type FileEmitter, type FilePipeline } from "../../config/settings/emitters.js";
import { runStatement } from "../../postgres/statement.js";
import { errorText } from "../../stores/error-text.js";
import { csvDestination } from "./csv/destination.js";
import type { Destination, OpenDestination } from "./destination.js";
import type { Emission } from "./emission.js";
import { fileLayouts } from "./file-layout.js";
import { focusDestination } from "./focus/destination.js";
import { type EmissionPlan, type PlannedFile, planEmission } from "./plan.js";
import { deleteEmission, otherEmissionWithFile } from "./sql/delete-emissions.js";
import { type EmissionKey, type EmissionRecord, emissionRecords } from "./sql/emission-records.js";
import { type EmittableDay, emittableDays } from "./sql/emittable-days.js";
import { recordEmitted, recordFailed } from "./sql/record-emission.js";

export interface EmittedFiles {
  readonly written: number;
  readonly removed: number;
  readonly failed: readonly { readonly firstDay: string; readonly message: string }[];
}

/** The files of one pipeline of one emitter. */
interface Job {
  readonly emission: Emission;
  readonly emitter: FileEmitter;
  readonly pipeline: FilePipeline;
  readonly key: EmissionKey;
  readonly destination: Destination;
}

/** Writes and removes the files that the plan requires. Throws only if the run is aborted. */
export async function emitFiles(
  emission: Emission,
  emitter: FileEmitter,
  pipeline: FilePipeline,
): Promise<EmittedFiles> {
  const { postgres, tenantName } = emission;
  const destination =
    emitter.type === "csv"
      ? csvDestination(emission, emitter, pipeline)
      : focusDestination(emission, emitter);
  const { span } = destination;
  const key = { tenantName, emitter: emitterName(emitter), pipeline };
  const job: Job = { emission, emitter, pipeline, key, destination };
  const plan = await planOf(job);
  if (plan.write.length + plan.remove.length === 0) return { written: 0, removed: 0, failed: [] };
  let target: OpenDestination;
  try {
    target = await destination.open();
  } catch (error) {
    const message = errorText(error);
    const firstDays = plan.write.map((file) => file.firstDay);
    await runStatement(postgres, recordFailed(key, { span, firstDays, error: message }));
    // Also report files that should have been removed. Nothing else would show that they still exist.
    const notRemovedDays = plan.remove.map((record) => record.first_day);
    const failed = [...notRemovedDays, ...firstDays].map((firstDay) => ({ firstDay, message }));
    return { written: 0, removed: 0, failed };
  }
  try {
    return await executePlan(job, target, plan);
  } finally {
    await target.close();
  }
}

async function executePlan(
  job: Job,
  target: OpenDestination,
  { write, remove }: EmissionPlan,
): Promise<EmittedFiles> {
  const { signal } = job.emission;
  const failed: { firstDay: string; message: string }[] = [];
  const attempt = async (firstDay: string, work: () => Promise<void>) => {
    signal.throwIfAborted();
    try {
      await work();
    } catch (error) {
      signal.throwIfAborted();
      failed.push({ firstDay, message: errorText(error) });
    }
  };
  for (const record of remove) await attempt(record.first_day, () => removeEmitted(job, target, record));
  const notRemoved = failed.length;
  for (const file of write) await attempt(file.firstDay, () => writeEmitted(job, target, file));
  const written = write.length - (failed.length - notRemoved);
  return { written, removed: remove.length - notRemoved, failed };
}

async function planOf({ emission, emitter, pipeline, key, destination }: Job): Promise<EmissionPlan> {
  const { postgres, tenantName, tenantId, today, keepFrom } = emission;
  const { ledger } = fileLayouts[pipeline];
  const days = await runStatement<EmittableDay>(postgres, emittableDays({ ledger, tenantName }));
  const records = await runStatement<EmissionRecord>(postgres, emissionRecords(key));
  const { lookback_days, params } = emitter;
  return planEmission({
    span: destination.span,
    settings: [tenantId, ...destination.settings],
    days: days.rows,
    records: records.rows,
    keepFrom: keepFrom[pipeline],
    waitFrom: params.provisional === "wait" ? emission.gatheredFrom : undefined,
    from: lookback_days === undefined ? keepFrom[pipeline] : addDays(today, -lookback_days),
  });
}

async function writeEmitted(job: Job, target: OpenDestination, planned: PlannedFile): Promise<void> {
  const { emission, key, destination } = job;
  const { postgres, signal } = emission;
  const { span } = destination;
  const { firstDay, contentHash, before } = planned;
  await emission.onFile(firstDay);
  try {
    const { file, bytes, otherName } = await target.write(planned);
    await runStatement(postgres, recordEmitted(key, { span, firstDay, contentHash, file, bytes }));
    // The name may have belonged to another tenant, which may just have removed the file without knowing of its new
    // owner.
    if ((await target.isThere?.(file)) === false)
      throw new Error(`${file} was removed at the same moment: the next run writes it again`);
    const formerFiles = new Set([before?.file ?? file, otherName ?? file]);
    formerFiles.delete(file);
    for (const each of formerFiles)
      await removeUnlessReused(job, target, { span, first_day: firstDay, file: each });
  } catch (error) {
    signal.throwIfAborted();
    await runStatement(postgres, recordFailed(key, { span, firstDays: [firstDay], error: errorText(error) }));
    throw error;
  }
}

async function removeEmitted(job: Job, target: OpenDestination, record: EmissionRecord): Promise<void> {
  await removeUnlessReused(job, target, record);
  await runStatement(job.emission.postgres, deleteEmission(job.key, record));
}

/**
 * Removes a file, unless another emission has the same path. A file of former settings may have a name that is in use
 * again.
 */
async function removeUnlessReused(
  job: Job,
  target: OpenDestination,
  record: Pick<EmissionRecord, "span" | "first_day" | "file">,
): Promise<void> {
  if (record.file === null) return;
  const other = await runStatement(
    job.emission.postgres,
    otherEmissionWithFile(record.file, job.key, record),
  );
  if (other.rowCount === 0) await target.remove(record.file);
}
