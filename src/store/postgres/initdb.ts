/** Creates the files of an empty cluster. */
import { spawn } from "node:child_process";
import { chownSync, closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dataPath, SUPERUSER, serverEnvironment } from "./cluster-files.js";
import type { ServerUser } from "./server-user.js";

const INITDB_ARGUMENTS = [
  `--username=${SUPERUSER}`,
  "--auth=scram-sha-256",
  "--encoding=UTF8",
  // Text sorts by code point, the same on every machine, and lower() and ILIKE still know all letters: with
  // libc's C locale they know ASCII alone. The provider is part of Postgres, so no system upgrade breaks an index.
  "--locale=C",
  "--locale-provider=builtin",
  "--builtin-locale=C.UTF-8",
];

/** `folder` is empty and belongs to `user`. */
export async function runInitdb(
  initdb: string,
  folder: string,
  user: ServerUser | undefined,
  password: string,
): Promise<void> {
  const stdin = passwordFile(folder, user, password);
  const child = spawn(initdb, ["-D", dataPath(folder), ...INITDB_ARGUMENTS, "--pwfile=/dev/stdin"], {
    cwd: folder,
    env: serverEnvironment(),
    stdio: [stdin, "pipe", "pipe"],
    ...user,
  });
  closeSync(stdin);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0)
    throw new Error(`initdb of the embedded Postgres failed with ${code}:\n${said.slice(-2_000)}`);
}

/**
 * initdb takes a password from a file only, and as another user it cannot reach ours; so it gets an open one as its
 * standard input. A regular file, because /dev/stdin is opened again, which Linux refuses for a pipe of another user.
 */
function passwordFile(folder: string, user: ServerUser | undefined, password: string): number {
  const path = `${folder}.password`;
  rmSync(path, { force: true });
  writeFileSync(path, `${password}\n`, { flag: "wx", mode: 0o600 });
  if (user !== undefined) chownSync(path, user.uid, user.gid);
  const fd = openSync(path, "r");
  rmSync(path);
  return fd;
}
