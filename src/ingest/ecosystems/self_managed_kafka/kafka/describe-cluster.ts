/**
 * Asks a Kafka cluster for its brokers and topics, as an admin client does.
 *
 * The bootstrap servers are tried in turn until one answers. The client is loaded here and only when it is needed: it runs on Node.js
 * 20.19 and later, the rest of the service on 20.11. Everything that can go wrong becomes an `UpstreamError`, without the password.
 */
import { isIP } from "node:net";
import type { Connection } from "@platformatic/kafka";
import { excerpt } from "../../../../upstream-http/redact.js";
import { UpstreamError, type UpstreamErrorCode } from "../../../../upstream-http/upstream-error.js";
import { type ResourceSource, type Server, serversOf } from "../resource-source.js";
import { connectionOptions } from "./connection-options.js";
import { type KafkaCluster, KafkaProtocolError, requestMetadata } from "./metadata-request.js";

/** Connecting, authenticating and answering, for one server. */
const SERVER_TIMEOUT_MS = 45_000;

export async function describeCluster(source: ResourceSource, signal: AbortSignal): Promise<KafkaCluster> {
  const servers = serversOf(source.bootstrap_servers ?? "");
  if (servers === undefined) throw new Error("bootstrap servers that were not checked");
  const failures: UpstreamError[] = [];
  for (const server of servers) {
    const answer = await askServer(source, server, signal).catch(asError);
    if (!(answer instanceof Error)) return checked(answer, source, server);
    if (!(answer instanceof UpstreamError) || answer.code === "aborted") throw answer;
    failures.push(answer);
  }
  const [first] = failures;
  if (first === undefined || failures.length === 1) throw first ?? new Error("no bootstrap server");
  const { code } = failures.at(-1) ?? first;
  const reason = failures.map(({ message }) => message).join("; ");
  throw new UpstreamError({ code, endpoint: "no bootstrap server responds", reason, attempts: 1 });
}

async function askServer(source: ResourceSource, server: Server, signal: AbortSignal): Promise<KafkaCluster> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(SERVER_TIMEOUT_MS)]);
  let connection: Connection | undefined;
  try {
    const kafka = await loadClient(server);
    const options = await connectionOptions(source);
    connection = new kafka.Connection("chargehouse", {
      ...options,
      // A name is asked for by SNI, and checked; an address is checked without it.
      ...(options.tls === undefined || isIP(server.host) !== 0 ? {} : { tlsServerName: server.host }),
    });
    // An error without a listener would end the process. Those that matter reject what is waited for.
    connection.on("error", () => undefined);
    const asked = connection;
    return await unlessAborted(deadline, async () => {
      await asked.connect(server.host, server.port);
      return await requestMetadata(asked, () => kafka.Writer.create());
    });
  } catch (error) {
    throw asUpstreamError(error, { source, server, gaveUp: signal.aborted, late: deadline.aborted });
  } finally {
    hangUp(connection);
  }
}

async function loadClient({ host, port }: Server) {
  try {
    return await import("@platformatic/kafka");
  } catch (error) {
    const reason = `the Kafka client cannot be loaded by Node.js ${process.version} (it needs 20.19 or later): ${asError(error).message}`;
    throw new UpstreamError({ code: "unreachable", endpoint: `${host}:${port}`, reason, attempts: 1 });
  }
}

/** The connection is not waited for: an unwilling peer would hold the run up. */
function hangUp(connection: Connection | undefined): void {
  if (connection === undefined) return;
  connection.close(() => undefined);
  // Before the connection is attempted there is no socket, whatever the type says.
  const socket: { destroy(): void } | undefined = connection.socket;
  socket?.destroy();
}

async function unlessAborted<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  signal.throwIfAborted();
  const working = work();
  working.catch(() => undefined); // what it says after it was given up interests nobody
  return await new Promise<Value>((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    working.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

interface Circumstances {
  readonly source: ResourceSource;
  readonly server: Server;
  readonly gaveUp: boolean;
  readonly late: boolean;
}

function asUpstreamError(error: unknown, { source, server, gaveUp, late }: Circumstances): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const causes = causesOf(error);
  const endpoint = `${server.host}:${server.port}`;
  if (gaveUp)
    return new UpstreamError({ code: "aborted", endpoint, reason: "the request was given up", attempts: 1 });
  const said = causes.map(({ message }) => message).join(": ");
  const secrets = source.sasl_password === undefined ? [] : [source.sasl_password];
  const reason = late ? `no answer within ${SERVER_TIMEOUT_MS / 1000} s` : excerpt(said, secrets);
  return new UpstreamError({ code: late ? "timeout" : codeOf(causes), endpoint, reason, attempts: 1 });
}

function codeOf(causes: readonly Error[]): UpstreamErrorCode {
  const names = causes.map((cause) => cause.name);
  const codes = causes.map((cause) => ("code" in cause ? String(cause.code) : ""));
  if (codes.includes("PLT_KFK_AUTHENTICATION")) return "unauthorized";
  if (codes.includes("PLT_KFK_TIMEOUT")) return "timeout";
  if (names.includes("RangeError") || causes.some((cause) => cause instanceof KafkaProtocolError))
    return "bad_body";
  return "unreachable";
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** An error and what caused it, the outermost first; of several causes the first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  let at = error;
  while (at instanceof Error && causes.length < 5) {
    causes.push(at);
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return causes.length > 0 ? causes : [asError(error)];
}

function checked(
  cluster: KafkaCluster,
  { kafka_cluster_id: wanted }: ResourceSource,
  server: Server,
): KafkaCluster {
  if (wanted === undefined || cluster.clusterId === wanted) return cluster;
  throw new UpstreamError({
    code: "bad_body",
    endpoint: `${server.host}:${server.port}`,
    reason: `is the cluster ${excerpt(cluster.clusterId ?? "without an id")}, not kafka_cluster_id ${wanted}`,
    attempts: 1,
  });
}
