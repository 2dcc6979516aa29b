/**
 * Appends a row to a CSV text. An unclosed value swallows the row, so its presence proves that the file was read to its
 * end.
 */
import { UnreadableFileError } from "../../focus/index.js";

const LF = 0x0a;
const CR = 0x0d;
/** A file with more empty lines at its end is refused. */
const MAX_PENDING_BYTES = 1_048_576;
/** The engine holds a whole row in memory. */
const LONGEST_LINE_MIB = 16;

export async function* withEnd(chunks: AsyncIterable<Buffer | string>, row: string): AsyncGenerator<Buffer> {
  /** Line breaks that may be the last bytes. More than one of them would be a row. */
  let pendingBreaks = Buffer.alloc(0);
  /** Bytes since the last line break. */
  let line = 0;
  for await (const each of chunks) {
    const chunk = Buffer.from(each);
    const lastBreak = chunk.lastIndexOf(LF);
    line = lastBreak < 0 ? line + chunk.length : chunk.length - lastBreak - 1;
    if (line > LONGEST_LINE_MIB * 1_048_576)
      throw new UnreadableFileError(`has a line of more than ${LONGEST_LINE_MIB} MiB`);
    let end = chunk.length;
    while (end > 0 && (chunk[end - 1] === LF || chunk[end - 1] === CR)) end--;
    if (end > 0) {
      if (pendingBreaks.length > 0) yield pendingBreaks;
      yield chunk.subarray(0, end);
      pendingBreaks = Buffer.from(chunk.subarray(end));
    } else pendingBreaks = Buffer.concat([pendingBreaks, chunk]);
    if (pendingBreaks.length > MAX_PENDING_BYTES)
      throw new UnreadableFileError("has more than 1 MiB of empty lines");
  }
  yield Buffer.from(`\n${row}`);
}
