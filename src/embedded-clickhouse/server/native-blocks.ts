/**
 * Converts blocks of the Native format to a revision of the protocol (`client_protocol_version`), as clickhouse-go and
 * clickhouse-connect request over HTTP. The engine writes them at revision 0, without later additions: facts about the
 * block at its head, and a byte after each column's type for its serialization. The stream does not tell where columns
 * end, so values are skipped by type.
 */
import { exception } from "./exception.js";
import { IncompleteError, NativeReader } from "./native-reader.js";
import { skipValues } from "./native-types.js";

/** From this revision on, a byte tells whether a column has a custom serialization. Ours never has. */
const CUSTOM_SERIALIZATION = 54_454;
/** Field 1: no overflow. Field 2: bucket -1. The end. */
const BLOCK_INFO = Buffer.from([1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0]);
const ORDINARY = Buffer.from([0]);

export interface NativeBlocks {
  /** Returns the blocks that are complete with this chunk, at the revision. */
  take(chunk: Buffer): Buffer;
  /** Returns the remaining blocks. Throws if the stream ended within a block. */
  end(): Buffer;
}

export function nativeBlocks(revision: number): NativeBlocks {
  let buffered: Buffer = Buffer.alloc(0);
  /** An incomplete block is not parsed again before there are this many bytes of it. */
  let retryAt = 0;

  function take(chunk: Buffer): Buffer {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    const out: Buffer[] = [];
    while (buffered.length > 0 && buffered.length >= retryAt) {
      const block = blockAt(buffered, revision);
      if (block === undefined) {
        retryAt = buffered.length * 1.5;
        break;
      }
      out.push(...block.parts);
      buffered = buffered.subarray(block.bytes);
      retryAt = 0;
    }
    return Buffer.concat(out);
  }

  return {
    take,
    end() {
      retryAt = 0;
      const rest = take(Buffer.alloc(0));
      if (buffered.length > 0) throw exception("INCORRECT_DATA", "The response ended within a block");
      return rest;
    },
  };
}

function blockAt(
  data: Buffer,
  revision: number,
): { readonly parts: Buffer[]; readonly bytes: number } | undefined {
  const reader = new NativeReader(data);
  const parts: Buffer[] = [BLOCK_INFO];
  let from = 0;
  try {
    const columns = reader.varint();
    const rows = reader.varint();
    for (let column = 0; column < columns; column += 1) {
      const name = reader.text();
      const type = reader.text();
      parts.push(data.subarray(from, reader.at));
      from = reader.at;
      if (revision >= CUSTOM_SERIALIZATION) parts.push(ORDINARY);
      if (rows > 0) skipValues(reader, type, rows, name);
    }
  } catch (error) {
    if (error instanceof IncompleteError) return undefined;
    throw error;
  }
  parts.push(data.subarray(from, reader.at));
  return { parts, bytes: reader.at };
}
