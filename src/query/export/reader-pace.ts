/**
 * How fast a reader reads what is sent to it: bytes per time spent waiting for the reader. The time that the store takes to find
 * the next bytes does not count.
 */

/** Somebody else waits for the place of one who reads too slowly. */
class SlowReaderError extends Error {
  override readonly name = "SlowReaderError";
}

export interface PaceLimit {
  /** Milliseconds of waiting for the reader, in all, before the pace counts. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
  /** Whether somebody waits for the place: else any pace will do. */
  readonly isWanted: () => boolean;
}

export interface ReaderPace {
  /** Bytes are offered from now on. */
  offered(): void;
  /** So many were taken. */
  taken(bytes: number): void;
  /** Throws SlowReaderError. */
  check(): void;
}

/** `now` is in milliseconds, and never goes back. */
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
      if (waited < limit.graceMs || !isSlow || !limit.isWanted()) return;
      const seconds = Math.round(waited / 1000);
      throw new SlowReaderError(`${bytes} bytes were read in ${seconds} s while another waits for the place`);
    },
  };
}
