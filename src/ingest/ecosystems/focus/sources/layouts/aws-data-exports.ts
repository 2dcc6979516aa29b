/**
 * AWS Data Exports: `EXPORT/data/BILLING_PERIOD=2026-05/[RUN/]EXPORT-00001.csv.gz`, and beside `data` the folder
 * `metadata` with a manifest that names the parts. An export either overwrites its files or makes a folder for each
 * run, of which only the newest counts.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DATA_EXTENSIONS, hasDataExtension, quoted, unnamedRemarks } from "../file-names.js";
import type { StoredFile, Waiting } from "../files/file-source.js";
import { type BillFile, groupFiles, type Layout, type LayoutInput, manifestProblem } from "./layout.js";
import { newestFirst, type Run, stampOf } from "./newest.js";

const manifest = Type.Object({
  dataFiles: Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 100_000 }),
});
const manifestSchema = {
  check: (value: unknown): value is Static<typeof manifest> => Value.Check(manifest, value),
};

const PATH =
  /^((?:.*\/)?)(data|metadata)\/BILLING_PERIOD=(20\d\d-(?:0[1-9]|1[0-2]))\/(?:([^/]+)\/)?([^/]+)$/is;
const NO_MANIFEST =
  "there is no manifest for these files (yet); to take files as they are, set `layout: plain`";
/**
 * An export that overwrites its files does so one by one. For this long, parts newer than the manifest may be half of a
 * bill.
 */
const REWRITE_MS = 15 * 60_000;

interface ExportPath {
  readonly file: StoredFile;
  /** Ends in a slash, or is empty. */
  readonly base: string;
  readonly part: "data" | "metadata";
  readonly month: string;
  readonly run: string;
  readonly name: string;
}

interface Manifest extends ExportPath, Run {}

export function isDataExport(name: string): boolean {
  return PATH.test(name);
}

function exportPathOf(file: StoredFile): ExportPath | undefined {
  const [, base, part, month, run = "", name] = PATH.exec(file.name) ?? [];
  if (base === undefined || part === undefined || month === undefined || name === undefined) return undefined;
  return { file, base, part: part.toLowerCase() === "data" ? "data" : "metadata", month, run, name };
}

/** The end of the path, which manifest and file share wherever the export was copied to. */
const partKey = (run: string, name: string) => `${run}/${name}`;

export const awsDataExports: Layout = async (input) => {
  const places = input.files.map(exportPathOf).filter((place) => place !== undefined);
  const known = new Set(places.map(({ file }) => file));
  const waiting: Waiting[] = input.files
    .filter((file) => !known.has(file) && hasDataExtension(file.name))
    .map(({ name }) => ({
      name,
      reason:
        "it is not below data/BILLING_PERIOD=YYYY-MM of an export: let `location` begin above `data`, or set `layout: plain`",
    }));
  const scopes = groupFiles(places, ({ base, month }) => JSON.stringify([base, month]));
  const bills: BillFile[] = [];
  for (const scope of scopes.values()) {
    const [{ base, month } = { base: "", month: "" }] = scope;
    const parts = scope.filter(({ part, name }) => part === "data" && hasDataExtension(name));
    const manifests: Manifest[] = scope
      .filter(({ part, name }) => part === "metadata" && /-Manifest\.json$/i.test(name))
      .map((place) => ({ ...place, ran: stampOf(place.run), manifest: place.file }));
    if (parts.length === 0 && manifests.length === 0) continue;
    const [newest] = newestFirst(manifests);
    const bill = {
      name: base.replace(/\/$/, "") || "the export",
      billing_period: month,
      kind: "snapshot" as const,
    };
    if (newest !== undefined) bills.push({ ...bill, ...(await contentOf(newest, parts, input)) });
    else bills.push({ ...bill, files: [], remarks: [], problem: NO_MANIFEST });
    waiting.push(...runsWithoutManifest(parts, manifests, base, month));
  }
  return { bills, waiting };
};

/** Returns the bill that the newest manifest describes. */
async function contentOf(
  { file, month }: Manifest,
  parts: readonly ExportPath[],
  { readManifest, now }: LayoutInput,
): Promise<Pick<BillFile, "files" | "manifest" | "remarks" | "problem">> {
  const without = (problem: string) => ({ manifest: file, files: [], remarks: [], problem });
  let named: readonly string[];
  try {
    named = [...new Set((await readManifest(file, manifestSchema)).dataFiles)];
  } catch (error) {
    return without(manifestProblem(error));
  }
  const byKey = new Map(parts.map((part) => [partKey(part.run, part.name), part.file]));
  const files = new Set<StoredFile>();
  for (const path of named) {
    const found = partNamed(path, month, byKey);
    if ("problem" in found) return without(`${file.name} names ${quoted(path)}, ${found.problem}`);
    files.add(found.file);
  }
  if (files.size === 0) return without(`${file.name} names no files`);
  const rewritten = [...files].find(
    ({ modified }) => modified > file.modified && Math.abs(now - modified) < REWRITE_MS,
  );
  if (rewritten !== undefined)
    return without(`${rewritten.name} is newer than ${file.name}: the export is being rewritten`);
  const runs = new Set(parts.filter((part) => files.has(part.file)).map((part) => part.run));
  const unnamed = parts
    .filter((part) => runs.has(part.run) && !files.has(part.file))
    .map((part) => part.file.name);
  return { manifest: file, files: [...files], remarks: unnamedRemarks(unnamed) };
}

/**
 * Finds the part that a manifest names. Only parts of its own export and month are allowed, wherever the export was
 * copied to.
 */
function partNamed(
  path: string,
  month: string,
  parts: ReadonlyMap<string, StoredFile>,
): { file: StoredFile } | { problem: string } {
  const place = exportPathOf({
    name: path.replace(/^s3:\/\/[^/]+\//, ""),
    size: 0,
    version: "",
    modified: 0,
  });
  if (place === undefined || place.part !== "data" || place.month !== month)
    return { problem: "which is no part of this export and month" };
  for (const extension of ["", ...DATA_EXTENSIONS, ".snappy.parquet"]) {
    const file = parts.get(partKey(place.run, `${place.name}${extension}`));
    if (file !== undefined) return { file };
  }
  return { problem: "which is not there" };
}

/** Runs without a manifest, if another run has one. */
function runsWithoutManifest(
  parts: readonly ExportPath[],
  manifests: readonly Manifest[],
  base: string,
  month: string,
): Waiting[] {
  if (manifests.length === 0) return [];
  const announced = new Set(manifests.map(({ run }) => run));
  return [...new Set(parts.map(({ run }) => run))]
    .filter((run) => run !== "" && !announced.has(run))
    .map((run) => ({ name: `${base}data/BILLING_PERIOD=${month}/${run}`, reason: NO_MANIFEST }));
}
