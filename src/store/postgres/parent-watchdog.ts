import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import type { ServerRun } from "./server.js";
import type { ServerUser } from "./server-user.js";

/**
 * Ends a server when our process ends without doing so, by `kill -9` for example: nobody else would, and it would go on with
 * 60 MB of memory until the next start. A shell waits for the end of a pipe that only we hold, so the kernel tells it, however we end.
 * It takes 1 MB, and asks for a fast shutdown. What does not obey is left to the next start (`orphan-postmaster.ts`).
 */
export function watchParent({ pid, ended }: ServerRun, user: ServerUser | undefined, logger: Logger): void {
  const guard = spawn("/bin/sh", ["-c", 'read -r _; kill -INT "$0"', String(pid)], {
    cwd: "/",
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
    detached: true, // Ctrl-C in a terminal must not end it before us
    ...user,
  });
  guard.on("error", (err) =>
    logger.warn({ err }, "the embedded Postgres will outlive a kill -9 of this process"),
  );
  guard.unref();
  const stdin = guard.stdin as Socket;
  stdin.on("error", () => undefined);
  stdin.unref();
  void ended.then(() => guard.kill("SIGKILL"));
}
