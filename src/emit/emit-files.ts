import { fileNameOf } from "../config/emitted-file.js";
import { type CsvEmitter, emitterName, type FilePipeline } from "../config/emitters.js";
import { errorText } from "../store/clickhouse/error-text.js";
import { LeaseLostError } from "../store/lease-lost.js";
import { runStatement } from "../store/postgres/statement.js";
import { addDays } from "../time/days.js";
import { csvBytes } from "./csv/content.js";
import { type OutputFolder, openOutputFolder, removeFile, replaceFile } from "./csv/output-folder.js";
import type { Emission } from "./emission.js";
import { fileLayouts } from "./file-layout.js";
import { type PlannedFile, planEmission } from "./plan.js";
import { type EmissionKey, type EmissionRecord, emissionRecords } from "./sql/emission-records.js";
import { type EmittableDay, emittableDays } from "./sql/emittable-days.js";
import { forgetEmission, otherEmissionOf } from "./sql/forget-emissions.js";
import { holdsLease } from "./sql/holds-lease.js";
import { noteEmitted, noteFailed } from "./sql/note-emission.js";

export interface EmittedFiles {
  readonly written: number;
  readonly removed: number;
  readonly failed: readonly { readonly firstDay: string; readonly message: string }[];
}

/** The files of one pipeline of one emitter. */
interface Job {
  readonly emission: Emission;
  readonly emitter: CsvEmitter;
  readonly pipeline: FilePipeline;
  readonly key: EmissionKey;
  readonly span: "day" | "month";
}

/** Writes and removes what is to be, and nothing else. Throws only when the run is over. */
export async function emitFiles(
  emission: Emission,
  emitter: CsvEmitter,
  pipeline: FilePipeline,
): Promise<EmittedFiles> {
  const { postgres, tenantName, signal } = emission;
  const span = emitter.aggregation === "monthly" ? "month" : "day";
  const key = { tenantName, emitter: emitterName(emitter), pipeline };
  const job: Job = { emission, emitter, pipeline, key, span };
  const { write, remove } = await planOf(job);
  const failed: { firstDay: string; message: string }[] = [];
  let folder: OutputFolder;
  if (write.length + remove.length === 0) return { written: 0, removed: 0, failed };
  try {
    folder = await openOutputFolder(emitter.params.output_dir, tenantName);
  } catch (error) {
    const message = errorText(error);
    const firstDays = write.map((file) => file.firstDay);
    await runStatement(postgres, noteFailed(key, { span, firstDays, error: message }));
    return { written: 0, removed: 0, failed: firstDays.map((firstDay) => ({ firstDay, message })) };
  }
  const attempt = async (firstDay: string, work: () => Promise<void>) => {
    signal.throwIfAborted();
    try {
      await work();
    } catch (error) {
      signal.throwIfAborted();
      failed.push({ firstDay, message: errorText(error) });
    }
  };
  for (const record of remove) await attempt(record.first_day, () => removeEmitted(job, folder, record));
  const notRemoved = failed.length;
  for (const file of write) await attempt(file.firstDay, () => writeEmitted(job, folder, file));
  const written = write.length - (failed.length - notRemoved);
  return { written, removed: remove.length - notRemoved, failed };
}

async function planOf({ emission, emitter, pipeline, key, span }: Job) {
  const { postgres, tenantName, today, keepFrom } = emission;
  const { ledger } = fileLayouts[pipeline];
  const days = await runStatement<EmittableDay>(postgres, emittableDays({ ledger, tenantName }));
  const records = await runStatement<EmissionRecord>(postgres, emissionRecords(key));
  const { aggregation = null, lookback_days, params } = emitter;
  return planEmission({
    span,
    settings: [emission.tenantId, key.emitter, pipeline, aggregation, params],
    days: days.rows,
    records: records.rows,
    keepFrom: keepFrom[pipeline],
    waitFrom: params.provisional === "wait" ? emission.gatheredFrom : undefined,
    from: lookback_days === undefined ? keepFrom[pipeline] : addDays(today, -lookback_days),
  });
}

async function writeEmitted(job: Job, folder: OutputFolder, planned: PlannedFile): Promise<void> {
  const { emission, emitter, pipeline, key, span } = job;
  const { client, postgres, signal } = emission;
  const { firstDay, lastDay, contentHash, before, provisional } = planned;
  await emission.onFile(firstDay);
  const sums = emitter.aggregation === undefined ? undefined : span;
  const { raw } = emitter.params;
  const content = { layout: fileLayouts[pipeline], sums, firstDay, lastDay, raw };
  try {
    const { file, bytes } = await replaceFile(folder, {
      name: fileNameOf(emitter, { ...emission, pipeline, firstDay, provisional }),
      content: csvBytes(client, content, signal),
      beforeReplacing: () => checkLease(emission),
      signal,
    });
    await runStatement(postgres, noteEmitted(key, { span, firstDay, contentHash, file, bytes }));
    if (before?.file && before.file !== file) await removeUnlessTaken(job, folder, before);
  } catch (error) {
    signal.throwIfAborted();
    await runStatement(postgres, noteFailed(key, { span, firstDays: [firstDay], error: errorText(error) }));
    throw error;
  }
}

async function removeEmitted(job: Job, folder: OutputFolder, record: EmissionRecord): Promise<void> {
  await removeUnlessTaken(job, folder, record);
  await runStatement(job.emission.postgres, forgetEmission(job.key, record));
}

/** A file of former settings may have the name that another emitter uses now. */
async function removeUnlessTaken(job: Job, folder: OutputFolder, record: EmissionRecord): Promise<void> {
  if (record.file === null) return;
  const other = await runStatement(job.emission.postgres, otherEmissionOf(record.file, job.key, record));
  if (other.rowCount === 0) await removeFile(folder, record.file);
}

/** A worker that was held up may have lost the tenant to another one, which may have written a newer file. */
async function checkLease({ postgres, tenantName, epoch }: Emission): Promise<void> {
  const held = await runStatement(postgres, holdsLease({ tenantName, epoch }));
  if (held.rowCount === 0) throw new LeaseLostError(epoch);
}
