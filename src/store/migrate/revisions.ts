/**
 * The revisions that this version of the code knows: the files `NNNN_name.sql` of one folder, in order of their number.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Revision {
  /** The number as the file has it: `0001`. */
  revision: string;
  /** The name without number and ending: `tenants`. */
  name: string;
  /** SHA-256 of the text, in hex; line ends do not count, so a checkout on another system is the same. */
  checksum: string;
  sql: string;
}

/** `0001_tenants`: how a revision is called in messages, and in the ledger of Postgres. */
export function fileName({ revision, name }: { revision: string; name: string }): string {
  return `${revision}_${name}`;
}

const FILE_NAME = /^(\d{1,15})_([A-Za-z0-9_-]+)\.sql$/;

/** As node-pg-migrate marks it. We give it whole files, so such a section would be run with the rest. */
const DOWN_SECTION = /^\s*--[\s-]*down\s+migration/im;

export async function readRevisions(folder: string): Promise<Revision[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql") && !file.startsWith("."));
  const revisions = await Promise.all(files.map((file) => readRevision(folder, file)));
  revisions.sort((a, b) => Number(a.revision) - Number(b.revision));
  for (const [index, { revision }] of revisions.entries()) {
    const before = revisions[index - 1]?.revision;
    if (Number(before) === Number(revision))
      throw new Error(`Two files in ${folder} have revision ${revision}.`);
  }
  return revisions;
}

async function readRevision(folder: string, file: string): Promise<Revision> {
  const [, revision, name] = FILE_NAME.exec(file) ?? [];
  if (revision === undefined || name === undefined) {
    throw new Error(`${join(folder, file)} is no migration: the name must be like 0001_tenants.sql.`);
  }
  const sql = (await readFile(join(folder, file), "utf8")).replaceAll("\r\n", "\n");
  if (DOWN_SECTION.test(sql))
    throw new Error(`${join(folder, file)} has a down section: migrations go forward only.`);
  return { revision, name, checksum: createHash("sha256").update(sql).digest("hex"), sql };
}

/** One file that makes at once what all revisions up to `last` make in turn. */
export interface Baseline {
  readonly sql: string;
  readonly covers: readonly Revision[];
  readonly last: Revision;
}

/** The baseline of a folder of revisions, which is called as the last revision that it stands for; undefined if there is none. */
export async function readBaseline(
  folder: string,
  known: readonly Revision[],
): Promise<Baseline | undefined> {
  const baselines = join(folder, "baseline");
  const [file, more] = await readRevisions(baselines).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (file === undefined) return undefined;
  if (more !== undefined) throw new Error(`${baselines} has more than one file.`);
  const count = known.findIndex((revision) => fileName(revision) === fileName(file)) + 1;
  const last = known[count - 1];
  if (last === undefined)
    throw new Error(`${join(baselines, fileName(file))}.sql is named after no migration.`);
  return { sql: file.sql, covers: known.slice(0, count), last };
}
