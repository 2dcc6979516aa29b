/** Takes one upload of usage: all of it counts from one moment on, or nothing of it is kept. */
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { dropNumberedPartition } from "../../store/clickhouse/partitions.js";
import { runStatement } from "../../store/postgres/statement.js";
import { type Interruption, withTransaction } from "../../store/postgres/transaction.js";
import { RefusedUpload } from "./columns.js";
import { type LoadedUpload, loadUpload, measuredBytes, type UploadLimits } from "./load.js";
import {
  beginUpload,
  forgetUpload,
  latestOfFile,
  type RecordedUpload,
  readByKey,
  refuseUpload,
  type StoredUpload,
  storeUpload,
  takeOver,
  takeOverFrom,
  type UploadKey,
  type UploadOrigin,
} from "./records.js";

export const UPLOADS_TABLE = "usage_uploads";

export interface UploadStore {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
}

export interface UsageUpload {
  /** The same upload again has the same. */
  readonly key: string;
  readonly origin: UploadOrigin;
  /** Of a file in the folder: the same bytes under the same name once more say nothing new, and take nothing from another upload. */
  readonly file?: string;
  /** Read to its end, or destroyed. */
  readonly body: Readable;
  /** First day that runs gather. */
  readonly gatheredFrom: string;
}

/** The key stands for other bytes. */
export class KeyReused extends Error {
  override readonly name = "KeyReused";
}

/** Loading took so long that a run has cleaned it up. */
export class UploadTookTooLong extends Error {
  override readonly name = "UploadTookTooLong";
}

/**
 * Takes over the days and metrics that the file has rows of. What was taken before under the key is not taken again: it is returned as
 * it was. Throws `RefusedUpload`, `UploadTooLarge`, `KeyReused`, `UploadTookTooLong` and what the stream and the stores throw.
 */
export async function takeUpload(
  store: UploadStore,
  upload: UsageUpload,
  limits: UploadLimits,
  stop: Interruption,
): Promise<StoredUpload> {
  const { postgres, tenantName } = store;
  const key = { tenantName, origin: upload.origin, key: upload.key };
  const before = await recordedUpload(postgres, key);
  if (before !== undefined)
    return sameUpload(before, await digestOf(upload.body, limits.maxBytes, stop.signal));
  const [begun] = (await runStatement<{ upload_id: string }>(postgres, beginUpload(key))).rows;
  if (begun === undefined) throw new Error("an upload without a number");
  const { upload_id: uploadId } = begun;
  let loaded: LoadedUpload | undefined;
  try {
    loaded = await loadUpload(store.client, { uploadId, body: upload.body }, limits, stop.signal);
    const { gatheredFrom, file } = upload;
    return await makeCount(store, { uploadId, loaded, gatheredFrom }, file, stop);
  } catch (error) {
    await discard(
      store,
      uploadId,
      error instanceof RefusedUpload && upload.origin === "folder" ? error : undefined,
    );
    if (loaded === undefined || !isKeyTaken(error)) throw error;
    // Another request with the same key was quicker.
    const other = await recordedUpload(postgres, key);
    if (other === undefined) throw error;
    return sameUpload(other, loaded.digest);
  }
}

async function recordedUpload(postgres: Pool, key: UploadKey): Promise<RecordedUpload | undefined> {
  return (await runStatement<RecordedUpload>(postgres, readByKey(key))).rows[0];
}

async function makeCount(
  { postgres, tenantName }: UploadStore,
  finishedUpload: Parameters<typeof storeUpload>[0],
  file: string | undefined,
  stop: Interruption,
): Promise<StoredUpload> {
  const { uploadId, loaded } = finishedUpload;
  return await withTransaction(
    postgres,
    async (on) => {
      const [before] =
        file === undefined
          ? []
          : (
              await runStatement<{ upload_id: string; content_digest: string }>(
                on,
                latestOfFile(tenantName, file),
              )
            ).rows;
      const [stored] = (await runStatement<{ upload: StoredUpload }>(on, storeUpload(finishedUpload))).rows;
      if (stored === undefined) throw new UploadTookTooLong("the upload took too long");
      const take =
        before?.content_digest === loaded.digest
          ? takeOverFrom(tenantName, before.upload_id, uploadId)
          : takeOver(tenantName, uploadId, loaded.covers);
      await runStatement(on, take);
      await stop.record?.(on, { upload_id: stored.upload.upload_id });
      return stored.upload;
    },
    stop,
  );
}

/**
 * What this cannot do, because a store is away, the next run does. The record comes first: when it is unknown whether the upload counts,
 * only it can say.
 */
async function discard(
  { client, postgres }: UploadStore,
  uploadId: string,
  refusal: RefusedUpload | undefined,
): Promise<void> {
  const forget = refusal === undefined ? forgetUpload(uploadId) : refuseUpload(uploadId, refusal.problems);
  try {
    const { rowCount } = await runStatement(postgres, forget);
    if (rowCount === 1) await dropNumberedPartition(client, UPLOADS_TABLE, uploadId);
  } catch {
    // Whoever cleans up finds it.
  }
}

function sameUpload({ content_digest, problems, upload }: RecordedUpload, digest: string): StoredUpload {
  if (problems.length > 0) throw new RefusedUpload(problems);
  if (content_digest !== digest) throw new KeyReused("the key stands for another upload");
  return upload;
}

async function digestOf(body: Readable, maxBytes: number, signal: AbortSignal): Promise<string> {
  const { bytes, sums } = measuredBytes(body, maxBytes);
  await finished(bytes.resume(), { signal, cleanup: true });
  return sums().digest;
}

const UNIQUE_VIOLATION = "23505";

function isKeyTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === UNIQUE_VIOLATION;
}
