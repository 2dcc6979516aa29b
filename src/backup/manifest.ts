/**
 * A backup is a folder with `manifest.json`, which lists every other file with its size and SHA-256, and
 * `manifest.sha256`, the checksum of the manifest as `sha256sum` writes it. Both are written last, and the folder is
 * renamed when they are on disk, so a folder without them is not a backup.
 *
 * postgres/TABLE.copy    rows of a table, as COPY writes them
 * clickhouse/DATABASE/   output of the engine's own BACKUP
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** The backup cannot be restored, or not here. The message is one sentence for the operator. */
export class UnusableBackupError extends Error {
  override readonly name = "UnusableBackupError";
}

/** Version of the format that this file describes. */
export const FORMAT = 1;

const count = Type.Integer({ minimum: 0 });
/** Only names that need no quoting, because they become paths and SQL. */
const name = Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,62}$" });
const revisions = Type.Array(
  Type.Object({
    revision: Type.String(),
    name: Type.String(),
    checksum: Type.Union([Type.String(), Type.Null()]),
    applied_at: Type.String(),
  }),
);

const manifest = Type.Object({
  format: Type.Literal(FORMAT),
  /** Version of chargehouse that wrote the backup. */
  chargehouse: Type.String(),
  /** Time of the snapshot, by the clock of Postgres. */
  taken_at: Type.String(),
  postgres: Type.Object({
    revisions,
    tables: Type.Array(Type.Object({ table: name, columns: Type.Array(name), rows: count })),
    sequences: Type.Array(
      Type.Object({
        sequence: name,
        last_value: Type.String({ pattern: "^-?\\d+$" }),
        is_called: Type.Boolean(),
      }),
    ),
  }),
  clickhouse: Type.Array(
    Type.Object({
      database: name,
      /** Null if no run has used the store yet. */
      store_id: Type.Union([Type.String(), Type.Null()]),
      revisions,
      /** Number of rows of the published facts, by table. */
      rows: Type.Record(name, count),
    }),
  ),
  files: Type.Array(Type.Object({ path: Type.String(), bytes: count, sha256: Type.String() })),
});
export type Manifest = Static<typeof manifest>;

const FILE = "manifest.json";
const CHECKSUM_FILE = "manifest.sha256";
export const manifestFiles: readonly string[] = [FILE, CHECKSUM_FILE];

/** Throws if the manifest could not be read again, because such a backup could not be restored. */
export async function writeManifest(folder: string, content: Manifest): Promise<void> {
  const [problem] = Value.Errors(manifest, content);
  if (problem !== undefined)
    throw new Error(`the backup could not be restored: ${problem.path} ${problem.message}`);
  const text = `${JSON.stringify(content, null, 1)}\n`;
  const options = { mode: 0o600, flag: "wx", flush: true } as const;
  await writeFile(join(folder, FILE), text, options);
  await writeFile(join(folder, CHECKSUM_FILE), `${sha256(text)}  ${FILE}\n`, options);
}

export async function readManifest(folder: string): Promise<Manifest> {
  const read = async (file: string) => await readFile(join(folder, file), "utf8").catch(() => undefined);
  const [text, checksum] = [await read(FILE), await read(CHECKSUM_FILE)];
  if (text === undefined || checksum === undefined)
    throw new UnusableBackupError(
      `${folder} is not a complete backup: it has no ${text === undefined ? FILE : CHECKSUM_FILE}.`,
    );
  if (checksum !== `${sha256(text)}  ${FILE}\n`)
    throw new UnusableBackupError(
      `${folder} is damaged: ${FILE} does not have the checksum of ${CHECKSUM_FILE}.`,
    );
  const content: unknown = JSON.parse(text);
  if (Value.Check(manifest, content)) return content;
  const format = Value.Check(Type.Object({ format: Type.Integer() }), content) ? content.format : undefined;
  if (format !== undefined && format > FORMAT)
    throw new UnusableBackupError(
      `${folder} was written by a newer version of chargehouse: its format is ${format}, and this version reads ${FORMAT}.`,
    );
  throw new UnusableBackupError(`${folder} is damaged: ${FILE} does not describe a backup.`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
