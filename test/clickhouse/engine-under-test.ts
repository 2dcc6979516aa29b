/**
 * Starts an embedded ClickHouse for a test, in a folder of its own that is removed with the test, and sends it plain
 * requests.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { pino } from "pino";
import type { Test } from "tap";
import { socketAgent } from "../../src/clickhouse/client.js";
import type { SqlListener } from "../../src/embedded-clickhouse/server/config.js";
import {
  createEmbeddedClickHouse,
  type EmbeddedClickHouse,
  type EmbeddedClickHouseOptions,
  type Endpoint,
} from "../../src/embedded-clickhouse/supervisor.js";

export interface EngineUnderTest {
  readonly engine: EmbeddedClickHouse;
  readonly endpoint: Endpoint;
  readonly dataDir: string;
}

export async function startEngine(
  t: Test,
  options: Partial<Omit<EmbeddedClickHouseOptions, "dataDir">> = {},
): Promise<EngineUnderTest> {
  const dataDir = await mkdtemp(join(tmpdir(), "embedded-clickhouse-"));
  const engine = createEmbeddedClickHouse({ logger: pino({ level: "silent" }), ...options, dataDir });
  t.teardown(async () => {
    await engine.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  return { engine, endpoint: await engine.endpoint(), dataDir };
}

/** The engine's own endpoint, or that of its port for SQL clients. */
export type ClientEndpoint = Omit<Endpoint, "socketPath"> & { readonly socketPath?: string };

/** A client that logs nothing, because these tests expect many errors. */
export function quietClient(
  t: Test,
  endpoint: ClientEndpoint,
  database = "default",
  compression = { request: false, response: false },
): ClickHouseClient {
  const { socketPath, ...address } = endpoint;
  const client = createClient({
    ...address,
    ...(socketPath !== undefined && { http_agent: socketAgent(socketPath, 40) }),
    database,
    compression,
    max_open_connections: 40,
    log: { level: ClickHouseLogLevel.OFF },
  });
  t.teardown(() => client.close());
  return client;
}

/** The service's users of a port for SQL clients. */
export function sqlListener(
  port: number,
  users: SqlListener["users"],
  more: { readonly limits?: Partial<SqlListener["limits"]> } & Partial<
    Pick<SqlListener, "allowedHosts" | "tls">
  > = {},
): SqlListener {
  const limits = {
    maxSeconds: 60,
    maxResultRows: 10_000_000,
    maxResultBytes: 1 << 30,
    maxRunning: 3,
    maxPerMinute: 1_000_000,
    ...more.limits,
  };
  const { allowedHosts = [], tls } = more;
  return { host: "127.0.0.1", port, tls, users, allowedHosts, limits };
}

/** Forwards a loopback port to a unix socket, for clients that do not support sockets. */
export async function portOfSocket(t: Test, socketPath: string): Promise<number> {
  const server = createServer((near) => {
    const far = connect(socketPath);
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Creates a database that no other test uses. */
export async function newDatabase(t: Test, client: ClickHouseClient): Promise<string> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await client.command({ query: `CREATE DATABASE ${name}` });
  t.teardown(() => client.command({ query: `DROP DATABASE IF EXISTS ${name}` }).catch(() => undefined));
  return name;
}

export async function engineResponseText(client: ClickHouseClient, query: string): Promise<string> {
  const result = await client.query({ query, format: "TabSeparated" });
  return (await result.text()).trimEnd();
}

export interface EngineResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The connection broke before the end of the body. */
  readonly broken: boolean;
}

/** Sends a request without any client library. */
export function sendRequest(
  endpoint: ClientEndpoint,
  path: string,
  options: {
    method?: string;
    headers?: OutgoingHttpHeaders;
    body?: string | Buffer;
    anonymous?: boolean;
  } = {},
): Promise<EngineResponse> {
  const credentials = Buffer.from(`${endpoint.username}:${endpoint.password}`).toString("base64");
  const authorization = options.anonymous === true ? {} : { Authorization: `Basic ${credentials}` };
  return new Promise((resolve, reject) => {
    const requested = request(
      new URL(path, endpoint.url),
      {
        method: options.method ?? "POST",
        headers: { ...authorization, ...options.headers },
        agent: false,
        socketPath: endpoint.socketPath,
      },
      (response) => {
        const chunks: Buffer[] = [];
        const done = () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
            broken: !response.complete,
          });
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", done);
        response.on("close", done);
      },
    );
    requested.on("error", reject);
    requested.end(options.body);
  });
}

/** Reads the resident memory of a process, in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** A zombie process, for which no parent has waited yet, counts as dead. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc/self/stat") || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
