/**
 * Requests for backups from commands to the process that has the data directory open. They use a unix socket in a
 * folder of the data directory that only its user can enter, one request at a time.
 */
import { chmod, mkdir, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { isAbsolute, join } from "node:path";
import { text } from "node:stream/consumers";
import type { Logger } from "pino";
import { errorMessage } from "../common/error-message.js";
import { type SocketFolder, socketFolder } from "../common/socket-folder.js";
import type { OpenedStores } from "../stores/open-stores.js";
import { BackupRefusedError, type BackupSummary, takeBackup } from "./take-backup.js";

const SOCKET = "control.sock";
const PATH = "/backup";
/** Maximum size of a request, which contains a path. */
const MAX_BYTES = 64 * 1024;

const folderOf = (dataDir: string) => join(dataDir, "control");

export interface BackupControl {
  /** Cancels a backup in progress and stops listening. */
  close(): Promise<void>;
}

export interface OpenBackupControl {
  readonly stores: OpenedStores;
  readonly dataDir: string;
  readonly logger: Logger;
}

/**
 * Listens until closed. Only the owner of the data directory may call it. Returns undefined unless both stores are
 * embedded.
 */
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
  const server = createServer((request, response) => {
    if (busy !== undefined) return send(response, 409, { message: "Another backup is being taken." });
    busy = handle(request, response).finally(() => {
      busy = undefined;
    });
  });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const disconnected = new AbortController();
    response.once("close", () =>
      disconnected.abort(new Error("the command that requested the backup has ended")),
    );
    const signal = AbortSignal.any([disconnected.signal, closing.signal]);
    try {
      const target = await targetOf(request);
      logger.info({ target }, "taking a backup");
      const summary = await takeBackup({ stores, dataDir, target, signal });
      logger.info({ target, ...summary }, "took a backup");
      send(response, 200, summary);
    } catch (error) {
      const message = errorMessage(error);
      if (!(error instanceof BackupRefusedError)) logger.error({ err: error }, "could not take a backup");
      send(response, error instanceof BackupRefusedError ? 400 : 500, { message });
    }
  };
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(path, resolve);
  });
  // After the start, an error is a connection that could not be accepted.
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

async function targetOf(incoming: IncomingMessage): Promise<string> {
  if (incoming.method !== "POST" || incoming.url !== PATH)
    throw new BackupRefusedError(`Only POST ${PATH} is known here.`);
  if (!(Number(incoming.headers["content-length"]) <= MAX_BYTES))
    throw new BackupRefusedError("The request is too long.");
  const { target } = JSON.parse(await text(incoming)) as { target?: unknown };
  if (typeof target !== "string" || !isAbsolute(target))
    throw new BackupRefusedError("target must be the absolute path of a folder.");
  return target;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/**
 * Requests a backup from the process that has the data directory open. Returns undefined if no process listens. Throws
 * `BackupRefusedError` with the message of the service.
 */
export async function requestBackup(
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
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
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
    const result = JSON.parse(await text(response)) as BackupSummary & { message: string };
    if (response.statusCode !== 200) throw new BackupRefusedError(result.message);
    return result;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  } finally {
    socket.close();
  }
}

/** True if there is no socket, or only one that a killed process left behind. */
function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ECONNREFUSED";
}
