/** Ends a stream that nobody reads any more, because its source would wait for the client forever. */
import { addAbortSignal, Readable } from "node:stream";
import { readerError } from "../common/reader-error.js";
import { ExportIdleError } from "./stream.js";

/** @param idleMs the longest time between two reads */
export function limitIdle<Piece>(pieces: AsyncIterable<Piece>, idleMs: number): Readable {
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(new ExportIdleError(idleMs)), idleMs);
  async function* watched(): AsyncGenerator<Piece> {
    try {
      for await (const piece of pieces) {
        timer.refresh();
        yield piece;
        timer.refresh();
      }
    } finally {
      clearTimeout(timer);
    }
  }
  const stream = Readable.from(watched());
  stream.once("close", () => clearTimeout(timer));
  return readerError(addAbortSignal(idle.signal, stream));
}
