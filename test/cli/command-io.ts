import { Writable } from "node:stream";
import type { CommandIo } from "../../src/cli/command.js";

/** The streams and the abort signal of a command in a test. */
export function commandIo() {
  const abort = new AbortController();
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written) =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += String(chunk);
        done();
      },
    });
  const io: CommandIo = { stdout: stream("stdout"), stderr: stream("stderr"), env: {}, signal: abort.signal };
  return { io, abort, written };
}
