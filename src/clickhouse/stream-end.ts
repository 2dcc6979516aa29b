/**
 * Detects errors at the end of a response. If ClickHouse meets an error after it began to write, it appends the error
 * to its output, marked with a tag that was announced in a header. So when bytes are passed on, the end must be held
 * back until it is known to be good.
 */

/** An error's text is at most 16 KiB long. Twice that is held back. */
const HELD_BACK = 1 << 15;

/** Yields the chunks, some 32 KiB late. Throws instead of yielding the part that contains the error. */
export async function* refuseBrokenEnd(
  source: AsyncIterable<Buffer>,
  tag: string | undefined,
): AsyncGenerator<Buffer> {
  const buffered: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of source) {
      buffered.push(chunk);
      bytes += chunk.length;
      for (let oldest = buffered[0]; oldest && bytes - oldest.length >= HELD_BACK; oldest = buffered[0]) {
        buffered.shift();
        bytes -= oldest.length;
        yield oldest;
      }
    }
  } catch (error) {
    // ClickHouse may close the connection after its error. The error is then the cause, and more useful than the
    // connection's.
    throw errorAtEnd(Buffer.concat(buffered), tag) ?? error;
  }
  const end = Buffer.concat(buffered);
  const error = errorAtEnd(end, tag);
  if (error !== undefined) throw error;
  if (end.length > 0) yield end;
}

function errorAtEnd(end: Buffer, tag: string | undefined): Error | undefined {
  const at = tag === undefined ? -1 : end.lastIndexOf(`\r\n__exception__\r\n${tag}`);
  // The mark is written before and after the text. The text is between the two.
  const opening = at === -1 ? -1 : end.indexOf(`__exception__\r\n${tag}`);
  return opening === -1
    ? undefined
    : new Error(
        `the store ended its response with an error: ${end.subarray(opening).toString().slice(0, 2000)}`,
      );
}
