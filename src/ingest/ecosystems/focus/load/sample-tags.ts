/** Reads the tags of the first lines of a bill, without a store. */
import { CsvError, parse } from "csv-parse/sync";
import { formatOf, mapColumns } from "../../../../focus/index.js";
import { csvHeader, peeked } from "../../../csv/header.js";
import type { SampledTags } from "../../../reports.js";
import type { DeliveredFile } from "../sources/delivery.js";
import { type CostColumn, LANDING_VERSION } from "./landing-columns.js";
import { decompressed } from "./open-file.js";

const SAMPLE_BYTES = 4 * 1_048_576;

/**
 * Undefined for Parquet, and for a file without tags or costs. Throws `UnreadableFileError` and what `file.open`
 * throws.
 */
export async function sampleTags(
  file: DeliveredFile,
  cost: CostColumn,
  signal: AbortSignal,
): Promise<SampledTags | undefined> {
  const bytes = await file.open(signal);
  try {
    const [head, all] = await peeked(bytes, 4);
    const source = formatOf(head);
    if (source.format === "Parquet") return undefined;
    const { sourceColumns, separator, text } = await csvHeader(
      decompressed(all, source, file.maxUnpackedMib),
    );
    const { columns } = mapColumns(sourceColumns, LANDING_VERSION);
    const positionOf = (name: string) => columns.find(({ column }) => column.name === name)?.index;
    const [tags, amount] = [positionOf("Tags"), positionOf(cost)];
    if (tags === undefined || amount === undefined) return undefined;
    const [start] = await peeked(text, SAMPLE_BYTES);
    const whole = linesOf(start, separator).filter(({ length }) => length === sourceColumns.length);
    const lines = whole.map((line) => ({
      keys: keysOf(line[tags] ?? ""),
      size: Math.abs(Number(line[amount])) || 0,
    }));
    return { file: file.name, lines };
  } finally {
    bytes.destroy();
  }
}

/** Parses the lines without the header, and without a last line that is cut off. */
function linesOf(start: Buffer, delimiter: string): string[][] {
  const whole = start.length < SAMPLE_BYTES ? start : start.subarray(0, start.lastIndexOf(0x0a) + 1);
  try {
    return parse(whole, {
      delimiter,
      from: 2,
      relax_column_count: true,
      relax_quotes: true,
      skip_records_with_error: true,
    });
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
}

function keysOf(tags: string): string[] {
  try {
    const read: unknown = JSON.parse(tags);
    if (Array.isArray(read))
      return read.flatMap((each: unknown) => {
        const members = each !== null && typeof each === "object" ? Object.entries(each) : [];
        const key: unknown = members.find(([name]) => name.toLowerCase() === "key")?.[1];
        return typeof key === "string" ? [key.trim()] : [];
      });
    return read !== null && typeof read === "object" ? Object.keys(read).map((key) => key.trim()) : [];
  } catch {
    return [];
  }
}
