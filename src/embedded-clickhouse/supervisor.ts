/**
 * Keeps the embedded ClickHouse running: a child process that runs the engine, so that a crash in native code never
 * ends the service. It is started on first use, and restarted when it dies. It listens on a unix socket in its own
 * folder, which no other user can open, so that nobody else can take its place while it is down.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { totalmem } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { errorMessage } from "../common/error-message.js";
import { programArguments } from "../common/program.js";
import { type SocketFolder, socketFolder } from "../common/socket-folder.js";
import {
  type ChildConfig,
  type FromChild,
  type SqlListener,
  type ToChild,
  threadPoolSize,
} from "./server/config.js";
import { type StartWatch, untilStarted } from "./starting.js";

export interface EmbeddedClickHouseOptions {
  /** A folder for this engine only. It is created if it is missing. */
  readonly dataDir: string;
  /** The engine's memory limit. Default: half of the memory of the machine or container. */
  readonly maxMemoryBytes?: number | undefined;
  /** A second, read-only listener for SQL clients. Its certificate, if it has one, is read again at once on SIGHUP. */
  readonly sqlPort?: SqlListener | undefined;
  readonly logger: Logger;
  /** Cancels a start in progress, and every later one. `stop` ends a running engine. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for a start. */
  readonly patience?: Pick<StartWatch, "checkMs" | "stalledMs"> | undefined;
}

export interface Endpoint {
  /** The host in it has no meaning, because requests go through the socket. */
  readonly url: string;
  readonly socketPath: string;
  readonly username: string;
  readonly password: string;
}

export interface EmbeddedClickHouse {
  /** Starts the engine if it does not run, and resolves when it responds. The endpoint stays the same over restarts. */
  endpoint(): Promise<Endpoint>;
  /** Stops running statements and the engine. The child has ended when this resolves. */
  stop(): Promise<void>;
  pid(): number | undefined;
  /** State of the port for SQL clients. Undefined if none is configured. */
  sqlPort(): SqlPortState | undefined;
}

export interface SqlPortState {
  readonly address: string;
  readonly listening: boolean;
  readonly problem: string | null;
}

const USER = "default";
const SOCKET = "engine.sock";
const LEFT_BEHIND = "a statement of a SQL user was ended, but the engine goes on with it";
/** A longer start is logged, repeatedly at this interval. */
const CHECK_MS = 20_000;
/** A start is given up if the process does nothing for this long. */
const STALLED_MS = 5 * 60_000;
/** How long a child may take to stop before it is killed. */
const STOP_TIMEOUT_MS = 5_000;
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;

/** How many of the child's outputs during its start are added to the error if it fails. */
const MAX_OUTPUTS = 5;
/** A child that lived this long was healthy, so the back-off starts from the beginning at the next crash. */
const HEALTHY_MS = 60_000;

