/** Text of CSV with a row of ours behind its last one: a value that is not closed swallows that row, so it tells that the file was read to its end. */
import { UnreadableFile } from "../../focus/format.js";

const LF = 0x0a;
const CR = 0x0d;
/** So many empty lines at the end are no bill. */
const MOST_HELD_BYTES = 1_048_576;
/** The engine holds a whole row in memory. */
const LONGEST_LINE_MIB = 16;

export async function* withEnd(chunks: AsyncIterable<Buffer | string>, row: string): AsyncGenerator<Buffer> {
  /** Line breaks that may be the last bytes: more than one of them would be a row. */
  let held = Buffer.alloc(0);
  /** Bytes since the last line break. */
  let line = 0;
  for await (const each of chunks) {
    const chunk = Buffer.from(each);
    const lastBreak = chunk.lastIndexOf(LF);
    line = lastBreak < 0 ? line + chunk.length : chunk.length - lastBreak - 1;
    if (line > LONGEST_LINE_MIB * 1_048_576)
      throw new UnreadableFile(`has a line of more than ${LONGEST_LINE_MIB} MiB`);
    let end = chunk.length;
    while (end > 0 && (chunk[end - 1] === LF || chunk[end - 1] === CR)) end--;
    if (end > 0) {
      if (held.length > 0) yield held;
      yield chunk.subarray(0, end);
      held = Buffer.from(chunk.subarray(end));
    } else held = Buffer.concat([held, chunk]);
    if (held.length > MOST_HELD_BYTES) throw new UnreadableFile("has more than 1 MiB of empty lines");
  }
  yield Buffer.from(`\n${row}`);
}
