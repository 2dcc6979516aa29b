/** Limits for clients that read a stream slowly, or not at all. */
import { addAbortSignal, Readable } from "node:stream";
import { readerError } from "../common/reader-error.js";

/** No byte has moved for too long: the store hangs, or the client has stopped reading. */
export class ExportIdleError extends Error {
  override readonly name = "ExportIdleError";
  constructor(idleMs: number) {
    super(`no byte of an export was read for ${idleMs} ms`);
  }
}

/** The client reads too slowly while another request waits for a slot. */
class SlowReaderError extends Error {
  override readonly name = "SlowReaderError";
}

interface PaceLimit {
  /** Total time in milliseconds of waiting for the client before the pace counts. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
  /** True if another request waits for the slot. Otherwise, any pace is accepted. */
  readonly hasWaiters: () => boolean;
}

export interface ReaderPace {
  /** Starts the time of waiting for the client. */
  offered(): void;
  /** Records that the client took so many bytes. */
  taken(bytes: number): void;
  /** Throws SlowReaderError. */
  check(): void;
}

/**
 * Measures how fast a client reads: bytes per time spent waiting for the client. The time that the store takes to find
 * the next bytes does not count. `now` is in milliseconds and monotonic.
 */
export function readerPace(limit: PaceLimit, now: () => number = () => performance.now()): ReaderPace {
  let waitedBefore = 0;
  let since: number | undefined;
  let bytes = 0;
  return {
    offered() {
      since = now();
    },
    taken(count) {
      if (since !== undefined) waitedBefore += now() - since;
      since = undefined;
      bytes += count;
    },
    check() {
      const waited = waitedBefore + (since === undefined ? 0 : now() - since);
      const isSlow = bytes * 1000 < limit.bytesPerSecond * waited;
      if (waited < limit.graceMs || !isSlow || !limit.hasWaiters()) return;
      const seconds = Math.round(waited / 1000);
      throw new SlowReaderError(`${bytes} bytes were read in ${seconds} s while another request waits`);
    },
  };
}

/**
 * Ends a stream that nobody reads any more, because its source would wait for the client forever.
 *
 * @param idleMs the longest time between two reads
 */
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
