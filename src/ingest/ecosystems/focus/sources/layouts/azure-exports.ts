/**
 * Microsoft Cost Management exports: `EXPORT/20260501-20260531/[TIME/]RUN/part_0_0001.csv.gz` with a `manifest.json`
 * that comes last. Each run is the whole bill of the month, so only the newest complete one counts.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { ManifestTotals, SupersededRuns } from "../delivery.js";
import { compareNames, hasDataExtension, quoted, unnamedRemarks } from "../file-names.js";
import type { StoredFile, Waiting } from "../files/file-source.js";
import { type BillFile, groupFiles, type Layout, type LayoutInput, manifestProblem } from "./layout.js";
import { newestFirst, type Run, stampOf } from "./newest.js";

interface ScopedBill extends BillFile {
  /** The exported resource, `/subscriptions/…`. Undefined if the manifest does not say. */
  readonly scope: string | undefined;
}

/**
 * Holds back bills of a month whose scopes are equal or nested. Scopes of different kinds, such as a billing account
 * and a subscription, may overlap although their names do not show it: their lines are compared once they are loaded.
 */
function overlaps(bills: readonly ScopedBill[]): BillFile[] {
  const months = groupFiles(bills, ({ billing_period: month }) => month ?? "");
  return [...months.values()].flatMap((month) => {
    const ordered = [...month].sort((a, b) => compareNames(a.name, b.name));
    return ordered.map(({ scope, ...bill }): BillFile => {
      const same = ordered.filter(({ name, scope: other }) => name !== bill.name && nested(scope, other));
      if (same.length === 0) return bill;
      const both = [bill.name, ...same.map(({ name }) => name)].sort(compareNames).join(" and ");
      const problem = `${both} export the same charges: leave all but one of them out, such as with \`exclude: ["${bill.name}/**"]\``;
      return { ...bill, problem };
    });
  });
}

/** A manifest names its export below the scope. */
const EXPORT = /\/providers\/microsoft\.costmanagement\/exports\/[^/]*\/*$/;

function nested(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  const [a, b] = [left, right].map(
    (scope) => `${scope.toLowerCase().replace(EXPORT, "").replace(/\/+$/, "")}/`,
  );
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}

const decimal = Type.String({ pattern: "^-?[0-9]+(\\.[0-9]+)?$", maxLength: 100 });
const count = Type.Optional(Type.Union([Type.Integer(), Type.Null()]));
const manifest = Type.Object({
  blobCount: Type.Optional(Type.Integer()),
  byteCount: count,
  dataRowCount: count,
  blobs: Type.Array(
    Type.Object({
      blobName: Type.String(),
      byteCount: count,
      dataRowCount: count,
    }),
    { maxItems: 100_000 },
  ),
  exportConfig: Type.Optional(
    Type.Object({ type: Type.Optional(Type.String()), resourceId: Type.Optional(Type.String()) }),
  ),
  runInfo: Type.Optional(Type.Object({ submittedTime: Type.Optional(Type.String()) })),
});
type AzureManifest = Static<typeof manifest>;
const manifestSchema = { check: (value: unknown): value is AzureManifest => Value.Check(manifest, value) };

/** Sums by billing currency, which the service's own emitter adds to Microsoft's format. */
const sums = Type.Object({
  totals: Type.Array(
    Type.Object({
      currency: Type.String(),
      BilledCost: decimal,
      EffectiveCost: decimal,
      ListCost: decimal,
      ContractedCost: decimal,
    }),
  ),
});

const PATH = /^((?:.*\/)?)((?:20\d\d)(?:0[1-9]|1[0-2])\d\d)-(20\d{6})\/((?:[^/]+\/)?[^/]+)\/([^/]+)$/s;

interface ExportPath {
  readonly file: StoredFile;
  readonly base: string;
  readonly from: string;
  readonly to: string;
  readonly run: string;
  readonly name: string;
}

interface AzureRun extends ExportPath, Run {
  readonly content: AzureManifest | { readonly problem: string };
}

export function isAzureExport(name: string): boolean {
  return PATH.test(name);
}

function exportPathOf(file: StoredFile): ExportPath | undefined {
  const [, base, from, to, run, name] = PATH.exec(file.name) ?? [];
  if (base === undefined || from === undefined || to === undefined || run === undefined || name === undefined)
    return undefined;
  return { file, base, from, to, run, name };
}

const folderOf = ({ base, from, to, run }: ExportPath) => `${base}${from}-${to}/${run}`;
const dayOf = (digits: string) => `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`;
const monthOf = ({ from }: ExportPath) => `${from.slice(0, 4)}-${from.slice(4, 6)}`;
/** The bill of a month begins with its first day. A run that begins later would replace the month by a part of it. */
const isMonth = ({ from, to }: ExportPath) => from.endsWith("01") && to.slice(0, 6) === from.slice(0, 6);

