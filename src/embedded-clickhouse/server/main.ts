/** The child process: runs the engine and serves ClickHouse's HTTP interface as long as its parent process lives. */
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "../../common/error-message.js";
import { clientSessions } from "./client-sessions.js";
import {
  type ChildConfig,
  engineConfigXml,
  type FromChild,
  MAX_QUERIES,
  MAX_SQL_QUERIES,
  MAX_WAITING,
  maxLeftBehind,
  type ToChild,
} from "./config.js";
import { readFacts } from "./content.js";
import { openEngine } from "./engine.js";
import { listen } from "./http.js";
import { openPipes } from "./output-pipe.js";
import { openReplacementLog } from "./partition-replacement-log.js";
import type { Port } from "./port.js";
import { readingSessions } from "./reading-sessions.js";
import { runningQueries } from "./running.js";
import { createSlots } from "./slots.js";
import { openSqlPort } from "./sql-port/listener.js";
import { usersConfigXml } from "./sql-port/roles.js";

interface Serving {
  renewSqlCertificate(): void;
  stop(): Promise<void>;
}

async function serve(config: ChildConfig): Promise<Serving> {
  const io = join(config.dataDir, "io");
  const configFile = join(config.dataDir, "engine.xml");
  const usersFile = join(config.dataDir, "users.xml");
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  await chmod(config.dataDir, 0o700);
  await writeFile(usersFile, usersConfigXml(config.sqlPort?.users ?? []), { mode: 0o600 });
  await writeFile(configFile, engineConfigXml(config.maxMemoryBytes, usersFile), { mode: 0o600 });
  // The engine locks its folder, so it is opened first: a second process then touches none of the first one's files.
  const at = (step: string) => report({ kind: "starting", step });
  at("the engine opens its tables");
  const engine = openEngine(join(config.dataDir, "engine"), configFile);
  const replacements = await openReplacementLog(join(config.dataDir, "replacements"));
  at("statements that were interrupted are finished");
  for (const problem of await replacements.redo(engine))
    console.error(`Could not finish a statement that was interrupted: ${problem}`);
  at("its ports are opened");
  await rm(io, { recursive: true, force: true });
  await mkdir(io, { mode: 0o700 });
  const atOnce = MAX_QUERIES + (config.sqlPort ? MAX_SQL_QUERIES : 0);
  const pipes = await openPipes(io, atOnce + maxLeftBehind(config.sqlPort), atOnce);
  const shared = {
    engine,
    facts: await readFacts(engine),
    sessions: clientSessions(engine),
    readers: readingSessions(),
    directory: io,
    replacements,
  };
  const own: Port = {
    ...shared,
    running: runningQueries(engine),
    users: [{ ...config.listen, databases: [] }],
    sql: undefined,
    slots: createSlots(pipes.slice(0, MAX_QUERIES), {
      maxTaken: MAX_QUERIES,
      maxWaiting: MAX_WAITING,
      maxRunning: MAX_QUERIES,
    }),
  };
  await rm(config.listen.socketPath, { force: true });
  const server = await listen(own, { path: config.listen.socketPath });
  const sqlPipes = pipes.slice(MAX_QUERIES).reverse();
  const sql = config.sqlPort && (await openSqlPort(config, config.sqlPort, shared, sqlPipes, report));
  return {
    renewSqlCertificate: () => sql?.renewCertificate(),
    stop: async () => {
      const sqlServer = sql?.stop();
      await stop([own, ...(sql ? [sql.port] : [])], [server, ...(sqlServer ? [sqlServer] : [])]);
    },
  };
}

/** Grace period for SQL clients' queries at shutdown; some functions ignore cancellation. */
const SQL_STOP_MS = 1_000;

/**
 * Disconnects all clients, waits until the engine runs nothing, and closes it, because it must not be closed while a
 * statement runs. It is left open if a SQL client's statement goes on.
 */
async function stop(ports: readonly Port[], servers: readonly Server[]): Promise<void> {
  const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
  for (const server of servers) server.closeAllConnections();
  const ended = await Promise.all(ports.map(hasEnded));
  if (ended.includes(false)) return;
  await Promise.all(closed);
  for (const port of ports) {
    port.sessions.closeAll();
    port.readers.closeAll();
  }
  ports[0]?.engine.close();
}

async function hasEnded({ running, sql }: Port): Promise<boolean> {
  const stopped = running.stopAll().then(() => true);
  return await (sql === undefined ? stopped : Promise.race([stopped, delay(SQL_STOP_MS, false)]));
}

function report(message: FromChild): void {
  process.send?.(message);
}

/**
 * Skips all clean-up of ours and the engine's, which would wait for running statements. The engine survives kill -9
 * without loss.
 */
function die(): void {
  process.kill(process.pid, "SIGKILL");
}

let serving: Promise<Serving> | undefined;

process.on("disconnect", die);
process.on("message", (message: ToChild) => {
  if (message.kind === "start") {
    serving = serve(message.config);
    serving.then(
      () => report({ kind: "ready" }),
      (error: unknown) => report({ kind: "failed", message: errorMessage(error) }),
    );
  } else if (message.kind === "renew-sql-certificate") {
    serving?.then(
      (running) => running.renewSqlCertificate(),
      () => undefined,
    );
  } else {
    void serving?.then((running) => running.stop()).finally(die);
  }
});
/** Ctrl-C sends signals to the whole terminal group. The supervisor stops this process when it no longer needs it. */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
