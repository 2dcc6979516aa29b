/**
 * Postgres's part of a backup: the rows of every table, as COPY writes them. The schema is not included, because the
 * migrations create it. Tables are listed from the catalog, so that a new one is backed up automatically.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { type CopyToStreamQuery, from as copyFrom, to as copyTo } from "pg-copy-streams";
import { readerError } from "../common/reader-error.js";
import { runStatement } from "../postgres/statement.js";
import { type Manifest, UnusableBackupError } from "./manifest.js";

type PostgresPart = Manifest["postgres"];
type Table = PostgresPart["tables"][number];

/**
 * Generated columns are not copied, but generated again. Sessions are not copied: a restore ends them, since nobody knows
 * which of them ended after the backup.
 */
const TABLES = `
  SELECT c.relname AS "table", array_agg(a.attname::text ORDER BY a.attnum) AS columns
  FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    AND c.relname <> 'sessions'
  GROUP BY c.relname ORDER BY c.relname`;

const SEQUENCES = `
  SELECT c.relname AS sequence FROM pg_class AS c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'S' ORDER BY c.relname`;

/** Copies all tables as of the transaction's snapshot, whatever is written meanwhile. */
export async function copyTables(
  on: PoolClient,
  folder: string,
): Promise<Pick<PostgresPart, "tables" | "sequences">> {
  await mkdir(folder, { mode: 0o700 });
  const found = await runStatement<Omit<Table, "rows">>(on, { query: TABLES, params: [] });
  const copied: { readonly table: Omit<Table, "rows">; readonly stream: CopyToStreamQuery }[] = [];
  for (const table of found.rows) {
    // The connection can be lost after the last row, when the pipeline no longer listens for errors.
    const stream = readerError(on.query(copyTo(`COPY ${target(table)} TO STDOUT`)));
    await pipeline(stream, createWriteStream(fileOf(folder, table.table), { flags: "wx", mode: 0o600 }));
    copied.push({ table, stream });
  }
  const sequences = await readSequences(on);
  // The number of rows arrives after the rows. By now, later statements of the connection have run, so it is there.
  return { tables: copied.map(({ table, stream }) => ({ ...table, rows: stream.rowCount })), sequences };
}

/** Sequences are not part of a snapshot. They are read after the rows, so they are never behind them. */
async function readSequences(on: PoolClient): Promise<PostgresPart["sequences"]> {
  const found = await runStatement<{ sequence: string }>(on, { query: SEQUENCES, params: [] });
  const sequences: PostgresPart["sequences"] = [];
  for (const { sequence } of found.rows) {
    const query = `SELECT last_value::text, is_called FROM public.${quoted(sequence)}`;
    const { rows } = await runStatement<{ last_value: string; is_called: boolean }>(on, {
      query,
      params: [],
    });
    sequences.push(...rows.map((row) => ({ sequence, ...row })));
  }
  return sequences;
}

/** Replaces the rows of every table. The schema must be at the revision of the backup. */
export async function loadTables(on: PoolClient, folder: string, part: PostgresPart): Promise<void> {
  const { rows: known } = await runStatement<Omit<Table, "rows">>(on, { query: TABLES, params: [] });
  const written = part.tables.map(({ table, columns }) => target({ table, columns }));
  if (known.map(target).join() !== written.join())
    throw new UnusableBackupError("The tables of the backup are not those of its schema revision.");
  // Disables triggers and checks of foreign keys: they ran when the rows were written, and tables are loaded in an
  // order that foreign keys do not allow.
  await runStatement(on, { query: "SET LOCAL session_replication_role = replica", params: [] });
  await runStatement(on, {
    // CASCADE includes `sessions`, which refers to tokens.
    query: `TRUNCATE ${known.map(({ table }) => `public.${quoted(table)}`).join(", ")} CASCADE`,
    params: [],
  });
  for (const { table, columns, rows } of part.tables) {
    const into = readerError(on.query(copyFrom(`COPY ${target({ table, columns })} FROM STDIN`)));
    await pipeline(createReadStream(fileOf(folder, table)), into);
    if (into.rowCount !== rows)
      throw new UnusableBackupError(`Table ${table} has ${into.rowCount} rows instead of ${rows}.`);
  }
  for (const { sequence, last_value, is_called } of part.sequences)
    await runStatement(on, {
      query: "SELECT setval(format('public.%I', $1::text)::regclass, $2, $3)",
      params: [sequence, last_value, is_called],
    });
}

function target({ table, columns }: Omit<Table, "rows">): string {
  return `public.${quoted(table)} (${columns.map(quoted).join(", ")})`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function fileOf(folder: string, table: string): string {
  return join(folder, `${table}.copy`);
}