export const azureExports: Layout = async (input) => {
  const places = input.files.map(exportPathOf).filter((place) => place !== undefined);
  const known = new Set(places.map(({ file }) => file));
  const waiting: Waiting[] = input.files
    .filter((file) => !known.has(file) && hasDataExtension(file.name))
    .map(({ name }) => ({
      name,
      reason:
        "it is not below YYYYMMDD-YYYYMMDD/RUN of an export: let `location` begin above that, or set `layout: plain`",
    }));
  const runs: AzureRun[] = [];
  const parts = new Map<string, ExportPath[]>();
  for (const [folder, inside] of groupFiles(places, folderOf)) {
    const [first] = inside;
    if (first === undefined) continue;
    const data = inside.filter(({ name }) => hasDataExtension(name));
    parts.set(folder, data);
    const last = inside.find(({ name }) => name.toLowerCase() === "manifest.json");
    if (!isMonth(first)) waiting.push({ name: folder, reason: "it is not one month from its first day on" });
    else if (last === undefined) {
      if (data.length > 0) waiting.push({ name: folder, reason: "its manifest.json is not there (yet)" });
    } else runs.push(await runOf(last, input));
  }
  const bills: ScopedBill[] = [];
  const superseded: SupersededRuns[] = [];
  for (const scope of groupFiles(runs, (run) => JSON.stringify([run.base, monthOf(run)])).values()) {
    const ordered = newestFirst(scope);
    const until = scope
      .map(({ to }) => to)
      .sort(compareNames)
      .at(-1);
    const newest = ordered.find(({ to }) => to === until);
    if (newest === undefined) continue;
    // A run for some dates of the month has no charges of the other dates.
    for (const run of ordered.slice(0, ordered.indexOf(newest)))
      waiting.push({
        name: folderOf(run),
        reason: `it ends on ${dayOf(run.to)}, and ${folderOf(newest)} has the days until ${dayOf(newest.to)}: that one counts. Run the export for the whole month, so that what it corrects is charged`,
      });
    const type = "blobs" in newest.content ? newest.content.exportConfig?.type : undefined;
    if (type === undefined || type === "FocusCost") {
      bills.push(billOf(newest, parts.get(folderOf(newest)) ?? []));
      const older = ordered.slice(ordered.indexOf(newest) + 1);
      if (older.length > 0) superseded.push(supersededBy(newest, older));
    } else
      waiting.push({
        name: folderOf(newest),
        reason: `it is an export of type ${quoted(type)}, not FocusCost`,
      });
  }
  return { bills: overlaps(bills), waiting, superseded };
};

function supersededBy(newest: AzureRun, older: readonly AzureRun[]): SupersededRuns {
  const rows = older.map(({ content }) => ("blobs" in content ? rowsStated(content) : undefined));
  return {
    billing_period: monthOf(newest),
    runs: older.length,
    rows: rows.every((each) => each !== undefined) ? rows.reduce((sum, each) => sum + each, 0) : undefined,
    by: folderOf(newest),
  };
}

/** Returns the rows that the manifest states, for the whole run or for all of its blobs. */
function rowsStated({ dataRowCount, blobs }: AzureManifest): number | undefined {
  if (typeof dataRowCount === "number") return dataRowCount;
  const rows = blobs.map((blob) => blob.dataRowCount);
  return rows.every((each) => typeof each === "number")
    ? rows.reduce((sum, each) => sum + each, 0)
    : undefined;
}

async function runOf(place: ExportPath, { readManifest }: LayoutInput): Promise<AzureRun> {
  try {
    const content = await readManifest(place.file, manifestSchema);
    return { ...place, manifest: place.file, content, ran: stampOf(content.runInfo?.submittedTime) };
  } catch (error) {
    return { ...place, manifest: place.file, content: { problem: manifestProblem(error) }, ran: undefined };
  }
}

function billOf(run: AzureRun, parts: readonly ExportPath[]): ScopedBill {
  const { file, content } = run;
  const bill = {
    name: run.base.replace(/\/$/, "") || "the export",
    billing_period: monthOf(run),
    kind: "snapshot" as const,
    manifest: file,
    scope: "blobs" in content ? content.exportConfig?.resourceId : undefined,
  };
  const without = (problem: string) => ({ ...bill, files: [], remarks: [], problem });
  if ("problem" in content) return without(content.problem);
  const { blobs, blobCount } = content;
  if (blobCount !== undefined && blobCount !== blobs.length)
    return without(`${file.name} counts ${blobCount} blobs and names ${blobs.length}`);
  const files = new Map<StoredFile, number | undefined>();
  for (const { blobName, byteCount, dataRowCount } of blobs) {
    const part = partNamed(blobName, run, parts);
    const named = `${file.name} names ${quoted(blobName)}`;
    if (part === "outside") return without(`${named}, which is no part of its run`);
    if (part === undefined) return without(`${named}, which is not there`);
    if (typeof byteCount === "number" && byteCount !== part.size)
      return without(`${named} with ${byteCount} bytes; it has ${part.size}`);
    files.set(part, dataRowCount ?? undefined);
  }
  if (files.size === 0) return without(`${file.name} names no blobs`);
  const unnamed = parts.filter((part) => !files.has(part.file)).map((part) => part.file.name);
  const totals: ManifestTotals = {
    manifest: file.name,
    files: new Map([...files].map(([part, rows]) => [part.name, rows])),
    rows: content.dataRowCount ?? undefined,
    bytes: content.byteCount ?? undefined,
    currencies: Value.Check(sums, content) ? content.totals : [],
  };
  return { ...bill, files: [...files.keys()], remarks: unnamedRemarks(unnamed), totals };
}

/**
 * Finds the part that a manifest names. The parts of a run are beside its manifest, wherever the export was copied to.
 */
function partNamed(
  blobName: string,
  { run }: ExportPath,
  parts: readonly ExportPath[],
): StoredFile | "outside" | undefined {
  const path = blobName.split("/");
  const name = path.at(-1);
  if (path.length > 1 && path.at(-2) !== run.split("/").at(-1)) return "outside";
  return parts.find((part) => part.name === name)?.file;
}
