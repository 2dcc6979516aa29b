/** The HTTP server: `/ping` and similar paths for everybody, everything else for clients with the password. */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type Certificate, HANDSHAKE_TIMEOUT_MS } from "../../common/tls/certificate.js";
import { authenticate, credentialsOf } from "./auth.js";
import { asException } from "./exception.js";
import type { Port } from "./port.js";
import { sendException } from "./response.js";
import { handleQuery } from "./run-query.js";
import { refusePages } from "./sql-port/callers.js";
import { boundConnections, type ClientConnections } from "./sql-port/connections.js";

const OK_PATHS = new Set(["/ping", "/replicas_status"]);
/** Longer than clients keep idle connections, so that clients close them first. */
const KEEP_ALIVE_MS = 30_000;
/** How much is written to a client's connection before the output is paused: the capacity of a pipe. */
const IN_FLIGHT_BYTES = 1024 * 1024;

/** Options for the service's own requests: large statements in the head, and uploads of any duration. */
const OWN_OPTIONS: ServerOptions = { requestTimeout: 0, maxHeaderSize: 1024 * 1024 };
/** Options for SQL clients, which send their whole, small request at once. */
const SQL_OPTIONS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 64 * 1024,
};
/** Where a server listens: the path of a unix socket, or a TCP address. */
export type Address = { readonly path: string } | { readonly host: string; readonly port: number };

/** Serves `port` at the address, over TLS if there is a certificate. Resolves when it listens. */
export async function listen(port: Port, address: Address, certificate?: Certificate): Promise<Server> {
  const limits = port.sql === undefined ? OWN_OPTIONS : SQL_OPTIONS;
  const options = { keepAliveTimeout: KEEP_ALIVE_MS, highWaterMark: IN_FLIGHT_BYTES, ...limits };
  let connections: ClientConnections | undefined;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    respond(request, response, port, connections).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else if (!response.destroyed) sendException(response, asException(error), port.facts.version);
    });
  };
  const server =
    certificate === undefined
      ? createServer(options, listener)
      : createTlsServer(
          { ...options, ...certificate.options, handshakeTimeout: HANDSHAKE_TIMEOUT_MS },
          listener,
        );
  if (port.sql !== undefined) connections = boundConnections(server);
  await new Promise<void>((resolve, reject) => {
    // The listener stays: after the start, an error is a connection that could not be accepted, and must not end the
    // engine.
    server.on("error", reject);
    server.listen(address, resolve);
  });
  return server;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  port: Port,
  connections: ClientConnections | undefined,
): Promise<void> {
  if (port.sql !== undefined) refusePages(request, port.sql.allowedHosts);
  const url = urlOf(request);
  const isEmptyQuery = url.pathname === "/" && request.method !== "POST" && !url.searchParams.has("query");
  if (OK_PATHS.has(url.pathname) || isEmptyQuery) {
    response.writeHead(200, { "Content-Type": "text/html; charset=UTF-8" }).end("Ok.\n");
    return;
  }
  const signOn = () => authenticate(request, url, port.users);
  const credentials = credentialsOf(request);
  const user =
    port.sql === undefined || credentials === undefined
      ? signOn()
      : port.sql.signOns.during(request.socket.remoteAddress, credentials.user, signOn);
  if (url.pathname !== "/" && url.pathname !== "/query") {
    response
      .writeHead(404, { "Content-Type": "text/plain; charset=UTF-8" })
      .end(`There is no handle ${url.pathname}\n`);
    return;
  }
  connections?.signedOn(request, response);
  await handleQuery(request, response, url, user, port);
}

/** Parses the request's target as a path, even if it looks like another host's address. */
function urlOf(request: IncomingMessage): URL {
  const target = request.url ?? "/";
  return new URL(`http://embedded${target.startsWith("/") ? target : `/${target}`}`);
}
