/**
 * One process owns a data directory. Both embedded engines keep their files there, and a second process on the same
 * files could corrupt them, so the owner writes its pid and start time into `chargehouse.pid`.
 *
 * This is safe without file locks (Node.js has none), because each step is atomic in the file system:
 * - The file appears with its whole content (`link` of a finished file), so nobody reads half of it.
 * - Only the owner of `chargehouse.pid.takeover` replaces the file of a dead owner, by `rename`. Without that second
 *   claim, two processes could both see the dead owner, and the slower one would replace the file that the faster one
 *   has just made. A dead owner of the second claim is replaced by the same rule.
 *
 * The owner's process shows whether the owner is alive. If that process is not visible, because it runs in another
 * container on the same volume, a heartbeat shows it: the owner touches its file, and a process that wants the
 * directory watches the file for changes.
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

/** Another process uses the data directory. The message is one sentence for the operator. */
export class DataDirInUseError extends Error {
  readonly code = "data_dir_in_use";
  constructor(
    readonly dataDir: string,
    readonly pid: number,
  ) {
    super(
      `The data directory ${dataDir} is in use by process ${pid}: stop that process, or set another data_dir.`,
    );
    this.name = "DataDirInUseError";
  }
}

export interface DataDirClaim {
  /** The absolute path of the directory. */
  readonly dataDir: string;
  /** Releases the directory. Has no effect when called again. */
  release(): void;
}

/** How often an owner touches its file, and how long a claimant watches the file for that. Milliseconds. */
const HEARTBEAT_MS = 4_000;
const PATIENCE_MS = 15_000;

/**
 * Creates the directory if it is missing (mode 0700, because bills are confidential) and owns it until `release()` or
 * the end of the process. Throws `DataDirInUseError`, before touching anything, if a live process owns the directory. Blocks
 * for up to `patienceMs` if the last owner was killed in another container.
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

/** How long a claim waits for another claim in progress. A claim takes microseconds, plus pauses of the machine. */
const TAKEOVER_DEADLINE_MS = 5_000;

function claimFile(file: string, directory: string, patienceMs: number): string {
  const deadline = Date.now() + TAKEOVER_DEADLINE_MS;
  for (;;) {
    const owner = readClaim(file);
    const pid = owner === undefined ? undefined : livePid(file, owner, patienceMs);
    if (pid !== undefined) throw new DataDirInUseError(directory, pid);
    try {
      const content =
        owner === undefined ? createClaim(file) : replaceClaim(file, owner, directory, patienceMs);
      if (content !== undefined) return content;
    } catch (error) {
      // Another process is replacing the dead owner's file, and is about to become the owner.
      if (!(error instanceof DataDirInUseError) || Date.now() > deadline) throw error;
      pause(5);
    }
  }
}

/** Returns undefined if another process was faster. */
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

/** Returns undefined if another process has replaced the dead owner's file first. */
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
    // The disk may be full. Repeated attempts must not leave more and more temporary files.
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

/** Returns the pid of the claim's owner if it is alive. A file that is not a claim has no live owner. */
function livePid(file: string, claim: string, patienceMs: number): number | undefined {
  const owner = parseOwner(claim);
  if (owner === undefined) return undefined;
  const judgement = judgeOwner(owner);
  const alive = judgement === "out of sight" ? isTouched(file, patienceMs) : judgement === "alive";
  return alive ? owner.pid : undefined;
}

/**
 * Watches whether the modification time changes. Its value alone is meaningless, because clocks differ between
 * machines.
 */
function isTouched(file: string, patienceMs: number): boolean {
  const touchedAt = () => statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  const before = touchedAt();
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; pause(100)) {
    const now = touchedAt();
    if (now !== before) return now !== undefined;
  }
  return false;
}

/** Blocks the process, which has nothing else to do while it waits for its data directory. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
