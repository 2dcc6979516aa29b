/** Makes the path of a unix socket short enough for a socket address. */
import { closeSync, openSync } from "node:fs";

/** `sun_path` of a socket address has 108 bytes on Linux and 104 elsewhere, including the terminating zero. */
const SOCKET_PATH_LIMIT = process.platform === "linux" ? 107 : 103;

export interface SocketFolder {
  /** The folder as used in a socket address. Valid while this process lives, until `close` is called. */
  readonly path: string;
  close(): void;
}

/** Shortens a path that is too long for a socket address through an open file descriptor of the folder. */
export function socketFolder(folder: string, socket: string): SocketFolder {
  const length = Buffer.byteLength(`${folder}/${socket}`);
  if (length <= SOCKET_PATH_LIMIT) return { path: folder, close: () => undefined };
  if (process.platform !== "linux") {
    throw new Error(
      `The path of the data directory is too long for a unix socket: ${folder}/${socket} has ${length} bytes, at most ${SOCKET_PATH_LIMIT} are possible.`,
    );
  }
  const fd = openSync(folder, "r");
  let open = true;
  const close = () => {
    if (open) closeSync(fd);
    open = false;
  };
  return { path: `/proc/${process.pid}/fd/${fd}`, close };
}
