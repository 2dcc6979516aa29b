/**
 * Writes a ZIP while its files are read, one after another, so that memory stays flat. Node.js compresses and computes
 * the checksums. Without ZIP64, which not every program reads, a ZIP has at most 65,535 files and 4 GiB.
 */
import { pipeline } from "node:stream";
import { crc32, createDeflateRaw } from "node:zlib";

export interface ZippedFile {
  /** Safe in every file system, and different from all others. */
  readonly name: string;
  /** Called when the files before it are written. */
  open(): Promise<AsyncIterable<Buffer>>;
}

export const MOST_FILES = 65_535;
const MOST_BYTES = 2 ** 32 - 1;
const VERSION = 20;
/** The sizes follow the content, and names are UTF-8. */
const FLAGS = 0x0808;
const DEFLATED = 8;

export async function* zipBytes(files: readonly ZippedFile[], now: Date): AsyncGenerator<Buffer> {
  const time = dosTime(now);
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const name = Buffer.from(file.name);
    const sums = { crc: 0, packed: 0, size: 0 };
    const header = record(0x04034b50, [VERSION, FLAGS, DEFLATED], time, [0, 0, 0], [name.length, 0], name);
    yield header;
    for await (const chunk of deflated(await file.open(), sums)) {
      sums.packed += chunk.length;
      yield chunk;
    }
    const descriptor = record(0x08074b50, [], [], [sums.crc, sums.packed, sums.size]);
    yield descriptor;
    directory.push(
      record(
        0x02014b50,
        [VERSION, VERSION, FLAGS, DEFLATED],
        time,
        [sums.crc, sums.packed, sums.size],
        [name.length, 0, 0, 0, 0, 0, 0],
        u32(offset),
        name,
      ),
    );
    offset += header.length + sums.packed + descriptor.length;
    if (offset > MOST_BYTES || sums.size > MOST_BYTES) throw new RangeError("a ZIP has at most 4 GiB");
  }
  const central = Buffer.concat(directory);
  yield central;
  const count = [0, 0, directory.length, directory.length];
  yield record(0x06054b50, count, [], [central.length, offset], [0]);
}

async function* deflated(
  source: AsyncIterable<Buffer>,
  sums: { crc: number; size: number },
): AsyncGenerator<Buffer> {
  async function* counted() {
    for await (const chunk of source) {
      sums.crc = crc32(chunk, sums.crc);
      sums.size += chunk.length;
      yield chunk;
    }
  }
  // An error of the source destroys `packed`, which then throws it.
  const packed = pipeline(counted, createDeflateRaw(), () => undefined);
  yield* packed as AsyncIterable<Buffer>;
}

/** A signature of 32 bits, numbers of 16, 16, 32 and 16 bits, and bytes. */
function record(
  signature: number,
  before: readonly number[],
  time: readonly number[],
  sizes: readonly number[],
  after: readonly number[] = [],
  ...bytes: readonly Buffer[]
): Buffer {
  return Buffer.concat([
    u32(signature),
    ...[...before, ...time].map(u16),
    ...sizes.map(u32),
    ...after.map(u16),
    ...bytes,
  ]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Time and date of UTC, in steps of two seconds since 1980. */
function dosTime(now: Date): [time: number, date: number] {
  const time = (now.getUTCHours() << 11) | (now.getUTCMinutes() << 5) | (now.getUTCSeconds() >> 1);
  const date = ((now.getUTCFullYear() - 1980) << 9) | ((now.getUTCMonth() + 1) << 5) | now.getUTCDate();
  return [time, date];
}
