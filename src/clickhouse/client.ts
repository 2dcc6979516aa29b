/** Opens a client for ClickHouse, embedded or on a server, with settings that make both behave the same. */
import { Agent, type AgentOptions } from "node:http";
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from "@clickhouse/client";
import { readDirectly } from "./direct-reads.js";
import { failoverAgent } from "./replicas/failover-agent.js";
import type { HostChoice } from "./replicas/host-choice.js";
import { acceptInactiveReplicas } from "./replicas/inactive-replicas.js";

export interface ClickHouseClientOptions {
  readonly url: string;
  /** Requests go through this unix socket. The URL then does not name the host. */
  readonly socketPath?: string | undefined;
  /** Requests go to the host of the cluster that is in use. The URL is that of the first host. */
  readonly hosts?: { readonly choice: HostChoice; readonly count: number } | undefined;
  /** Settings for each statement, in addition to the common ones. */
  readonly settings?: ClickHouseSettings | undefined;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** How long a request may wait without a byte of the response. Default: 5 minutes. */
  readonly requestTimeoutMs?: number | undefined;
  /** Maximum number of connections to the server. Default: 16. */
  readonly maxOpenConnections?: number | undefined;
  /** Sent to the server with each request, for its logs. */
  readonly applicationName: string;
}

const REQUEST_TIMEOUT_MS = 300_000;
const MAX_OPEN_CONNECTIONS = 16;
/** Below the shortest keep-alive of servers in use (3 s), so that no request runs into a closing connection. */
const IDLE_SOCKET_MS = 2_500;

export function openClickHouseClient(options: ClickHouseClientOptions): ClickHouseClient {
  const maxOpenConnections = options.maxOpenConnections ?? MAX_OPEN_CONNECTIONS;
  const agent = agentOf(options, maxOpenConnections);
  const requestTimeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const settings: ClickHouseSettings = { ...commonSettings, ...options.settings };
  const client = createClient({
    ...(agent && { http_agent: agent }),
    url: options.url,
    username: options.username,
    password: options.password,
    database: options.database,
    application: options.applicationName,
    request_timeout: requestTimeoutMs,
    max_open_connections: maxOpenConnections,
    // Errors are thrown, and the caller logs them. The client's own log lines would go to the console.
    log: { level: ClickHouseLogLevel.OFF },
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_MS },
    clickhouse_settings: settings,
  });
  const { socketPath, username, password, database } = options;
  if (socketPath !== undefined)
    return readDirectly(client, {
      agent: socketAgent(socketPath, maxOpenConnections),
      username,
      password,
      database,
      settings,
      requestTimeoutMs,
    });
  return options.hosts === undefined ? client : acceptInactiveReplicas(client);
}

const commonSettings: ClickHouseSettings = {
  // JSON.parse would lose the last digits of both types.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  // The response to an insert is sent after its rows are stored.
  async_insert: 0,
  // 2026-01-01T00:00:00Z in every format, for output and input.
  date_time_output_format: "iso",
  date_time_input_format: "best_effort",
  // Two optimisations of ClickHouse are off, because together they lose rows (26.7; other faults are reported for each
  // of them): a page whose columns were fetched lazily left an entry in the query condition cache that said that no row
  // matches, and the same page was empty from then on. Neither saves anything that could be measured here.
  use_query_condition_cache: 0,
  query_plan_optimize_lazy_materialization: 0,
};

/** Returns undefined if the client's own agent is sufficient. */
function agentOf({ url, socketPath, hosts }: ClickHouseClientOptions, maxSockets: number): Agent | undefined {
  if (socketPath !== undefined) return socketAgent(socketPath, maxSockets);
  if (hosts === undefined) return undefined;
  const tls = url.startsWith("https:");
  return failoverAgent(hosts.choice, { tls, count: hosts.count, maxSockets });
}

/** An agent with the limits of the client's own agent, which does not support sockets. */
export function socketAgent(socketPath: string, maxSockets: number): Agent {
  return new Agent({ socketPath, maxSockets, keepAlive: true } as AgentOptions & { socketPath: string });
}
