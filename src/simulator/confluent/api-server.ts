/** One HTTP server of the vendor: the Cloud API, or the Flink API of a region. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type Breakage, deliver, sendEndless } from "../deliver.js";
import { errorBody, SimulatedApiError } from "./api-error.js";
import { type ApiFault, type ApiFaults, waitHeader } from "./api-faults.js";
import { handleRequest, type Route, type World } from "./endpoint.js";
import { BEGINNING, pageText, pageToken, type SimulatedPage } from "./paging.js";
import { createRateLimit, type SimulatedRateLimit } from "./rate-limit.js";

export interface Credentials {
  readonly key: string;
  readonly secret: string;
}

export interface ApiServerOptions {
  /** Port on the loopback interface. 0: any free port. */
  readonly port: number;
  readonly routes: readonly Route[];
  readonly world: World;
  readonly credentials: Credentials;
  readonly faults: ApiFaults;
  readonly rateLimit: SimulatedRateLimit | undefined;
  /** Called with path and query of every request. */
  readonly onRequest: (address: string) => void;
}

export interface ApiServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const limit = createRateLimit(options.rateLimit, options.world.organisation.now);
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const address = request.url ?? "/";
    options.onRequest(address);
    const { headers, wait } = limit.count();
    try {
      if (request.method !== "GET")
        throw new SimulatedApiError(405, "method_not_allowed", "only GET is supported here");
      if (request.headers.authorization !== basic(options.credentials)) {
        throw new SimulatedApiError(401, "unauthorized", "the API key or its secret is wrong");
      }
      if (wait !== undefined) {
        response.setHeader("retry-after", String(wait));
        throw new SimulatedApiError(429, "rate_limited", "too many requests");
      }
      const effects = await applyFaults(options.faults.take(address), request, response, options.world);
      if (effects === undefined) return;
      const base = `http://${request.headers.host}`;
      const result = handleRequest(options.routes, new URL(address, base), options.world);
      await deliver(response, [bodyOf(result, base, effects)], effects, headers);
    } catch (error) {
      if (!(error instanceof SimulatedApiError)) throw error;
      response.writeHead(error.status, { "content-type": "application/json", ...headers });
      response.end(errorBody(error.status, error.code, error.message, error.parameter));
    }
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (response.headersSent) return response.destroy();
      response.writeHead(500, { "content-type": "application/json" });
      response.end(errorBody(500, "internal", error instanceof Error ? error.message : "unknown"));
    });
  });
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${bound.port}`,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function basic({ key, secret }: Credentials): string {
  return `Basic ${Buffer.from(`${key}:${secret}`).toString("base64")}`;
}

interface FaultEffects extends Breakage {
  readonly foreignHost?: string;
  readonly next?: "repeated_token" | "new_tokens";
  readonly items?: "empty" | "null_data";
}

/** Applies the faults. Undefined if one of them has already sent the response, or withholds it. */
async function applyFaults(
  hit: readonly ApiFault[],
  request: IncomingMessage,
  response: ServerResponse,
  { organisation }: World,
): Promise<FaultEffects | undefined> {
  let effects: FaultEffects = { truncated: false, midway: false };
  for (const fault of hit) {
    if (fault.kind === "latency") await delay(fault.ms);
    else if (fault.kind === "truncated") effects = { ...effects, truncated: true };
    else if (fault.kind === "reset" && fault.midway === true) effects = { ...effects, midway: true };
    else if (fault.kind === "foreign_next") effects = { ...effects, foreignHost: fault.host };
    else if (fault.kind === "repeated_token" || fault.kind === "new_tokens")
      effects = { ...effects, next: fault.kind };
    else if (fault.kind === "empty" || fault.kind === "null_data")
      effects = { ...effects, items: fault.kind };
    else {
      if (fault.kind === "reset") request.socket.resetAndDestroy();
      else if (fault.kind === "endless") await sendEndless(response);
      else if (fault.kind === "rate_limited") {
        const headers = waitHeader(fault.header ?? "retry-after", fault.seconds ?? 1, organisation.now());
        fail(response, 429, headers, errorBody(429, "rate_limited", "a configured fault"));
      } else if (fault.kind === "status") {
        const body = fault.body ?? errorBody(fault.status, "asked_for", "a configured fault");
        fail(response, fault.status, fault.headers ?? {}, body);
      }
      return undefined;
    }
  }
  return effects;
}

function fail(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
}

function bodyOf(
  result: SimulatedPage | { body: string },
  base: string,
  { foreignHost, next, items }: FaultEffects,
) {
  if ("body" in result)
    return items === "empty" ? "{}" : items === "null_data" ? '{"data":null}' : result.body;
  const none = { nextCursor: undefined, total: 0 };
  const page =
    items === undefined ? result : { ...result, ...none, items: items === "null_data" ? null : [] };
  const here = page.request.cursor ?? BEGINNING;
  if (next === "repeated_token") return pageText(page, base, pageToken(page.request, here));
  if (next === "new_tokens") return pageText(page, base, pageToken(page.request, here, randomUUID()));
  // The last page also gets a link to the foreign host, so that a client could follow it there, too.
  if (foreignHost !== undefined)
    return pageText(page, foreignHost, page.nextCursor === undefined ? "follow-me" : undefined);
  return pageText(page, base);
}
