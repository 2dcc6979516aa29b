/**
 * Unpacks zstd (RFC 8878) block by block, so that a small file that unpacks to a large one takes little memory. A file
 * that is cut off or damaged is detected by its end, its sizes and its checksums. A library decodes the blocks, because
 * Node.js can do so only since 22.15.
 */
import { Decompress } from "fzstd";
import createXxHash, { type XXHash } from "xxhash-wasm";
import { UnreadableFileError } from "../../focus/index.js";

const FRAME = 0xfd2fb528;
/** Skippable frames: sixteen magic numbers that differ in their last four bits. */
const SKIPPABLE = 0x184d2a5;
const LARGEST_BLOCK_BYTES = 128 * 1024;
/** The default of zstd itself. A frame keeps this much of its unpacked data. */
const LARGEST_WINDOW_BYTES = 128 * 2 ** 20;

/** `code` is like that of zlib's own errors. */
class DamagedZstdError extends Error {
  readonly code = "ZSTD_damaged";
}

/**
 * @yields the unpacked bytes. Throws `UnreadableFileError` for a file that needs more memory than allowed, and
 * `DamagedZstdError`.
 */
export async function* unzstd(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const source = new ByteSource(bytes);
  try {
    const { create64 } = await createXxHash();
    for (let mark = await source.next(4); mark.length > 0; mark = await source.next(4)) {
      if (mark.length < 4) throw new DamagedZstdError("the file ends within a mark");
      const magic = mark.readUInt32LE();
      if (magic === FRAME) yield* frame(source, mark, create64());
      else if (magic >>> 4 === SKIPPABLE) await source.skip((await source.take(4)).readUInt32LE());
      else throw new DamagedZstdError("a frame begins with something else");
    }
  } finally {
    await source.close();
  }
}

async function* frame(source: ByteSource, mark: Buffer, hash: XXHash<bigint>): AsyncGenerator<Uint8Array> {
  const { bytes, size, hasChecksum } = await frameHeader(source);
  let parts: Uint8Array[] = [];
  const decoder = new Decompress((part) => parts.push(part));
  decode(decoder, Buffer.concat([mark, bytes]), false);
  let unpacked = 0;
  for (let last = false; !last; ) {
    const head = await source.take(3);
    const word = head.readUIntLE(0, 3);
    last = (word & 1) === 1;
    const length = word >>> 3;
    if (length > LARGEST_BLOCK_BYTES) throw new DamagedZstdError("a block is too large");
    const content = await source.take(((word >>> 1) & 3) === 1 ? 1 : length);
    const checksum = last && hasChecksum ? await source.take(4) : Buffer.alloc(0);
    decode(decoder, Buffer.concat([head, content, checksum]), last);
    for (const part of parts) {
      unpacked += part.length;
      hash.update(part);
      yield part;
    }
    parts = [];
    if (last && hasChecksum && Number(hash.digest() & 0xffffffffn) !== checksum.readUInt32LE())
      throw new DamagedZstdError("a checksum differs");
  }
  if (size !== undefined && BigInt(unpacked) !== size) throw new DamagedZstdError("a frame has another size");
}

function decode(decoder: Decompress, bytes: Uint8Array, isLast: boolean): void {
  try {
    decoder.push(bytes, isLast);
  } catch (error) {
    throw new DamagedZstdError("a block cannot be decoded", { cause: error });
  }
}

interface FrameHeader {
  /** The bytes after the magic number. */
  readonly bytes: Buffer;
  /** Unpacked size of the frame in bytes. Undefined if the frame does not state it. */
  readonly size: bigint | undefined;
  readonly hasChecksum: boolean;
}

async function frameHeader(source: ByteSource): Promise<FrameHeader> {
  const descriptor = await source.take(1);
  const flags = descriptor.readUInt8();
  if ((flags & 0b1000) !== 0) throw new DamagedZstdError("a reserved bit is set");
  const isSingle = (flags & 0b10_0000) !== 0;
  const windowed = await source.take(isSingle ? 0 : 1);
  const dictionary = await source.take([0, 1, 2, 4][flags & 0b11] ?? 0);
  if (dictionary.some((byte) => byte !== 0))
    throw new UnreadableFileError("is compressed with a dictionary of zstd");
  const sized = await source.take([isSingle ? 1 : 0, 2, 4, 8][flags >>> 6] ?? 0);
  const size = sized.length === 0 ? undefined : littleEndian(sized) + (sized.length === 2 ? 256n : 0n);
  const window = isSingle ? (size ?? 0n) : BigInt(windowOf(windowed.readUInt8()));
  if (window > LARGEST_WINDOW_BYTES)
    throw new UnreadableFileError("is compressed with zstd in a window of more than 128 MiB");
  const bytes = Buffer.concat([descriptor, windowed, dictionary, sized]);
  return { bytes, size, hasChecksum: (flags & 0b100) !== 0 };
}

/** Reads an exponent of five bits and a mantissa of three. */
function windowOf(byte: number): number {
  const base = 2 ** (10 + (byte >>> 3));
  return base + (base / 8) * (byte & 0b111);
}

function littleEndian(bytes: Buffer): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

/** Reads a given number of bytes from a stream. */
class ByteSource {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private rest: Uint8Array = new Uint8Array();

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.chunks = bytes[Symbol.asyncIterator]();
  }

  async close(): Promise<void> {
    await this.chunks.return?.();
  }

  /** Returns fewer bytes at the end of the stream. */
  async next(length: number): Promise<Buffer> {
    const parts = [this.rest];
    let available = this.rest.length;
    while (available < length) {
      const { done, value } = await this.chunks.next();
      if (done === true) break;
      parts.push(value);
      available += value.length;
    }
    const all = parts.length === 1 ? this.rest : Buffer.concat(parts, available);
    this.rest = all.subarray(length);
    return Buffer.from(all.buffer, all.byteOffset, Math.min(length, available));
  }

  async take(length: number): Promise<Buffer> {
    const bytes = await this.next(length);
    if (bytes.length < length) throw new DamagedZstdError("the file is cut off");
    return bytes;
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0; ) left -= (await this.take(Math.min(left, LARGEST_BLOCK_BYTES))).length;
  }
}
