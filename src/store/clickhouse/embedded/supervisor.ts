/**
 * Keeps the embedded ClickHouse running: a child process that holds the engine, so that a crash in native code never takes the
 * service with it. Started when first asked for, restarted when it dies, always on the same address with the same password.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { totalmem } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { type ChildConfig, type FromChild, THREAD_POOL_SIZE, type ToChild } from "./server/config.js";

export interface EmbeddedClickHouseOptions {
  /** A folder that is this engine's alone; made when it is not there. */
  readonly dataDir: string;
  /** The engine's memory limit. Default: half of what the machine, or the container, has. */
  readonly maxMemoryBytes?: number | undefined;
  /** A second, read-only listener for SQL clients. Default host: 127.0.0.1. */
  readonly sqlPort?:
    | {
        readonly port: number;
        readonly user: string;
        readonly password: string;
        readonly host?: string | undefined;
      }
    | undefined;
  readonly logger: Logger;
}

export interface Endpoint {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

export interface EmbeddedClickHouse {
  /** Starts the engine when it does not run, and resolves when it answers. The endpoint stays the same over restarts. */
  endpoint(): Promise<Endpoint>;
  /** Stops running statements and the engine; the child is gone when this resolves. */
  stop(): Promise<void>;
  pid(): number | undefined;
}

const HOST = "127.0.0.1";
const USER = "default";
const START_TIMEOUT_MS = 60_000;
/** How long a child may take to stop before it is killed. */
const STOP_TIMEOUT_MS = 5_000;
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;

/** So much of what a child says at its start goes into the error when it fails. */
const MAX_SAID = 5;
/** A child that lived so long was healthy: the next crash starts from the first back-off again. */
const HEALTHY_MS = 60_000;

export function createEmbeddedClickHouse(options: EmbeddedClickHouseOptions): EmbeddedClickHouse {
  const { logger } = options;
  const password = randomBytes(24).toString("base64url");
  let port = 0;
  let backoff = FIRST_BACKOFF_MS;
  let child: ChildProcess | undefined;
  let ready: Promise<void> | undefined;
  const stopping = new AbortController();

  function config(): ChildConfig {
    const { sqlPort } = options;
    return {
      dataDir: options.dataDir,
      maxMemoryBytes: options.maxMemoryBytes ?? Math.floor(availableMemory() / 2),
      listen: { host: HOST, port, user: USER, password },
      sqlPort: sqlPort && {
        host: sqlPort.host ?? HOST,
        port: sqlPort.port,
        user: sqlPort.user,
        password: sqlPort.password,
      },
    };
  }

  async function start(): Promise<void> {
    stopping.signal.throwIfAborted();
    const said: string[] = [];
    const started = spawnChild(logger, (text) => said.length < MAX_SAID && said.push(text));
    child = started;
    try {
      port = await firstAnswer(started, config());
    } catch (error) {
      await kill(started);
      child = undefined;
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`the embedded ClickHouse did not start: ${[reason, ...said].join("; ")}`, {
        cause: error,
      });
    }
    logger.debug({ pid: started.pid, port }, "embedded ClickHouse is ready");
    const since = Date.now();
    started.once("exit", (code, signal) => {
      child = undefined;
      ready = undefined;
      if (stopping.signal.aborted) return;
      if (Date.now() - since > HEALTHY_MS) backoff = FIRST_BACKOFF_MS;
      logger.error({ code, signal, restart_in_ms: backoff }, "embedded ClickHouse died, restarting it");
      ready = restart();
      ready.catch(() => undefined);
    });
  }

  /** Until it works or we are stopped: the data is there, and whatever keeps the engine from starting may pass. */
  async function restart(): Promise<void> {
    for (;;) {
      await delay(backoff, undefined, { signal: stopping.signal });
      backoff = Math.min(backoff * 2, MAX_BACKOFF_MS);
      try {
        return await start();
      } catch (error) {
        stopping.signal.throwIfAborted();
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
      return { url: `http://${HOST}:${port}`, username: USER, password };
    },
    async stop() {
      stopping.abort(new Error("the embedded ClickHouse was stopped"));
      await ready?.catch(() => undefined);
      if (child !== undefined) await stopChild(child);
      child = undefined;
    },
    pid: () => child?.pid,
  };
}

/** A container's limit where there is one. */
function availableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

/** Runs the sources with tsx (in tests), the built files as they are. */
function spawnChild(logger: Logger, onText: (text: string) => void): ChildProcess {
  const fromSources = import.meta.url.endsWith(".ts");
  const entry = fileURLToPath(new URL(`./server/main.${fromSources ? "ts" : "js"}`, import.meta.url));
  const loader = fromSources ? ["--import", import.meta.resolve("tsx")] : [];
  const child = spawn(process.execPath, [...loader, entry], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    // The pool's size is read once, when the process starts.
    env: { ...process.env, UV_THREADPOOL_SIZE: String(THREAD_POOL_SIZE), NODE_OPTIONS: "" },
  });
  child.on("error", (error) => logger.error({ err: error }, "embedded ClickHouse could not be started"));
  child.stderr?.on("data", (data: Buffer) => {
    const text = data.toString("utf8").trimEnd();
    logger.warn({ pid: child.pid, text }, "embedded ClickHouse says");
    onText(text);
  });
  return child;
}

async function firstAnswer(child: ChildProcess, config: ChildConfig): Promise<number> {
  const deadline = AbortSignal.timeout(START_TIMEOUT_MS);
  const answer = once(child, "message", { signal: deadline });
  const exit = once(child, "exit", { signal: deadline }).then(([code, signal]) => {
    throw new Error(`it exited (${signal ?? `code ${code}`})`);
  });
  answer.catch(() => undefined);
  exit.catch(() => undefined);
  send(child, { kind: "start", config });
  const [message]: FromChild[] = (await Promise.race([answer, exit])) as FromChild[];
  if (message?.kind !== "ready") throw new Error(message?.message ?? "no answer");
  return message.port;
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  if (child.connected) send(child, { kind: "stop" });
  const late = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(late);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

function send(child: ChildProcess, message: ToChild): void {
  // A child that died meanwhile is dealt with where its exit is.
  child.send(message, () => undefined);
}
