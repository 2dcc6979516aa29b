/** The child process: holds the engine and serves ClickHouse's HTTP interface, as long as the process that started it lives. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { join } from "node:path";
import { clientSessions } from "./client-sessions.js";
import {
  type ChildConfig,
  engineConfigXml,
  type FromChild,
  MAX_QUERIES,
  MAX_SQL_PORT_QUERIES,
  MAX_WAITING,
  type ToChild,
} from "./config.js";
import { readFacts } from "./content.js";
import { openEngine } from "./engine.js";
import { listen } from "./http.js";
import { openPipes } from "./output-pipe.js";
import type { Port } from "./port.js";
import { runningQueries } from "./running.js";
import { createSlots } from "./slots.js";

/** Read-only queries may run so long, and take this part of the engine's memory each. */
const SQL_PORT_SECONDS = 300;
const SQL_PORT_MEMORY_PART = 4;

interface Serving {
  readonly port: number;
  stop(): Promise<void>;
}

async function serve(config: ChildConfig): Promise<Serving> {
  const io = join(config.dataDir, "io");
  const configFile = join(config.dataDir, "engine.xml");
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  await writeFile(configFile, engineConfigXml(config.maxMemoryBytes), { mode: 0o600 });
  // The engine locks its folder: opened first, so that a second process touches nothing of the first one's files.
  const engine = openEngine(join(config.dataDir, "engine"), configFile);
  await rm(io, { recursive: true, force: true });
  await mkdir(io, { mode: 0o700 });
  const pipes = await openPipes(io, MAX_QUERIES + MAX_SQL_PORT_QUERIES);
  const shared = {
    engine,
    facts: await readFacts(engine),
    sessions: clientSessions(engine),
    directory: io,
  };
  const own: Port = {
    ...shared,
    running: runningQueries(engine),
    account: config.listen,
    readOnly: undefined,
    slots: createSlots(pipes.slice(0, MAX_QUERIES), MAX_WAITING),
  };
  const { server, number } = await listen(own, config.listen.host, config.listen.port);
  if (config.sqlPort === undefined) return { port: number, stop: () => stop([own], [server]) };
  const sql: Port = {
    ...shared,
    running: runningQueries(engine),
    account: config.sqlPort,
    readOnly: {
      maxExecutionSeconds: SQL_PORT_SECONDS,
      maxMemoryBytes: Math.floor(config.maxMemoryBytes / SQL_PORT_MEMORY_PART),
    },
    slots: createSlots(pipes.slice(MAX_QUERIES), MAX_WAITING),
  };
  const sqlListening = await listen(sql, config.sqlPort.host, config.sqlPort.port);
  return { port: number, stop: () => stop([own, sql], [server, sqlListening.server]) };
}

/** Cuts all clients off, waits until the engine runs nothing, and closes it: it must not be closed under a statement. */
async function stop(ports: readonly Port[], servers: readonly Server[]): Promise<void> {
  const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
  for (const server of servers) server.closeAllConnections();
  await Promise.all([...closed, ...ports.map((port) => port.running.stopAll())]);
  for (const port of ports) port.sessions.closeAll();
  ports[0]?.engine.close();
}

function tell(message: FromChild): void {
  process.send?.(message);
}

/** No clean-up of ours or the engine's, which would wait for running statements: the engine survives kill -9 without loss. */
function die(): void {
  process.kill(process.pid, "SIGKILL");
}

let serving: Promise<Serving> | undefined;

process.on("disconnect", die);
process.on("message", (message: ToChild) => {
  if (message.kind === "start") {
    serving = serve(message.config);
    serving.then(
      ({ port }) => tell({ kind: "ready", port }),
      (error: unknown) =>
        tell({ kind: "failed", message: error instanceof Error ? error.message : String(error) }),
    );
  } else {
    void serving?.then((running) => running.stop()).finally(die);
  }
});
/** Signals go to the whole terminal group on Ctrl-C: stopping is the supervisor's to decide, when it is done with us. */
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => undefined);
