/** The place of a unix socket whose path is too long for a socket's address. */
import { closeSync, openSync } from "node:fs";

/** `sun_path` of a socket address holds 108 bytes on Linux and 104 elsewhere, with the zero at its end. */
const SOCKET_PATH_LIMIT = process.platform === "linux" ? 107 : 103;

export interface SocketFolder {
  /** The folder as a socket's address names it; good while this process lives and `close` was not called. */
  readonly path: string;
  close(): void;
}

/** A path too long for a socket's address is shortened through an open folder. */
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
