/**
 * Two hosts simulate the replicas of a cluster in front of one real engine, so each sees what the other wrote.
 * Statements for clusters are recorded, and reach the engine in their form for a single server.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Test } from "tap";
import { type EngineUnderTest, startEngine } from "../engine-under-test.js";

export interface Sent {
  readonly statement: string;
  readonly settings: URLSearchParams;
}

export interface Host {
  readonly port: number;
  /** Received statements, in order. */
  readonly sent: Sent[];
  /** Runs before a statement is carried out, and may break the host. */
  before: (statement: string) => void;
  /** The statement ends with this error although it was carried out. */
  after: (statement: string) => string | undefined;
  /** Refuses new connections, and breaks open ones. */
  stop(): void;
  start(): Promise<void>;
}

/** The state that the servers report. */
export interface StandInReply {
  readonly clusters: readonly (readonly [cluster: string, shard: number])[];
  readonly macros: readonly string[];
}

export interface StandInCluster {
  readonly engine: EngineUnderTest;
  readonly hosts: readonly [Host, Host];
  connectionString(database: string): string;
  /** Changes the state that the servers report. */
  tell(reported: Partial<StandInReply>): void;
}

const usual: StandInReply = {
  clusters: [
    ["main", 1],
    ["main", 1],
  ],
  macros: ["replica", "shard"],
};

export async function startCluster(t: Test): Promise<StandInCluster> {
  const engine = await startEngine(t);
  const { username, password } = engine.endpoint;
  let says = usual;
  const reported = () => says;
  const hosts: [Host, Host] = [await startHost(t, engine, reported), await startHost(t, engine, reported)];
  const addresses = hosts.map(({ port }) => `127.0.0.1:${port}`).join(",");
  return {
    engine,
    hosts,
    connectionString: (database) =>
      `clickhouse://${username}:${encodeURIComponent(password)}@${addresses}/${database}`,
    tell(next) {
      says = { ...usual, ...next };
    },
  };
}

/** Returns undefined if a single server has nothing to do. */
function onSingleServer(statement: string, { clusters, macros }: StandInReply): string | undefined {
  if (/^\s*SYSTEM SYNC /.test(statement)) return undefined;
  const rows = clusters.map(([cluster, shard]) => `('${cluster}', ${shard})`).join(", ");
  const names = macros.map((macro) => `('${macro}')`).join(", ");
  return statement
    .replace(/ ON CLUSTER `main` ENGINE = Replicated\(.*\)/, "")
    .replace(/\bENGINE = Replicated(\w*MergeTree)/, "ENGINE = $1")
    .replace(
      "FROM system.clusters",
      () =>
        `FROM (SELECT * FROM values('cluster String, shard_num UInt32', ${rows || "('', 0)"}) WHERE cluster != '')`,
    )
    .replace(
      "FROM system.macros",
      () => `FROM (SELECT * FROM values('macro String', ${names || "('')"}) WHERE macro != '')`,
    )
    .replace("SELECT engine FROM system.databases", "SELECT 'Replicated' AS engine FROM system.databases")
    .replace("SELECT table FROM system.replicas", "SELECT name AS table FROM system.tables");
}

async function startHost(
  t: Test,
  { endpoint }: EngineUnderTest,
  reported: () => StandInReply,
): Promise<Host> {
  const sockets = new Set<Socket>();
  const sent: Sent[] = [];
  const handle = async (requested: IncomingMessage, received: ServerResponse) => {
    const body = await buffer(requested);
    const url = new URL(requested.url ?? "/", "http://host");
    const isInUrl = url.searchParams.has("query");
    const statement = url.searchParams.get("query") ?? body.toString();
    sent.push({ statement, settings: url.searchParams });
    host.before(statement);
    if (requested.socket.destroyed) return;
    if (/^\s*ALTER TABLE[^(]*\sDELETE\s.*\(\s*SELECT\s/s.test(statement)) {
      received.writeHead(500, { "X-ClickHouse-Exception-Code": "36" });
      return void received.end(
        "Code: 36. DB::Exception: replicas refuse mutations with subqueries (BAD_ARGUMENTS)",
      );
    }
    const single = onSingleServer(statement, reported());
    if (single === undefined) return void received.end();
    if (isInUrl) url.searchParams.set("query", single);
    const { host: _, "content-length": __, ...headers } = requested.headers;
    const forwarded = request(
      {
        socketPath: endpoint.socketPath,
        method: requested.method,
        path: `${url.pathname}${url.search}`,
        headers,
      },
      (response) => {
        const error = response.statusCode === 200 ? host.after(statement) : undefined;
        if (error === undefined) {
          received.writeHead(response.statusCode ?? 500, response.headers);
          return void response.pipe(received);
        }
        response.resume();
        const [, code = ""] = /^Code: (\d+)/.exec(error) ?? [];
        received.writeHead(500, { "X-ClickHouse-Exception-Code": code }).end(error);
      },
    );
    forwarded.on("error", () => received.destroy());
    received.once("close", () => forwarded.destroy());
    forwarded.end(isInUrl ? body : single);
  };
  const server = createServer((requested, received) => {
    handle(requested, received).catch(() => received.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const listen = async (port: number) =>
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(stop);
  const host: Host = {
    port,
    sent,
    stop,
    before: () => undefined,
    after: () => undefined,
    start: () => listen(port),
  };
  return host;
}
