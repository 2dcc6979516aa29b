/**
 * Blocks of the Native format at a revision of the protocol (`client_protocol_version`), as clickhouse-go and clickhouse-connect
 * request them over HTTP. The engine writes them at revision 0, without later additions: facts about the block at its head, and a
 * byte after each column's type that says how its values are written. The stream does not say where columns end, so values are
 * skipped by type.
 */
import { exception } from "./exception.js";
import { Incomplete, NativeReader } from "./native-reader.js";
import { skipValues } from "./native-types.js";

/** From this revision on a byte tells whether a column is written in a special way; ours never are. */
const CUSTOM_SERIALIZATION = 54_454;
/** Field 1: no overflow; field 2: bucket -1; the end. */
const BLOCK_INFO = Buffer.from([1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0]);
const ORDINARY = Buffer.from([0]);

export interface NativeBlocks {
  /** The blocks that are complete with this chunk, at the revision. */
  take(chunk: Buffer): Buffer;
  /** The blocks that waited for more. Throws when the stream ended amid a block. */
  end(): Buffer;
}

export function nativeBlocks(revision: number): NativeBlocks {
  let held: Buffer = Buffer.alloc(0);
  /** A block that was not complete is not looked at again before there is this much of it. */
  let wanted = 0;

  function take(chunk: Buffer): Buffer {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const out: Buffer[] = [];
    while (held.length > 0 && held.length >= wanted) {
      const block = blockAt(held, revision);
      if (block === undefined) {
        wanted = held.length * 1.5;
        break;
      }
      out.push(...block.parts);
      held = held.subarray(block.bytes);
      wanted = 0;
    }
    return Buffer.concat(out);
  }

  return {
    take,
    end() {
      wanted = 0;
      const rest = take(Buffer.alloc(0));
      if (held.length > 0) throw exception("INCORRECT_DATA", "The response ended within a block");
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
    if (error instanceof Incomplete) return undefined;
    throw error;
  }
  parts.push(data.subarray(from, reader.at));
  return { parts, bytes: reader.at };
}
