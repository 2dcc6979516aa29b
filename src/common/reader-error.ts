import type { EventEmitter } from "node:events";

/**
 * Returns the stream with a listener for its `error` event. Node.js ends the process when an `error` event has no
 * listener, and a stream can fail before its reader begins, or after its reader has stopped. A reader that reads from
 * the stream still receives the error.
 */
export function readerError<Stream extends EventEmitter>(stream: Stream): Stream {
  return stream.on("error", () => undefined);
}
