/** The HTTP side: `/ping` and its like for anybody, everything else for who has the password. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { authenticate } from "./auth.js";
import { asException } from "./exception.js";
import type { Port } from "./port.js";
import { sendException } from "./response.js";
import { handleQuery } from "./run-query.js";

const OK_PATHS = new Set(["/ping", "/replicas_status"]);
/** Longer than clients keep idle connections, so that they close first. */
const KEEP_ALIVE_MS = 30_000;
/** Handed to a client's connection before the output is held up: as much as a pipe carries. */
const IN_FLIGHT_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 1024 * 1024;

export interface Listening {
  readonly server: Server;
  readonly number: number;
}

/** Serves `port` on `host:number` (0 picks a free number); resolves with the number when it listens. */
export async function listen(port: Port, host: string, number: number): Promise<Listening> {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      highWaterMark: IN_FLIGHT_BYTES,
    },
    (request, response) => {
      answer(request, response, port).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else if (!response.destroyed) sendException(response, asException(error), port.facts.version);
      });
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(number, host, resolve);
  });
  return { server, number: (server.address() as AddressInfo).port };
}

async function answer(request: IncomingMessage, response: ServerResponse, port: Port): Promise<void> {
  const url = new URL(request.url ?? "/", "http://embedded");
  const asksNothing = url.pathname === "/" && request.method !== "POST" && !url.searchParams.has("query");
  if (OK_PATHS.has(url.pathname) || asksNothing) {
    response.writeHead(200, { "Content-Type": "text/html; charset=UTF-8" }).end("Ok.\n");
    return;
  }
  authenticate(request, url, port.account);
  if (url.pathname !== "/" && url.pathname !== "/query") {
    response
      .writeHead(404, { "Content-Type": "text/plain; charset=UTF-8" })
      .end(`There is no handle ${url.pathname}\n`);
    return;
  }
  await handleQuery(request, response, url, port);
}
