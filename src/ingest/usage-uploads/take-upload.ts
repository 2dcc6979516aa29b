/** Takes one upload of usage: all of it begins to count at the same moment, or nothing of it is kept. */
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { dropNumberedPartition } from "../../clickhouse/partitions.js";
import { runStatement } from "../../postgres/statement.js";
import { type Interruption, withTransaction } from "../../postgres/transaction.js";
import { RefusedUploadError } from "./columns.js";
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
  /** Idempotency key: a repeated upload has the same one. */
  readonly key: string;
  readonly origin: UploadOrigin;
  /** Name of a file in the folder. If it is taken again with the same bytes, it takes no days from other uploads. */
  readonly file?: string;
  /** The caller gets it read to its end, or destroyed. */
  readonly body: Readable;
  /** First day that runs gather. */
  readonly gatheredFrom: string;
}

/** The key was used before for other bytes. */
export class KeyReusedError extends Error {
  override readonly name = "KeyReusedError";
}

/** Loading took so long that a run has cleaned the upload up. */
export class UploadTookTooLongError extends Error {
  override readonly name = "UploadTookTooLongError";
}

/**
 * Replaces the usage of the days and metrics that the file has rows of. An upload with a known key is not taken again;
 * the result is the stored one. Throws `RefusedUploadError`, `UploadTooLargeError`, `KeyReusedError`,
 * `UploadTookTooLongError` and what the stream and the stores throw.
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
  const [started] = (await runStatement<{ upload_id: string }>(postgres, beginUpload(key))).rows;
  if (started === undefined) throw new Error("an upload without a number");
  const { upload_id: uploadId } = started;
  let loaded: LoadedUpload | undefined;
  try {
    loaded = await loadUpload(store.client, { uploadId, body: upload.body }, limits, stop.signal);
    const { gatheredFrom, file } = upload;
    return await makeCount(store, { uploadId, loaded, gatheredFrom }, file, stop);
  } catch (error) {
    await discard(
      store,
      uploadId,
      error instanceof RefusedUploadError && upload.origin === "folder" ? error : undefined,
    );
    if (loaded === undefined || !isKeyTaken(error)) throw error;
    // Another request with the same key was faster.
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
      if (stored === undefined) throw new UploadTookTooLongError("the upload took too long");
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
 * Discards an upload. If a store is down, the next run cleans up. The record is deleted first, because only it can show
 * whether the upload counts.
 */
async function discard(
  { client, postgres }: UploadStore,
  uploadId: string,
  refusal: RefusedUploadError | undefined,
): Promise<void> {
  const forget = refusal === undefined ? forgetUpload(uploadId) : refuseUpload(uploadId, refusal.problems);
  try {
    const { rowCount } = await runStatement(postgres, forget);
    if (rowCount === 1) await dropNumberedPartition(client, UPLOADS_TABLE, uploadId);
  } catch {
    // The next clean-up finds it.
  }
}

function sameUpload({ content_digest, problems, upload }: RecordedUpload, digest: string): StoredUpload {
  if (problems.length > 0) throw new RefusedUploadError(problems);
  if (content_digest !== digest) throw new KeyReusedError("the key stands for another upload");
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
