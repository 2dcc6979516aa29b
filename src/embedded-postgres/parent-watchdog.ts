import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import type { ServerRun } from "./server.js";
import type { ServerUser } from "./server-user.js";

/**
 * Ends a server if our process ends without stopping it, such as by `kill -9`. Otherwise the server would go on with 60
 * MB of memory until the next start. A shell waits for the end of a pipe whose other end only we have, so the kernel
 * notifies it in whichever way we end. It takes 1 MB, and requests a fast shutdown. If that fails, the next start stops
 * the server (`orphan-postmaster.ts`).
 */
export function watchParent({ pid, ended }: ServerRun, user: ServerUser | undefined, logger: Logger): void {
  const watchdog = spawn("/bin/sh", ["-c", 'read -r _; kill -INT "$0"', String(pid)], {
    cwd: "/",
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
    detached: true, // Ctrl-C in a terminal must not end it before us
    ...user,
  });
  watchdog.on("error", (err) =>
    logger.warn({ err }, "the embedded Postgres will outlive a kill -9 of this process"),
  );
  watchdog.unref();
  const stdin = watchdog.stdin as Socket;
  stdin.on("error", () => undefined);
  stdin.unref();
  void ended.then(() => watchdog.kill("SIGKILL"));
}
