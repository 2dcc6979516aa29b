/**
 * Checks that a text is UTF-8 to its last byte. Invalid bytes would be stored as they are, and break every export that
 * contains them.
 */
import { isUtf8 } from "node:buffer";
import { UnreadableFileError } from "../../focus/index.js";

/** @yields the same bytes. Throws `UnreadableFileError`. */
export async function* utf8(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  /** The beginning of a character whose other bytes are in the next chunk. */
  let rest = Buffer.alloc(0);
  for await (const each of chunks) {
    const chunk = Buffer.from(each);
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = wholeCharacters(text);
    if (!isUtf8(text.subarray(0, end))) throw notUtf8();
    rest = Buffer.from(text.subarray(end));
    yield chunk;
  }
  if (rest.length > 0) throw notUtf8();
}

/** Returns where the last character begins if it is incomplete, else the length. */
function wholeCharacters(text: Buffer): number {
  for (let back = 1; back <= Math.min(3, text.length); back++) {
    const byte = text.readUInt8(text.length - back);
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const bytes = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return bytes > back ? text.length - back : text.length;
  }
  return text.length;
}

export function notUtf8(): UnreadableFileError {
  return new UnreadableFileError("is not text in UTF-8; CSV and Parquet can be read");
}
