/**
 * If the engine meets an error after it began to write, the error is at the end of its output, marked with a tag that the head of
 * the response announced. Whoever passes the bytes on has to hold the end back until it is known to be good.
 */

/** An error's text is at most 16 KiB long; twice that is held back. */
const HELD_BACK = 1 << 15;

/** The chunks as they come, some 32 KiB late. Throws instead of giving the part that holds the error. */
export async function* refuseBrokenEnd(
  source: AsyncIterable<Buffer>,
  tag: string | undefined,
): AsyncGenerator<Buffer> {
  const held: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of source) {
      held.push(chunk);
      bytes += chunk.length;
      for (let oldest = held[0]; oldest && bytes - oldest.length >= HELD_BACK; oldest = held[0]) {
        held.shift();
        bytes -= oldest.length;
        yield oldest;
      }
    }
  } catch (error) {
    // The engine may close the connection behind its error: then that says why, and the connection does not.
    throw brokenOff(Buffer.concat(held), tag) ?? error;
  }
  const end = Buffer.concat(held);
  const broken = brokenOff(end, tag);
  if (broken !== undefined) throw broken;
  if (end.length > 0) yield end;
}

function brokenOff(end: Buffer, tag: string | undefined): Error | undefined {
  const at = tag === undefined ? -1 : end.lastIndexOf(`\r\n__exception__\r\n${tag}`);
  // The mark is written twice, before and behind the text; the text is what lies between.
  const opening = at === -1 ? -1 : end.indexOf(`__exception__\r\n${tag}`);
  return opening === -1
    ? undefined
    : new Error(`the store broke off: ${end.subarray(opening).toString().slice(0, 2000)}`);
}
