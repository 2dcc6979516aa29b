/** Creates the cluster at the first start, and ensures that it belongs to the user that the server runs as. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { PostgresBinaries } from "./binaries.js";
import type { ClusterFiles } from "./cluster-files.js";
import { runInitdb } from "./initdb.js";
import type { ServerUser } from "./server-user.js";

/** Creates the cluster if there is none, and returns the superuser's password. */
export async function ensureCluster(
  files: ClusterFiles,
  binaries: PostgresBinaries,
  user: ServerUser | undefined,
): Promise<string> {
  if (existsSync(files.cluster)) {
    if (!existsSync(files.password)) {
      throw new Error(`The password of the embedded Postgres, ${files.password}, is missing: put it back.`);
    }
    giveTo(files.cluster, user);
    return readFileSync(files.password, "utf8").trim();
  }
  const password = randomBytes(24).toString("base64url");
  rmSync(files.password, { force: true });
  const fd = openSync(files.password, "wx", 0o600);
  try {
    writeFileSync(fd, `${password}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  await initialise(files, binaries, user, password);
  return password;
}

/** Creates the cluster under a temporary name first, so that a cluster under its final name is always complete. */
async function initialise(
  files: ClusterFiles,
  binaries: PostgresBinaries,
  user: ServerUser | undefined,
  password: string,
): Promise<void> {
  const unfinished = `${files.cluster}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true, maxRetries: 5 });
  mkdirSync(unfinished, { mode: 0o700 });
  giveTo(unfinished, user);
  await runInitdb(binaries.initdb, unfinished, user, password);
  renameSync(unfinished, files.cluster);
  const fd = openSync(files.dataDir, "r");
  fsyncSync(fd);
  closeSync(fd);
}

/**
 * As root: gives a folder to a user. The folder itself comes last, so that the next start continues an interrupted run.
 */
function giveTo(folder: string, user: ServerUser | undefined): void {
  if (user === undefined) return;
  const { uid } = lstatSync(folder);
  if (uid === user.uid) return;
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    lchownSync(join(folder, entry), user.uid, user.gid);
  }
  chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
}
