/**
 * Files with the same bytes count once, whatever their names and sources. A file is compared before it is loaded, and
 * only if another file that counts has its size, so most files are read once.
 */
import type { Pool } from "pg";
import { runStatement } from "../../../../postgres/statement.js";
import { digestOfFile } from "../load/hashing-stream.js";
import type { FileLines } from "../load/summary.js";
import type { DeliveredFile, Delivery } from "../sources/delivery.js";
import { quoted } from "../sources/file-names.js";
import type { DuplicateFile, RecordedDelivery } from "./records.js";

/** A file whose lines are in the store. */
export interface KnownFile extends FileLines {
  readonly source: string;
  readonly name: string;
  readonly size: number;
  readonly sha256: string | undefined;
}

/**
 * Returns a known file with the same bytes. Reads `file` if one of the known files has its size. Throws what reading
 * the file throws.
 */
export async function twinOf(
  file: DeliveredFile,
  known: readonly KnownFile[],
  signal: AbortSignal,
): Promise<DuplicateFile | undefined> {
  const sameSize = known.filter(({ size, sha256 }) => size === file.size && sha256 !== undefined);
  if (sameSize.length === 0) return undefined;
  const sha256 = await digestOfFile(file, signal);
  const twin = sameSize.find((other) => other.sha256 === sha256);
  if (twin === undefined) return undefined;
  const { name, size } = file;
  const { name: same_as, source: same_as_source, sums, periods } = twin;
  return { name, size, sha256, same_as, same_as_source, sums, periods };
}

/**
 * Returns files of other deliveries that count as a whole, except those that this delivery may replace, and that have
 * the size of one of its files.
 */
export async function knownFiles(
  { postgres, tenantName }: { readonly postgres: Pool; readonly tenantName: string },
  { files }: Delivery,
  {
    configured,
    mayReplace,
  }: { readonly configured: readonly string[]; readonly mayReplace: readonly RecordedDelivery[] },
): Promise<KnownFile[]> {
  const query = `SELECT source, file->>'name' AS name, (file->>'size')::bigint::float8 AS size, file->>'sha256' AS sha256, file->'sums' AS sums, file->'periods' AS periods
    FROM deliveries CROSS JOIN jsonb_array_elements(files) AS file
    WHERE tenant_name = $1 AND state = 'current' AND retired = '[]' AND superseded = '[]' AND source = ANY ($2::text[])
      AND (file->>'size')::bigint = ANY ($3::bigint[]) AND file ? 'sha256' AND delivery_id <> ALL ($4::bigint[])
    ORDER BY delivery_id`;
  const sizes = [...new Set(files.map(({ size }) => size))];
  const params = [tenantName, configured, sizes, mayReplace.map(({ delivery_id }) => delivery_id)];
  return (await runStatement<KnownFile>(postgres, { query, params })).rows;
}

/**
 * Returns the records with a file that was left out because of another file that no longer counts. They have to be
 * loaded again.
 */
export async function withoutTwin(
  { postgres, tenantName }: { readonly postgres: Pool; readonly tenantName: string },
  records: readonly RecordedDelivery[],
  sources: readonly string[],
): Promise<ReadonlySet<string>> {
  const withDuplicates = records.filter(
    ({ state, duplicates }) => state !== "expired" && duplicates.length > 0,
  );
  if (withDuplicates.length === 0) return new Set();
  const query = `SELECT delivery_id::text FROM deliveries AS own CROSS JOIN jsonb_array_elements(duplicates) AS left_out
    WHERE delivery_id = ANY ($2::bigint[]) AND NOT EXISTS (
      SELECT FROM deliveries AS other CROSS JOIN jsonb_array_elements(other.files) AS file
      WHERE other.tenant_name = $1 AND file->>'sha256' = left_out->>'sha256'
        AND (other.delivery_id = own.delivery_id OR (other.state = 'current' AND other.retired = '[]' AND other.superseded = '[]'
          AND other.source = ANY ($3::text[]))))`;
  const params = [tenantName, withDuplicates.map(({ delivery_id }) => delivery_id), sources];
  const { rows } = await runStatement<{ delivery_id: string }>(postgres, { query, params });
  return new Set(rows.map(({ delivery_id }) => delivery_id));
}

/** Returns a sentence for each duplicate. */
export function duplicateRemarks(source: string, duplicates: readonly DuplicateFile[]): string[] {
  // Files without lines are often equal, and need no remark.
  return duplicates.flatMap(({ name, same_as, same_as_source, sums }) => {
    const other = same_as_source === source ? "" : ` of the source ${same_as_source}`;
    return sums.length === 0
      ? []
      : [`${quoted(name)} has the same bytes as ${quoted(same_as)}${other}, and counts once.`];
  });
}
