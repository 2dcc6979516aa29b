/**
 * Joins several Parquet files with the same columns into one. A file is `PAR1`, the row groups, a footer with the
 * offset of each column, the footer's length and `PAR1`. Row groups are passed on as they arrive, and all footers
 * become one, with each offset moved by the length of what precedes it.
 *
 * This way an export of any length is in the order of the list and needs little memory. A single statement for all of
 * it takes 3.7 GB (200 days of 500,000 rows), because it merges all days at once. It takes more with the metadata,
 * whose joins would have all days in memory.
 */
import {
  fieldOf,
  readThrift,
  type ThriftList,
  type ThriftStruct,
  type ThriftValue,
  writeThrift,
} from "./thrift-compact.js";

const MAGIC = Buffer.from("PAR1");

/** The footer's length, in four bytes, and `PAR1`. */
const FOOT = 4 + MAGIC.length;

/** A footer has some 150 bytes for each column of each row group, and a piece has a few row groups. */
const LARGEST_FOOTER = 1 << 22;

export function parquetPieces() {
  let written = 0;
  let footer: ThriftStruct | undefined;
  return {
    begin(): Buffer {
      written = MAGIC.length;
      return MAGIC;
    },
    async *piece(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      // The piece's byte at `MAGIC.length` is written at the current end of the file.
      const shift = BigInt(written - MAGIC.length);
      let toSkip = MAGIC.length;
      const withoutMagic = (chunk: Buffer) => {
        const skipped = Math.min(toSkip, chunk.length);
        toSkip -= skipped;
        written += chunk.length - skipped;
        return chunk.subarray(skipped);
      };
      const buffered: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of source) {
        buffered.push(chunk);
        bytes += chunk.length;
        for (
          let oldest = buffered[0];
          oldest && bytes - oldest.length >= LARGEST_FOOTER;
          oldest = buffered[0]
        ) {
          buffered.shift();
          bytes -= oldest.length;
          yield withoutMagic(oldest);
        }
      }
      const end = Buffer.concat(buffered);
      const length = footerLength(end);
      const start = end.length - FOOT - length;
      yield withoutMagic(end.subarray(0, start));
      footer = joined(footer, movedBy(shift, readThrift(end.subarray(start, start + length))));
    },
    end(): Buffer {
      if (footer === undefined) throw new Error("a Parquet file of no pieces");
      const bytes = writeThrift(footer);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      return Buffer.concat([bytes, length, MAGIC]);
    },
  };
}

function footerLength(end: Buffer): number {
  const isParquet = end.length > FOOT && end.subarray(-MAGIC.length).equals(MAGIC);
  const length = isParquet ? end.readUInt32LE(end.length - FOOT) : Number.NaN;
  if (length > 0 && length <= end.length - FOOT) return length;
  throw new Error("the engine's Parquet has no footer where it should be");
}

/** Ids of fields in the format's Thrift definition. */
const file = { rows: 3, rowGroups: 4 } as const;
const rowGroup = { columns: 1, offset: 5 } as const;
const columnChunk = { offset: 2, metadata: 3, offsetIndex: 4, columnIndex: 6 } as const;
const columnMetadata = { data: 9, index: 10, dictionary: 11, bloomFilter: 14 } as const;

function movedBy(bytes: bigint, footer: ThriftStruct): ThriftStruct {
  const move = (struct: ThriftStruct, ids: readonly number[]) => {
    for (const id of ids) {
      const field = fieldOf(struct, id);
      // An offset of 0 means that there is none.
      if (typeof field?.value === "bigint" && field.value !== 0n) field.value += bytes;
    }
  };
  for (const group of structsOf(footer, file.rowGroups)) {
    move(group, [rowGroup.offset]);
    for (const column of structsOf(group, rowGroup.columns)) {
      move(column, [columnChunk.offset, columnChunk.offsetIndex, columnChunk.columnIndex]);
      const metadata = fieldOf(column, columnChunk.metadata)?.value;
      if (isStruct(metadata)) move(metadata, Object.values(columnMetadata));
    }
  }
  return footer;
}

/** Returns the first footer with the row groups of both. */
function joined(first: ThriftStruct | undefined, next: ThriftStruct): ThriftStruct {
  if (first === undefined) return next;
  const rows = fieldOf(first, file.rows);
  const more = fieldOf(next, file.rows)?.value;
  const groups = listOf(fieldOf(first, file.rowGroups)?.value);
  if (typeof rows?.value !== "bigint" || typeof more !== "bigint" || groups === undefined) {
    throw new Error("a Parquet footer without rows or row groups");
  }
  rows.value += more;
  for (const group of structsOf(next, file.rowGroups)) groups.items.push(group);
  return first;
}

function listOf(value: ThriftValue | undefined): ThriftList | undefined {
  return typeof value === "object" && !Buffer.isBuffer(value) && "items" in value ? value : undefined;
}

function isStruct(value: ThriftValue | undefined): value is ThriftStruct {
  return typeof value === "object" && !Buffer.isBuffer(value) && "fields" in value;
}

function structsOf(struct: ThriftStruct, id: number): ThriftStruct[] {
  return (listOf(fieldOf(struct, id)?.value)?.items ?? []).filter(isStruct);
}
