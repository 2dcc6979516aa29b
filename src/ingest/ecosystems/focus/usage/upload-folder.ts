/** Uploads in a folder: each new or changed file is taken once, in the order of their last changes. */
import { LeaseLostError } from "../../../../common/lease-lost.js";
import { runStatement } from "../../../../postgres/statement.js";
import { errorText } from "../../../../stores/error-text.js";
import type { GatherStore } from "../../../ecosystem.js";
import { cleanUpUploads } from "../../../usage-uploads/clean-up.js";
import { problemText, RefusedUploadError, type UploadProblem } from "../../../usage-uploads/columns.js";
import { UploadTooLargeError } from "../../../usage-uploads/load.js";
import { takeUpload } from "../../../usage-uploads/take-upload.js";
import { compareNames } from "../sources/file-names.js";
import type { FileSource, StoredFile } from "../sources/files/file-source.js";
import { folderSource } from "../sources/files/folder.js";
import { type UsageSettings, uploadLimits } from "./settings.js";

export interface FolderReport {
  /** Sentences: a folder that could not be listed, a file that was refused. */
  readonly errors: readonly string[];
  /** Sentences: files that are skipped or wait. */
  readonly warnings: readonly string[];
}

type Store = GatherStore & { readonly tenantName: string };

export interface UploadFolder {
  takeFiles(store: Store, signal: AbortSignal): Promise<FolderReport>;
  close(): Promise<void>;
}

const MOST_FILES = 10_000;
/** Problems of one file that a run reports. */
const MOST_PROBLEMS = 3;

/** Undefined if uploads have no folder. */
export function uploadSource({ uploads: { folder: path } }: UsageSettings): FileSource | undefined {
  return path === undefined ? undefined : folderSource({ path, glob: undefined, maxFiles: MOST_FILES });
}

export function openUploadFolder(usage: UsageSettings): UploadFolder {
  const { folder: path, settle_seconds } = usage.uploads;
  const folder = uploadSource(usage);
  return {
    async takeFiles(store, signal) {
      await store.backupLock.shared(() => cleanUpUploads(store, signal), signal);
      if (folder === undefined) return { errors: [], warnings: [] };
      return await takeAll(
        { folder, path: path ?? "", usage, now: Date.now(), settleMs: settle_seconds * 1000 },
        store,
        signal,
      );
    },
    async close() {
      await folder?.close();
    },
  };
}

interface FolderContext {
  readonly folder: FileSource;
  readonly path: string;
  readonly usage: UsageSettings;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** A file that changed more recently than this waits, in ms. */
  readonly settleMs: number;
}

async function takeAll(context: FolderContext, store: Store, signal: AbortSignal): Promise<FolderReport> {
  const errors: string[] = [];
  const warnings: string[] = [];
  const add = (list: string[], name: string, what: string) =>
    void list.push(`usage ${JSON.stringify(name)}: ${what}`);
  const listed = await listFolder(context, signal);
  if ("failure" in listed) return { errors: [`usage.uploads.folder: ${listed.failure}`], warnings };
  for (const { name, reason } of listed.skipped) add(warnings, name, reason);
  for (const name of listed.leftovers) add(warnings, name, "it is skipped: its name begins with `_` or `.`");
  const recorded = await recordedFiles(store, listed.files.map(keyOf));
  const ordered = listed.files
    .filter(isTaken)
    .sort((a, b) => a.modified - b.modified || compareNames(a.name, b.name));
  for (const file of ordered) {
    const { name, problem } = file;
    if (problem !== undefined) add(warnings, name, problem);
    // A modification time in the future, from a wrong clock, does not hold a file back forever.
    else if (Math.abs(context.now - file.modified) < context.settleMs)
      add(warnings, name, "it waits: it has changed in the last usage.uploads.settle_seconds");
    else {
      const known = recorded.get(keyOf(file));
      const refusal = known === undefined ? await takeFile(context, store, file, signal) : refusalText(known);
      if (refusal !== undefined) add(errors, name, refusal);
    }
  }
  return { errors, warnings };
}

async function listFolder({ folder }: FolderContext, signal: AbortSignal) {
  try {
    return await folder.list(signal);
  } catch (error) {
    signal.throwIfAborted();
    return { failure: errorText(error) };
  }
}

/** Returns why the file was refused. Undefined if it was taken. */
async function takeFile(
  { folder, usage }: FolderContext,
  store: Store,
  file: StoredFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const upload = {
      key: keyOf(file),
      origin: "folder" as const,
      file: file.name,
      body: await folder.open(file, signal),
      gatheredFrom: store.gatheredFrom,
    };
    await takeUpload(store, upload, uploadLimits(usage), {
      signal,
      beforeCommit: () => signal.throwIfAborted(),
    });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RefusedUploadError) return refusalText(error.problems);
    if (error instanceof UploadTooLargeError)
      return `it is larger than usage.uploads.max_mib (${usage.uploads.max_mib} MiB)`;
    // A failed file does not affect the others. A store that is down stops the run.
    if (error instanceof LeaseLostError || !(await store.client.ping()).success) throw error;
    return errorText(error);
  }
}

function refusalText(problems: readonly UploadProblem[]): string | undefined {
  if (problems.length === 0) return undefined;
  const texts = problems.slice(0, MOST_PROBLEMS).map(problemText);
  if (problems.length > MOST_PROBLEMS) texts.push("More is wrong with it.");
  return `it is refused. ${texts.join(" ")}`;
}

/**
 * Returns problems of files that were taken or refused, by key. Forgets refusals of files that are gone or have
 * changed, and refusals for an unknown metric, which may be configured by now.
 */
async function recordedFiles(
  { postgres, tenantName }: Store,
  keys: readonly string[],
): Promise<Map<string, readonly UploadProblem[]>> {
  await runStatement(postgres, {
    query: `DELETE FROM usage_uploads WHERE tenant_name = $1 AND origin = 'folder' AND state = 'refused'
      AND (idempotency_key <> ALL ($2) OR problems @> '[{"column": "metric"}]')`,
    params: [tenantName, keys],
  });
  const { rows } = await runStatement<{ key: string; problems: UploadProblem[] }>(postgres, {
    query: `SELECT idempotency_key AS key, problems FROM usage_uploads
      WHERE tenant_name = $1 AND origin = 'folder' AND state <> 'loading'`,
    params: [tenantName],
  });
  return new Map(rows.map(({ key, problems }) => [key, problems]));
}

/** Other files in the folder are not uploads. */
function isTaken({ name }: StoredFile): boolean {
  return /\.csv$/i.test(name);
}

function keyOf({ name, version }: StoredFile): string {
  return `${name}@${version}`;
}
