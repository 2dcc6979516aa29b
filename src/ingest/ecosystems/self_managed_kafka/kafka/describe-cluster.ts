/**
 * Requests the brokers and topics of a Kafka cluster, as an admin client does.
 *
 * The bootstrap servers are tried in turn until one responds. The client is loaded only if it is needed. Every failure
 * becomes an `UpstreamError`, without the password.
 */
import { isIP } from "node:net";
import type { Connection } from "@platformatic/kafka";
import { excerpt } from "../../../../upstream/http/redact.js";
import { UpstreamError, type UpstreamErrorCode } from "../../../../upstream/http/upstream-error.js";
import { type ResourceSource, type Server, serversOf } from "../resource-source.js";
import { connectionOptions } from "./connection-options.js";
import { type BrokerMetadata, KafkaProtocolError, requestMetadata } from "./metadata-request.js";

/** Time to connect, authenticate and respond, for one server. */
const SERVER_TIMEOUT_MS = 45_000;

export async function describeCluster(source: ResourceSource, signal: AbortSignal): Promise<BrokerMetadata> {
  const servers = serversOf(source.bootstrap_servers ?? "");
  if (servers === undefined) throw new Error("bug: the bootstrap servers were not validated");
  const failures: UpstreamError[] = [];
  for (const server of servers) {
    const cluster = await requestCluster(source, server, signal).catch(asError);
    if (!(cluster instanceof Error)) return requireClusterId(cluster, source, server);
    if (!(cluster instanceof UpstreamError) || cluster.code === "aborted") throw cluster;
    failures.push(cluster);
  }
  const [first] = failures;
  if (first === undefined || failures.length === 1) throw first ?? new Error("no bootstrap server");
  const { code } = failures.at(-1) ?? first;
  const reason = failures.map(({ message }) => message).join("; ");
  throw new UpstreamError({ code, endpoint: "no bootstrap server responds", reason, attempts: 1 });
}

async function requestCluster(
  source: ResourceSource,
  server: Server,
  signal: AbortSignal,
): Promise<BrokerMetadata> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(SERVER_TIMEOUT_MS)]);
  let connection: Connection | undefined;
  try {
    const kafka = await import("@platformatic/kafka");
    const options = await connectionOptions(source);
    connection = new kafka.Connection("chargehouse", {
      ...options,
      // A name is sent as SNI and checked; an IP address is checked without SNI.
      ...(options.tls === undefined || isIP(server.host) !== 0 ? {} : { tlsServerName: server.host }),
    });
    // An error event without a listener would end the process. Relevant errors reject the pending calls.
    connection.on("error", () => undefined);
    const opened = connection;
    return await unlessAborted(deadline, async () => {
      await opened.connect(server.host, server.port);
      return await requestMetadata(opened, () => kafka.Writer.create());
    });
  } catch (error) {
    throw asUpstreamError(error, { source, server, aborted: signal.aborted, timedOut: deadline.aborted });
  } finally {
    closeNow(connection);
  }
}

/** Closes the connection without waiting, because an unresponsive peer would delay the run. */
function closeNow(connection: Connection | undefined): void {
  if (connection === undefined) return;
  connection.close(() => undefined);
  // Until connect() is called, `socket` is undefined, although its type says otherwise.
  const socket: { destroy(): void } | undefined = connection.socket;
  socket?.destroy();
}

async function unlessAborted<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  signal.throwIfAborted();
  const working = work();
  working.catch(() => undefined); // ignore errors after the abort
  return await new Promise<Value>((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    working.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

interface RequestState {
  readonly source: ResourceSource;
  readonly server: Server;
  readonly aborted: boolean;
  readonly timedOut: boolean;
}

function asUpstreamError(error: unknown, { source, server, aborted, timedOut }: RequestState): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const causes = causesOf(error);
  const endpoint = `${server.host}:${server.port}`;
  if (aborted)
    return new UpstreamError({ code: "aborted", endpoint, reason: "the request was cancelled", attempts: 1 });
  const messages = causes.map(({ message }) => message).join(": ");
  const secrets = source.sasl_password === undefined ? [] : [source.sasl_password];
  const reason = timedOut ? `no response within ${SERVER_TIMEOUT_MS / 1000} s` : excerpt(messages, secrets);
  return new UpstreamError({ code: timedOut ? "timeout" : codeOf(causes), endpoint, reason, attempts: 1 });
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

/** An error and its causes, the outermost first. Of several causes, the first one is taken. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  let at = error;
  while (at instanceof Error && causes.length < 5) {
    causes.push(at);
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return causes.length > 0 ? causes : [asError(error)];
}

function requireClusterId(
  cluster: BrokerMetadata,
  { kafka_cluster_id: wanted }: ResourceSource,
  server: Server,
): BrokerMetadata {
  if (wanted === undefined || cluster.clusterId === wanted) return cluster;
  throw new UpstreamError({
    code: "bad_body",
    endpoint: `${server.host}:${server.port}`,
    reason: `belongs to cluster ${excerpt(cluster.clusterId ?? "without an id")}, but kafka_cluster_id is ${wanted}`,
    attempts: 1,
  });
}
