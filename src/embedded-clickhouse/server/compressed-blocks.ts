/**
 * ClickHouse's own compression over HTTP (`compress=1`, `decompress=1`), as clickhouse-jdbc and clickhouse-go request
 * it: blocks that consist of a checksum (16 bytes), a method, both sizes, and the data. All readers support LZ4, and
 * some support nothing else.
 *
 * We write LZ4 literals only: they are valid, and read at the speed of a copy, but no smaller than the data. Between
 * processes on one machine, compression costs more than it saves. Clients that want small responses request gzip.
 */
import { cityHash128 } from "./city-hash.js";
import { exception, type ServerException } from "./exception.js";

const LZ4 = 0x82;
const NONE = 0x02;
const CHECKSUM_BYTES = 16;
/** The method byte and both sizes. */
const HEADER_BYTES = 9;
/** Maximum size of the data in one block. */
const BLOCK_BYTES = 64 * 1024;

/** Returns the data as compressed blocks. */
export function compress(data: Buffer): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at < data.length; at += BLOCK_BYTES)
    blocks.push(block(data.subarray(at, at + BLOCK_BYTES)));
  return Buffer.concat(blocks);
}

function block(data: Buffer): Buffer {
  const literals = Buffer.concat([lengthOfLiterals(data.length), data]);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(LZ4, 0);
  header.writeUInt32LE(HEADER_BYTES + literals.length, 1);
  header.writeUInt32LE(data.length, 5);
  const body = Buffer.concat([header, literals]);
  return Buffer.concat([cityHash128(body), body]);
}

/** The token of an LZ4 sequence without a match: up to 14 in its upper half, and bytes of 255 for more. */
function lengthOfLiterals(length: number): Buffer {
  if (length < 15) return Buffer.from([length << 4]);
  const more = length - 15;
  return Buffer.from([0xf0, ...new Array<number>(Math.floor(more / 255)).fill(255), more % 255]);
}

/** Returns the content of compressed blocks, at most `maxBytes`. Throws if a block is incomplete or damaged. */
export function decompress(blocks: Buffer, maxBytes: number): Buffer {
  const parts: Buffer[] = [];
  let total = 0;
  for (let at = 0; at < blocks.length; ) {
    if (blocks.length - at < CHECKSUM_BYTES + HEADER_BYTES) throw broken("it ends amid a block's head");
    const start = at + CHECKSUM_BYTES;
    const size = blocks.readUInt32LE(start + 1);
    const unpackedSize = blocks.readUInt32LE(start + 5);
    total += unpackedSize;
    if (total > maxBytes)
      throw exception("QUERY_IS_TOO_LARGE", `The statement is longer than ${maxBytes} bytes`);
    if (size < HEADER_BYTES || start + size > blocks.length) throw broken("it ends amid a block");
    const body = blocks.subarray(start, start + size);
    if (!cityHash128(body).equals(blocks.subarray(at, start))) throw broken("a checksum is wrong");
    parts.push(unpacked(body.readUInt8(0), body.subarray(HEADER_BYTES), unpackedSize));
    at = start + size;
  }
  return Buffer.concat(parts);
}

function unpacked(method: number, data: Buffer, size: number): Buffer {
  if (method === NONE && data.length === size) return data;
  if (method !== LZ4) throw broken(`method 0x${method.toString(16)} is not known, send LZ4`);
  const output = Buffer.alloc(size);
  let at = 0;
  let end = 0;
  const next = () => {
    const byte = data[at];
    if (byte === undefined) throw broken("it ends amid LZ4");
    at += 1;
    return byte;
  };
  const length = (nibble: number) => {
    let sum = nibble;
    if (nibble === 15) for (let more = 255; more === 255; sum += more) more = next();
    return sum;
  };
  while (at < data.length) {
    const token = next();
    const literals = length(token >> 4);
    if (at + literals > data.length || end + literals > size) throw broken("LZ4 of more than it says");
    data.copy(output, end, at, at + literals);
    [at, end] = [at + literals, end + literals];
    if (at === data.length) break;
    const offset = next() | (next() << 8);
    const match = length(token & 15) + 4;
    if (offset === 0 || offset > end || end + match > size) throw broken("LZ4 that points outside");
    // Byte by byte, because a match may overlap its own output.
    for (let left = match; left > 0; left -= 1, end += 1) output[end] = output[end - offset] ?? 0;
  }
  if (end !== size) throw broken("LZ4 of less than it says");
  return output;
}

function broken(why: string): ServerException {
  return exception("CANNOT_DECOMPRESS", `The request's body could not be decompressed: ${why}`);
}
