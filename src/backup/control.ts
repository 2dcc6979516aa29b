/**
 * How a command asks the process that has the data directory open for a backup: a unix socket in a folder of the data directory that
 * only its user can enter. It takes one request at a time and knows nothing else.
 */
import { chmod, mkdir, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { isAbsolute, join } from "node:path";
import { text } from "node:stream/consumers";
import type { Logger } from "pino";
import { errorMessage } from "../store/error-message.js";
import type { OpenedStores } from "../store/open-stores.js";
import { type SocketFolder, socketFolder } from "../store/socket-folder.js";
import { BackupRefused, type BackupSummary, takeBackup } from "./take-backup.js";

const SOCKET = "control.sock";
const PATH = "/backup";
/** Of a request: a path, with room. */
const MOST_BYTES = 64 * 1024;

const folderOf = (dataDir: string) => join(dataDir, "control");

export interface BackupControl {
  /** Ends a backup that is under way. */
  close(): Promise<void>;
}

export interface OpenBackupControl {
  readonly stores: OpenedStores;
  readonly dataDir: string;
  readonly logger: Logger;
}

/** Listens until closed. Only for the owner of the data directory; undefined where not both stores are embedded. */
export async function openBackupControl(options: OpenBackupControl): Promise<BackupControl | undefined> {
  const { stores, dataDir, logger } = options;
  if (stores.embeddedClickHouse === undefined || !stores.ownsPostgres) return undefined;
  const folder = folderOf(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const socket = socketFolder(folder, SOCKET);
  const path = join(socket.path, SOCKET);
  await rm(path, { force: true });
  const closing = new AbortController();
  let busy: Promise<void> | undefined;
  const server = createServer((asked, answer) => {
    if (busy !== undefined) return send(answer, 409, { message: "Another backup is being taken." });
    busy = handle(asked, answer).finally(() => {
      busy = undefined;
    });
  });
  const handle = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    answer.once("close", () => gone.abort(new Error("the command that asked for the backup has ended")));
    const signal = AbortSignal.any([gone.signal, closing.signal]);
    try {
      const target = await targetOf(asked);
      logger.info({ target }, "taking a backup");
      const summary = await takeBackup({ stores, dataDir, target, signal });
      logger.info({ target, ...summary }, "took a backup");
      send(answer, 200, summary);
    } catch (error) {
      const message = errorMessage(error);
      if (!(error instanceof BackupRefused)) logger.error({ err: error }, "could not take a backup");
      send(answer, error instanceof BackupRefused ? 400 : 500, { message });
    }
  };
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(path, resolve);
  });
  // After the start, an error is one connection that could not be accepted.
  server.on("error", (error) => logger.warn({ err: error }, "the socket for backups failed"));
  await chmod(path, 0o600);
  return {
    async close() {
      closing.abort(new Error("the service is shutting down"));
      const closed = new Promise((resolve) => server.close(resolve));
      await busy;
      server.closeAllConnections();
      await closed;
      socket.close();
    },
  };
}

async function targetOf(asked: IncomingMessage): Promise<string> {
  if (asked.method !== "POST" || asked.url !== PATH)
    throw new BackupRefused(`Only POST ${PATH} is known here.`);
  if (!(Number(asked.headers["content-length"]) <= MOST_BYTES))
    throw new BackupRefused("The request is too long.");
  const { target } = JSON.parse(await text(asked)) as { target?: unknown };
  if (typeof target !== "string" || !isAbsolute(target))
    throw new BackupRefused("target must be the absolute path of a folder.");
  return target;
}

function send(answer: ServerResponse, status: number, body: object): void {
  answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Undefined when no process listens. Throws `BackupRefused` with what the service says. */
export async function askForBackup(
  dataDir: string,
  target: string,
  signal: AbortSignal,
): Promise<BackupSummary | undefined> {
  const folder = folderOf(dataDir);
  let socket: SocketFolder;
  try {
    socket = socketFolder(folder, SOCKET);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  const body = JSON.stringify({ target });
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(
        {
          socketPath: join(socket.path, SOCKET),
          method: "POST",
          path: PATH,
          headers: { "content-length": Buffer.byteLength(body) },
          signal,
        },
        resolve,
      )
        .once("error", reject)
        .end(body);
    });
    const said = JSON.parse(await text(answer)) as BackupSummary & { message: string };
    if (answer.statusCode !== 200) throw new BackupRefused(said.message);
    return said;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  } finally {
    socket.close();
  }
}

/** No socket, or one that a killed process left behind. */
function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ECONNREFUSED";
}
