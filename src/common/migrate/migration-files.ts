/**
 * The migrations that this version of the code knows: the files `NNNN_name.sql` of a folder, in order of their numbers.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface MigrationFile {
  /** The number as the file has it: `0001`. */
  revision: string;
  /** The name without number and ending: `tenants`. */
  name: string;
  /** SHA-256 of the text, in hex; line ends do not count, so a checkout on another system is the same. */
  checksum: string;
  sql: string;
}

/** Returns the name of a migration in messages and in `schema_migrations` of Postgres, such as `0001_tenants`. */
export function fileName({ revision, name }: { revision: string; name: string }): string {
  return `${revision}_${name}`;
}

const FILE_NAME = /^(\d{1,15})_([A-Za-z0-9_-]+)\.sql$/;

/** node-pg-migrate marks a down section this way. We give it whole files, so such a section would run with the rest. */
const DOWN_SECTION = /^\s*--[\s-]*down\s+migration/im;

export async function readMigrationFiles(folder: string): Promise<MigrationFile[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql") && !file.startsWith("."));
  const revisions = await Promise.all(files.map((file) => readMigrationFile(folder, file)));
  revisions.sort((a, b) => Number(a.revision) - Number(b.revision));
  for (const [index, { revision }] of revisions.entries()) {
    const before = revisions[index - 1]?.revision;
    if (Number(before) === Number(revision))
      throw new Error(`Two files in ${folder} have revision ${revision}.`);
  }
  return revisions;
}

async function readMigrationFile(folder: string, file: string): Promise<MigrationFile> {
  const [, revision, name] = FILE_NAME.exec(file) ?? [];
  if (revision === undefined || name === undefined) {
    throw new Error(`${join(folder, file)} is no migration: the name must be like 0001_tenants.sql.`);
  }
  const sql = (await readFile(join(folder, file), "utf8")).replaceAll("\r\n", "\n");
  if (DOWN_SECTION.test(sql))
    throw new Error(`${join(folder, file)} has a down section: migrations go forward only.`);
  return { revision, name, checksum: createHash("sha256").update(sql).digest("hex"), sql };
}