export function createEmbeddedClickHouse(options: EmbeddedClickHouseOptions): EmbeddedClickHouse {
  const { logger } = options;
  const password = randomBytes(24).toString("base64url");
  const folder = resolve(options.dataDir);
  let socket: SocketFolder | undefined;
  let sqlProblem: string | null | undefined;
  let backoff = FIRST_BACKOFF_MS;
  let child: ChildProcess | undefined;
  let ready: Promise<void> | undefined;
  const stopping = new AbortController();
  const stopSignal = options.signal ? AbortSignal.any([options.signal, stopping.signal]) : stopping.signal;
  const patience = options.patience ?? { checkMs: CHECK_MS, stalledMs: STALLED_MS };
  const onHangUp = () => child?.connected && send(child, { kind: "renew-sql-certificate" });
  if (options.sqlPort?.tls !== undefined) process.on("SIGHUP", onHangUp);

  function socketPath(): string {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    socket ??= socketFolder(folder, SOCKET);
    return join(socket.path, SOCKET);
  }

  function config(): ChildConfig {
    return {
      dataDir: folder,
      maxMemoryBytes: options.maxMemoryBytes ?? Math.floor(availableMemory() / 2),
      listen: { socketPath: socketPath(), user: USER, password },
      sqlPort: options.sqlPort,
    };
  }

  function onSqlPort(problem: string | null): void {
    sqlProblem = problem;
    const { host, port } = options.sqlPort ?? {};
    if (problem === null) logger.info({ host, port }, "listening on the SQL port");
    else logger.error({ host, port, problem }, "cannot listen on the SQL port; retrying");
  }

  function onSqlCertificate(problem: string | null): void {
    const section = "embedded.sql_tls";
    if (problem === null) logger.info(`the certificate of ${section} was renewed`);
    else
      logger.error(
        { problem },
        `the files of ${section} changed and cannot be used; the former certificate stays in use`,
      );
  }

  function onLeftBehind(user: string): void {
    logger.warn({ user }, `${LEFT_BEHIND}; it counts towards the max_running of its user until it is over`);
  }

  async function start(): Promise<void> {
    stopSignal.throwIfAborted();
    const outputs: string[] = [];
    const started = spawnChild(options, (text) => outputs.length < MAX_OUTPUTS && outputs.push(text));
    child = started;
    started.on("message", (message: FromChild) => {
      if (message.kind === "sql-port") onSqlPort(message.problem);
      if (message.kind === "sql-certificate") onSqlCertificate(message.problem);
      if (message.kind === "sql-left-behind") onLeftBehind(message.user);
    });
    try {
      send(started, { kind: "start", config: config() });
      await untilStarted(started, { signal: stopSignal, logger, ...patience });
    } catch (error) {
      await kill(started);
      child = undefined;
      stopSignal.throwIfAborted();
      const reason = errorMessage(error);
      throw new Error(`the embedded ClickHouse did not start: ${[reason, ...outputs].join("; ")}`, {
        cause: error,
      });
    }
    logger.debug({ pid: started.pid }, "embedded ClickHouse is ready");
    const since = Date.now();
    started.once("exit", (code, signal) => {
      child = undefined;
      ready = undefined;
      sqlProblem = undefined;
      if (stopping.signal.aborted) return;
      if (Date.now() - since > HEALTHY_MS) backoff = FIRST_BACKOFF_MS;
      logger.error({ code, signal, restart_in_ms: backoff }, "embedded ClickHouse died, restarting it");
      ready = restart();
      ready.catch(() => undefined);
    });
  }

  /** Retries until the engine runs or is stopped: the data is there, and the cause of the failed start may pass. */
  async function restart(): Promise<void> {
    for (;;) {
      await delay(backoff, undefined, { signal: stopSignal });
      backoff = Math.min(backoff * 2, MAX_BACKOFF_MS);
      try {
        return await start();
      } catch (error) {
        stopSignal.throwIfAborted();
        logger.error({ err: error, retry_in_ms: backoff }, "embedded ClickHouse did not start");
      }
    }
  }

  return {
    async endpoint() {
      if (ready === undefined) {
        const first = start();
        ready = first;
        first.catch(() => {
          if (ready === first) ready = undefined;
        });
      }
      await ready;
      return { url: "http://embedded-clickhouse", socketPath: socketPath(), username: USER, password };
    },
    async stop() {
      stopping.abort(new Error("the embedded ClickHouse was stopped"));
      process.off("SIGHUP", onHangUp);
      await ready?.catch(() => undefined);
      if (child !== undefined) await stopChild(child);
      child = undefined;
      socket?.close();
    },
    pid: () => child?.pid,
    sqlPort() {
      const { sqlPort } = options;
      if (sqlPort === undefined) return undefined;
      const problem = sqlProblem === undefined ? "the engine does not run" : sqlProblem;
      return { address: `${sqlPort.host}:${sqlPort.port}`, listening: problem === null, problem };
    },
  };
}

/** Returns the container's limit if there is one. */
function availableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

/** Our environment contains secrets of the configuration. The child gets only these variables. */
const CHILD_ENVIRONMENT = ["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL"] as const;

function childEnvironment(ours: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    CHILD_ENVIRONMENT.flatMap((name) => (ours[name] === undefined ? [] : [[name, ours[name]]])),
  );
}

function spawnChild(
  { logger, sqlPort }: EmbeddedClickHouseOptions,
  onText: (text: string) => void,
): ChildProcess {
  const child = spawn(process.execPath, programArguments("./server/main.js", import.meta.url), {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    // The pool's size is read once, when the process starts. TZ is the engine's only setting for its time zone, which
    // must not be the host's.
    env: {
      ...childEnvironment(process.env),
      TZ: "UTC",
      UV_THREADPOOL_SIZE: String(threadPoolSize(sqlPort)),
    },
  });
  child.on("error", (error) => logger.error({ err: error }, "embedded ClickHouse could not be started"));
  child.stderr?.on("data", (data: Buffer) => {
    const text = data.toString("utf8").trimEnd();
    logger.warn({ pid: child.pid, text }, "embedded ClickHouse wrote to stderr");
    onText(text);
  });
  return child;
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  if (child.connected) send(child, { kind: "stop" });
  const killTimer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(killTimer);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

function send(child: ChildProcess, message: ToChild): void {
  // If the child has died meanwhile, the handler of its exit deals with it.
  child.send(message, () => undefined);
}
