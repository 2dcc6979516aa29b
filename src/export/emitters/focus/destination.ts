/**
 * Writes months of chargebacks as FOCUS datasets: `TENANT/20260501-20260531/RUN/` with the files of the month, and
 * `manifest.json` as the last one. Each write of a month has a run folder of its own, so files that are being read
 * never change. A run without a manifest is incomplete. Runs that a newer run replaces are removed.
 */
import { posix } from "node:path";
import { packageVersion } from "../../../common/project.js";
import { safeName } from "../../../config/settings/emitted-file.js";
import { emitterName, type FocusEmitter, isS3 } from "../../../config/settings/emitters.js";
import { readTrackingDates } from "../../../query/state/tenant-status.js";
import { dateWindow } from "../../../query/time/date-window.js";
import { focusMetadata, uuidOf } from "../../focus/metadata.js";
import { readFocusColumns } from "../../focus/open-focus.js";
import { checkLease } from "../check-lease.js";
import type { Destination, OpenDestination } from "../destination.js";
import type { Emission } from "../emission.js";
import type { PlannedFile } from "../plan.js";
import { bucketStore } from "./bucket-store.js";
import { addedTotals, type Dataset, partBytes, partTotals, spansOfDataset } from "./dataset.js";
import type { FileStore } from "./file-store.js";
import { folderStore } from "./folder-store.js";
import { type ManifestCurrencyTotals, manifestOf, type WrittenPart } from "./manifest.js";

const MANIFEST = "manifest.json";
/** Matches our files of a month, including unfinished files of killed runs. Other files are never removed. */
const RUN_FILE =
  /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(?:manifest\.json|part_\d{4,}\.(?:parquet|csv|csv\.gz)|\.chargehouse-[0-9a-f]{16}-[0-9a-f]{16})$/;

export function focusDestination(emission: Emission, emitter: FocusEmitter): Destination {
  const { tenantName, signal } = emission;
  const { location, format, focus_version, provisional, s3 } = emitter.params;
  return {
    span: "month",
    // The connection settings of the bucket are left out, because they do not affect its contents.
    settings: [emitterName(emitter), "focus", { location, format, focus_version, provisional }],
    async open(): Promise<OpenDestination> {
      const store = isS3(location) ? bucketStore(location, s3) : await folderStore(location, tenantName);
      return {
        write: (planned) => writeMonth({ emission, emitter, store }, planned),
        async remove(file) {
          const name = file.startsWith(store.path) ? file.slice(store.path.length) : "";
          const [, month = "", run] = /^([^/]+\/\d{8}-\d{8})\/([^/]+)\/manifest\.json$/.exec(name) ?? [];
          if (month.startsWith(`${safeName(tenantName)}/`))
            await removeFiles(store, await filesOfRuns(store, month, (each) => each === run, signal), signal);
        },
        close: async () => store.close(),
      };
    },
  };
}

interface Writing {
  readonly emission: Emission;
  readonly emitter: FocusEmitter;
  readonly store: FileStore;
}

async function writeMonth({ emission, emitter, store }: Writing, planned: PlannedFile) {
  const { client, postgres, tenantName, epoch, signal } = emission;
  const { firstDay, lastDay, contentHash, provisional } = planned;
  const { format, focus_version: version } = emitter.params;
  const now = new Date();
  const window = dateWindow({ start_date: firstDay, end_date: lastDay }, 0, now);
  const columns = await readFocusColumns(client, window, version, signal);
  const dataset: Dataset = { window, version, format, columns };
  const month = `${safeName(tenantName)}/${compact(firstDay)}-${compact(lastDay)}`;
  // The epoch makes the id unique to this attempt. Files of a killed attempt have another id.
  const runId = uuidOf([tenantName, emitterName(emitter), contentHash, String(epoch)]);

  // List files before checking the lease, so that files of a worker that takes over later are not included.
  const formerFiles = await filesOfRuns(store, month, (run) => run !== runId, signal);
  await checkLease(emission);
  const { complete, incomplete } = byManifest(formerFiles);
  // Remove incomplete runs first. If a month fails repeatedly, as on a full disk, they would accumulate.
  await removeFiles(store, incomplete, signal);
  const parts: WrittenPart[] = [];
  const totals: ManifestCurrencyTotals[][] = [];
  for (const span of await spansOfDataset(client, window, signal)) {
    const name = `${month}/${runId}/part_${String(parts.length + 1).padStart(4, "0")}.${format}`;
    const written = await store.put({ name, content: partBytes(client, dataset, span, signal) }, signal);
    const partSums = await partTotals(client, dataset, span, signal);
    totals.push(partSums);
    parts.push({ name, ...written, rows: partSums.reduce((sum, { rows }) => sum + rows, 0) });
  }
  const days = await readTrackingDates(postgres, tenantName, window, signal);
  const metadataInput = { tenantName, version, generatorVersion: packageVersion(), columns, days };
  const manifest = manifestOf({
    tenantName,
    emitter: emitterName(emitter),
    runId,
    firstDay,
    lastDay,
    contentHash,
    provisional,
    version,
    format,
    parts,
    totals: addedTotals(totals),
    now: now.toISOString(),
    metadata: focusMetadata({ ...metadataInput, now: now.toISOString() }),
  });
  const name = `${month}/${runId}/${MANIFEST}`;
  const content = [Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)];
  const beforeReplacing = () => checkLease(emission);
  const { bytes } = await store.put({ name, content: chunks(content), beforeReplacing }, signal);
  await removeFiles(store, complete, signal);
  return { file: `${store.path}${name}`, bytes: bytes + manifest.byteCount };
}

async function filesOfRuns(
  store: FileStore,
  month: string,
  isSelected: (run: string) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  return (await store.list(month, signal)).filter((name) => {
    const [, run] = RUN_FILE.exec(name.slice(month.length + 1)) ?? [];
    return run !== undefined && isSelected(run);
  });
}

/** Separates the files of complete runs from those of incomplete runs. */
function byManifest(names: readonly string[]) {
  const complete = new Set(names.filter((name) => name.endsWith(`/${MANIFEST}`)).map(posix.dirname));
  const isWhole = (name: string) => complete.has(posix.dirname(name));
  return { complete: names.filter(isWhole), incomplete: names.filter((name) => !isWhole(name)) };
}

/** Removes manifests first, so that the runs are incomplete from then on. */
async function removeFiles(store: FileStore, names: readonly string[], signal: AbortSignal): Promise<void> {
  const manifests = names.filter((name) => name.endsWith(`/${MANIFEST}`));
  for (const name of [...manifests, ...names.filter((name) => !manifests.includes(name))])
    await store.remove(name, signal);
}

async function* chunks(buffers: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* buffers;
}

function compact(day: string): string {
  return day.replaceAll("-", "");
}
