/**
 * The listener for SQL clients. The service does not need it: if its port is in use, the engine continues without it,
 * reports this, and retries until the port is free.
 */
import type { Server } from "node:http";
import { Server as TlsServer } from "node:https";
import { availableParallelism } from "node:os";
import { errorMessage } from "../../../common/error-message.js";
import { readCertificate } from "../../../common/tls/certificate.js";
import { type Renewal, watchCertificate } from "../../../common/tls/renewal.js";
import {
  type ChildConfig,
  type FromChild,
  MAX_SQL_QUERIES,
  MAX_SQL_WAITING,
  SQL_MEMORY_PART,
  type SqlListener,
} from "../config.js";
import { listen } from "../http.js";
import type { OutputPipe } from "../output-pipe.js";
import type { Port } from "../port.js";
import { runningQueries } from "../running.js";
import { createSlots } from "../slots.js";
import { createCatalog } from "./catalog.js";
import { createFailedSignOns } from "./failed-sign-ons.js";
import { createQuotas } from "./quotas.js";
import { createSessionMemory } from "./session-cache.js";

const RETRY_MS = 2_000;

export type SharedParts = Pick<
  Port,
  "engine" | "facts" | "sessions" | "readers" | "replacements" | "directory"
>;

export interface SqlPort {
  readonly port: Port;
  /** Reads the certificate's files now, instead of at the next regular check. */
  renewCertificate(): void;
  /** Ends the retries. Returns the server, if it listens, for the caller to close. */
  stop(): Server | undefined;
}

/**
 * @param pipes as many as may run at once and be left behind; the last one is used first
 * @param report called when the port listens, at the first failure to listen, when its certificate is renewed or
 * rejected, and when a statement does not end
 */
export async function openSqlPort(
  config: ChildConfig,
  listener: SqlListener,
  shared: SharedParts,
  pipes: OutputPipe[],
  report: (message: FromChild) => void,
): Promise<SqlPort> {
  await createCatalog(shared.engine);
  const port = sqlPortOf(config, listener, shared, pipes, report);
  let server: Server | undefined;
  let renewal: Renewal | undefined;
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;
  let reported: string | null | undefined;

  async function attempt(): Promise<void> {
    let problem: string | null = null;
    try {
      const opened = await open();
      if (stopped) opened.close();
      else server = opened;
    } catch (error) {
      problem = errorMessage(error);
      if (!stopped) retry = setTimeout(() => void attempt(), RETRY_MS);
    }
    if (problem !== reported) report({ kind: "sql-port", problem });
    reported = problem;
  }

  async function open(): Promise<Server> {
    const { host, port: number, tls: settings } = listener;
    const section = "embedded.sql_tls";
    const current = settings && (await readCertificate(settings, section));
    const opened = await listen(port, { host, port: number }, current);
    if (settings !== undefined && current !== undefined && opened instanceof TlsServer) {
      renewal = watchCertificate({
        settings,
        section,
        current,
        use(renewed) {
          opened.setSecureContext(renewed.options);
          report({ kind: "sql-certificate", problem: null });
        },
        onProblem: (problem) => report({ kind: "sql-certificate", problem }),
      });
    }
    return opened;
  }

  await attempt();
  return {
    port,
    renewCertificate: () => void renewal?.check(),
    stop() {
      stopped = true;
      clearTimeout(retry);
      renewal?.stop();
      return server;
    },
  };
}

function sqlPortOf(
  config: ChildConfig,
  listener: SqlListener,
  shared: SharedParts,
  pipes: OutputPipe[],
  report: (message: FromChild) => void,
): Port {
  const { limits, users, allowedHosts } = listener;
  const slots = createSlots(pipes, {
    maxTaken: MAX_SQL_QUERIES,
    maxWaiting: MAX_SQL_WAITING,
    maxRunning: limits.maxRunning,
  });
  const shareBytes = config.maxMemoryBytes / SQL_MEMORY_PART;
  return {
    ...shared,
    running: runningQueries(shared.engine),
    users,
    sql: {
      limits,
      allowedHosts,
      quotas: createQuotas(limits.maxPerMinute),
      signOns: createFailedSignOns(),
      memory: createSessionMemory(),
      maxMemoryBytes: () => Math.floor(shareBytes / (MAX_SQL_QUERIES + slots.leftBehind())),
      maxThreads: Math.max(1, Math.floor(availableParallelism() / 2)),
      dataDir: config.dataDir,
      reportLeftBehind: (user) => report({ kind: "sql-left-behind", user }),
    },
    slots,
  };
}
