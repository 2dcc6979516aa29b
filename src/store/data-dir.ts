/**
 * One process owns a data directory. Both embedded engines keep their files there, and a second process on the same files could
 * corrupt them, so the owner writes its pid and start time into `chargehouse.pid`.
 *
 * This is safe without file locks (Node has none), because each step is atomic in the file system:
 * - the file appears with its whole content (`link` of a finished file), so nobody reads half of it;
 * - the file of a dead owner is replaced by `rename`, and only by the holder of `chargehouse.pid.takeover`. Without that second
 *   claim, two processes could both see the dead owner, and the slower one would replace the file that the faster one has just
 *   made. A dead holder of the second claim is replaced by the same rule.
 *
 * The process of an owner shows whether it is alive. If that process cannot be seen, in another container on the same volume, a
 * heartbeat shows it: the owner touches its file, and whoever wants the directory watches whether it is touched.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { judgeOwner, ourselves, parseOwner } from "./data-dir-owner.js";

/** Another process is at work on the data directory. The message is one sentence for the operator. */
export class DataDirInUse extends Error {
  readonly code = "data_dir_in_use";
  constructor(
    readonly dataDir: string,
    readonly pid: number,
  ) {
    super(
      `The data directory ${dataDir} is in use by process ${pid}: stop that process, or set another data_dir.`,
    );
    this.name = "DataDirInUse";
  }
}

export interface DataDirClaim {
  /** The absolute path of the directory. */
  readonly dataDir: string;
  /** Gives the directory up. Harmless when called twice. */
  release(): void;
}

/** How often an owner touches its file, and how long it is watched for that. Milliseconds. */
const HEARTBEAT_MS = 4_000;
const PATIENCE_MS = 15_000;

/**
 * Makes the directory when it is missing (mode 0700: bills are nobody else's business) and owns it until `release()`
 * or the end of the process. Throws `DataDirInUse`, before anything is touched, when a live process owns it. Blocks for
 * up to `patienceMs` when the last owner was killed in another container.
 */
export function claimDataDir(dataDir: string, { patienceMs = PATIENCE_MS } = {}): DataDirClaim {
  const directory = resolve(dataDir);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, "chargehouse.pid");
  const content = claimFile(file, directory, patienceMs);
  const isOurs = () => readClaim(file) === content;
  const heartbeat = setInterval(() => {
    if (isOurs()) utimesSync(file, new Date(), new Date());
  }, HEARTBEAT_MS).unref();
  return {
    dataDir: directory,
    release: () => {
      clearInterval(heartbeat);
      if (isOurs()) rmSync(file, { force: true });
    },
  };
}

/** How long a claim may wait for one that is just being made: that takes microseconds, and a pause of the machine. */
const TAKEOVER_DEADLINE_MS = 5_000;

function claimFile(file: string, directory: string, patienceMs: number): string {
  const deadline = Date.now() + TAKEOVER_DEADLINE_MS;
  for (;;) {
    const owner = readClaim(file);
    const pid = owner === undefined ? undefined : livePid(file, owner, patienceMs);
    if (pid !== undefined) throw new DataDirInUse(directory, pid);
    try {
      const content =
        owner === undefined ? createClaim(file) : replaceClaim(file, owner, directory, patienceMs);
      if (content !== undefined) return content;
    } catch (error) {
      // Somebody else is replacing the dead owner's file: a moment later that somebody is the owner.
      if (!(error instanceof DataDirInUse) || Date.now() > deadline) throw error;
      pause(5);
    }
  }
}

/** Undefined: somebody else was faster. */
function createClaim(file: string): string | undefined {
  const { temporary, content } = writeOwnClaim(file);
  try {
    linkSync(temporary, file);
    return content;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Undefined: the dead owner's file is no longer there, somebody else was faster. */
function replaceClaim(
  file: string,
  deadOwner: string,
  directory: string,
  patienceMs: number,
): string | undefined {
  const takeover = `${file}.takeover`;
  claimFile(takeover, directory, patienceMs);
  try {
    if (readClaim(file) !== deadOwner) return undefined;
    const { temporary, content } = writeOwnClaim(file);
    renameSync(temporary, file);
    return content;
  } finally {
    rmSync(takeover, { force: true });
  }
}

function writeOwnClaim(file: string): { temporary: string; content: string } {
  const nonce = randomBytes(6).toString("hex");
  const content = `${JSON.stringify({ ...ourselves(), nonce })}\n`;
  const temporary = `${file}.${process.pid}.${nonce}`;
  const fd = openSync(temporary, "wx", 0o644);
  try {
    writeFileSync(fd, content);
    fsyncSync(fd);
  } catch (error) {
    // A disk that is full: who tries again until it has room leaves no more than one who does not.
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  return { temporary, content };
}

function readClaim(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The pid of the claim's owner when it lives. What is no claim of ours has no live owner. */
function livePid(file: string, claim: string, patienceMs: number): number | undefined {
  const owner = parseOwner(claim);
  if (owner === undefined) return undefined;
  const judgement = judgeOwner(owner);
  const alive = judgement === "out of sight" ? isTouched(file, patienceMs) : judgement === "alive";
  return alive ? owner.pid : undefined;
}

/** Whether the file's time moves while we look. Its value says nothing: clocks differ between machines. */
function isTouched(file: string, patienceMs: number): boolean {
  const touchedAt = () => statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  const before = touchedAt();
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; pause(100)) {
    const now = touchedAt();
    if (now !== before) return now !== undefined;
  }
  return false;
}

/** Blocks: a start that waits for its data directory has nothing else to do. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
