/** Stops a stream once it has too many bytes: a few compressed bytes may unpack to a thousand times their number. */
import { UnreadableFileError } from "../../focus/index.js";

const MIB = 1_048_576;

/** @yields the same bytes. Throws `UnreadableFileError` once there are more than `mib` MiB. */
export async function* limited(chunks: AsyncIterable<Uint8Array>, mib: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > mib * MIB) throw tooMuchUnpacked(mib);
    yield chunk;
  }
}

export function tooMuchUnpacked(mib: number): UnreadableFileError {
  return new UnreadableFileError(`unpacks to more than ${mib} MiB (limits.max_unpacked_mib)`);
}
