/**
 * A folder in memory for the data of tests. Stores create and sync hundreds of small files: writing 60 days of
 * chargebacks takes 0.75 s in memory and 1.6 s on ext4 (2 cores, engine 26.7), of which more than half is the file
 * system's.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const TMPFS = 0x01021994;
const GIB = 2 ** 30;

/** Undefined on other systems, if memory is short, and if programs must not run from it. */
export function memoryFolder(): string | undefined {
  if (process.env.TMPDIR !== undefined || totalmem() < 15 * GIB || !hasRoom()) return undefined;
  const folder = mkdtempSync(join(MEMORY, "chargehouse-"));
  // Other users need to traverse it, because Postgres does not run as root.
  chmodSync(folder, 0o711);
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  try {
    execFileSync(program);
    rmSync(program);
    return folder;
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

function hasRoom(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY);
    return type === TMPFS && bavail * bsize > 8 * GIB;
  } catch {
    return false;
  }
}
