/**
 * Named pipes that carry the engine's output to us: `SELECT … INTO OUTFILE '<pipe>' APPEND FORMAT x`.
 *
 * This is the only way out of chDB that streams any format with back-pressure and without a thread held by the reader (measured,
 * 50 M rows, 1.46 GB CSV: 2.1 s and a flat 350 MB; the binding's own stream repeats CSV headers in every chunk).
 *
 * A pipe is opened once, by both ends, and reused: our own writing end keeps the engine's open() from blocking and the reader from
 * seeing an end. The end of a query's output is a random mark of the pipe's that we write ourselves, after the engine is done.
 *
 * Output is read into memory that is used again once it was passed on. Memory of its own for each piece, as Node takes it, costs as much
 * processor time again: the kernel has to clear it, and the garbage collector runs all the time (550 MB of CSV: 1.0 s instead of 0.5 s).
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants, openSync, writeSync } from "node:fs";
import { type ConnectOpts, Socket, type SocketConstructorOpts } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

/**
 * Takes a piece of output; false pauses the pipe until `resume`. The piece is the listener's until it calls `passedOn`. One that does not
 * may keep it.
 */
export type OutputListener = (chunk: Buffer, passedOn?: () => void) => boolean;

export interface OutputPipe {
  /** What INTO OUTFILE names. */
  readonly path: string;
  /** Starts handing over output. */
  read(listener: OutputListener): void;
  resume(): void;
  /** To be called when the engine is done with the statement: resolves when its last byte was handed over. */
  finish(): Promise<void>;
}

/** How long to wait for room in a full pipe before trying to write the mark again. */
const RETRY_MS = 5;
const MARK_BYTES = 32;
/** Linux: F_SETPIPE_SZ, and the largest size an ordinary user may ask for. */
const SET_PIPE_SIZE = 1031;
const PIPE_BYTES = 1 << 20;
/** Pieces of 256 KiB or 1 MiB are no faster. */
const PIECE_BYTES = 1 << 16;
/** Kept for all pipes, 2 MiB: what one long answer has under way. */
const SPARE_PIECES = 32;

const run = promisify(execFile);

/** Makes `count` pipes in `directory`, which must be ours alone. Only the first `large` ones are made large: a user's pipes have a limit. */
export async function openPipes(directory: string, count: number, large = count): Promise<OutputPipe[]> {
  const paths = Array.from({ length: count }, (_, index) => join(directory, `output-${index}`));
  await run("mkfifo", ["-m", "600", ...paths]);
  const spare: Uint8Array[] = [];
  const pipes = paths.map((path) => openPipe(path, spare));
  await enlarge(paths.slice(0, large));
  return pipes;
}

function openPipe(path: string, spare: Uint8Array[]): OutputPipe {
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writeEnd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  /** Nobody else knows it, so no output holds it. */
  const mark = randomBytes(MARK_BYTES);
  let listener: OutputListener = () => true;
  let ending: Ending | undefined;

  /** False stops reading. */
  function take(length: number, memory: Uint8Array): boolean {
    const piece = Buffer.from(memory.buffer, memory.byteOffset, length);
    const data = ending === undefined ? piece : ending.take(piece);
    const passedOn = () => {
      if (spare.length < SPARE_PIECES) spare.push(memory);
    };
    const goesOn = data.length === 0 || listener(data, passedOn);
    if (ending?.seen()) ending.done();
    return goesOn;
  }

  const onread = { buffer: () => spare.pop() ?? new Uint8Array(PIECE_BYTES), callback: take };
  const options: SocketConstructorOpts & ConnectOpts = {
    fd: readEnd,
    readable: true,
    writable: false,
    onread,
  };
  const socket = new Socket(options);

  return {
    path,
    read(next) {
      listener = next;
      socket.resume();
    },
    resume: () => void socket.resume(),
    async finish() {
      await new Promise<void>((resolve, reject) => {
        ending = endingAt(mark, resolve);
        writeMark(writeEnd, mark).catch(reject);
      });
      ending = undefined;
      listener = () => true;
    },
  };
}

interface Ending {
  /** Holds back what may be the mark; gives what is data for sure. */
  take(chunk: Buffer): Buffer;
  seen(): boolean;
  done(): void;
}

function endingAt(mark: Buffer, done: () => void): Ending {
  let held: Buffer = Buffer.alloc(0);
  return {
    take(chunk) {
      const all = Buffer.concat([held, chunk]);
      const data = all.subarray(0, Math.max(0, all.length - MARK_BYTES));
      held = all.subarray(data.length);
      return data;
    },
    seen: () => held.equals(mark),
    done,
  };
}

/** The mark is far below PIPE_BUF, so it goes in whole or not at all. */
async function writeMark(writeEnd: number, mark: Buffer): Promise<void> {
  for (;;) {
    try {
      writeSync(writeEnd, mark);
      return;
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "EAGAIN") throw error;
    }
    await delay(RETRY_MS);
  }
}

/**
 * Pipes of 1 MiB instead of 64 KiB spare most of the switching between writer and reader (measured: 2.2 s → 1.7 s for 1.46 GB).
 * Node cannot ask for it and perl, where there is one, can: tried once, and not missed where it fails.
 */
async function enlarge(paths: readonly string[]): Promise<void> {
  if (process.platform !== "linux") return;
  const script = `for (@ARGV) { open(my $pipe, '+<', $_) or exit 1; fcntl($pipe, ${SET_PIPE_SIZE}, ${PIPE_BYTES}) or exit 1 }`;
  await run("perl", ["-e", script, "--", ...paths]).catch(() => undefined);
}
