/** Creates the files of an empty cluster. */
import { spawn } from "node:child_process";
import { chownSync, closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dataPath, SUPERUSER, serverEnvironment } from "./cluster-files.js";
import type { ServerUser } from "./server-user.js";

const INITDB_ARGUMENTS = [
  `--username=${SUPERUSER}`,
  "--auth=scram-sha-256",
  "--encoding=UTF8",
  // Text sorts by code point, the same on every machine, and lower() and ILIKE still know all letters. With libc's C
  // locale they know ASCII only. The provider is part of Postgres, so no system upgrade breaks an index.
  "--locale=C",
  "--locale-provider=builtin",
  "--builtin-locale=C.UTF-8",
];

/** `folder` must be empty and belong to `user`. */
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
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0)
    throw new Error(`initdb of the embedded Postgres failed with ${code}:\n${output.slice(-2_000)}`);
}

/**
 * Returns an open file with the password. initdb reads a password only from a file, and as another user it cannot reach
 * ours, so it gets an open one as its standard input. It must be a regular file: initdb opens /dev/stdin again, which
 * Linux rejects for a pipe of another user.
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
