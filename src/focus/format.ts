/** Detects the format of a file from its first bytes. */

/** The file cannot be read. The message is a sentence without the file's name. */
export class UnreadableFileError extends Error {
  override readonly name = "UnreadableFileError";
}

export interface CsvOrParquet {
  readonly format: "CSV" | "Parquet";
  readonly compression: "none" | "gz" | "zstd";
}

export const MAX_COLUMNS = 1000;
const supportedFormats = "CSV (also compressed with gzip or zstd) and Parquet";

/**
 * @param start the first four bytes or more, or all of a shorter file
 * @param readable the supported formats, for the error message
 */
export function formatOf(start: Buffer, readable = supportedFormats): CsvOrParquet {
  if (start.length === 0) throw new UnreadableFileError(`is empty; ${readable} can be read`);
  const head = Buffer.concat([start, Buffer.alloc(4, 0x20)]);
  if (head.subarray(0, 4).toString("latin1") === "PAR1") return { format: "Parquet", compression: "none" };
  if (head[0] === 0x1f && head[1] === 0x8b) return { format: "CSV", compression: "gz" };
  if (isZstd(head.readUInt32LE(0))) return { format: "CSV", compression: "zstd" };
  if (head.subarray(0, 4).includes(0) || head.readUInt16BE(0) >= 0xfffe)
    throw new UnreadableFileError(`is not text in UTF-8; ${readable} can be read`);
  return { format: "CSV", compression: "none" };
}

/** Whether the file starts with a zstd frame, or with a skippable frame, as pzstd writes it. */
function isZstd(mark: number): boolean {
  return mark === 0xfd2fb528 || mark >>> 4 === 0x184d2a5;
}
