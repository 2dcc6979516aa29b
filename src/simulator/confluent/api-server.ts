/** One HTTP server of the vendor: the Cloud API, or Flink in a region. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type Breakage, deliver, pourForever } from "../deliver.js";
import { ApiError, errorBody } from "./api-error.js";
import { type ApiFault, type ApiFaults, waitHeader } from "./api-faults.js";
import { answerTo, type Route, type World } from "./endpoint.js";
import { BEGINNING, type Page, pageText, tokenOf } from "./paging.js";
import { createRateLimit, type RateLimit } from "./rate-limit.js";

export interface Credentials {
  readonly key: string;
  readonly secret: string;
}

export interface ApiServerOptions {
  /** 0: any free port of the loopback. */
  readonly port: number;
  readonly routes: readonly Route[];
  readonly world: World;
  readonly credentials: Credentials;
  readonly faults: ApiFaults;
  readonly rateLimit: RateLimit | undefined;
  /** Is called with the address (path and query) of every request. */
  readonly seen: (address: string) => void;
}

export interface ApiServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const limit = createRateLimit(options.rateLimit, options.world.organisation.now);
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const address = request.url ?? "/";
    options.seen(address);
    const { headers, wait } = limit.count();
    try {
      if (request.method !== "GET")
        throw new ApiError(405, "method_not_allowed", "only GET is supported here");
      if (request.headers.authorization !== basic(options.credentials)) {
        throw new ApiError(401, "unauthorized", "the API key or its secret is wrong");
      }
      if (wait !== undefined) {
        response.setHeader("retry-after", String(wait));
        throw new ApiError(429, "rate_limited", "too many requests");
      }
      const suffered = await suffer(options.faults.take(address), request, response, options.world);
      if (suffered === undefined) return;
      const base = `http://${request.headers.host}`;
      const answer = answerTo(options.routes, new URL(address, base), options.world);
      await deliver(response, [bodyOf(answer, base, suffered)], suffered, headers);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
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

interface Suffered extends Breakage {
  readonly foreignHost?: string;
  readonly next?: "repeated_token" | "new_tokens";
  readonly items?: "empty" | "null_data";
}

/** Lets faults happen. Undefined when the request has had its answer, or its silence, with that. */
async function suffer(
  hit: readonly ApiFault[],
  request: IncomingMessage,
  response: ServerResponse,
  { organisation }: World,
): Promise<Suffered | undefined> {
  let suffered: Suffered = { truncated: false, midway: false };
  for (const fault of hit) {
    if (fault.kind === "latency") await delay(fault.ms);
    else if (fault.kind === "truncated") suffered = { ...suffered, truncated: true };
    else if (fault.kind === "reset" && fault.midway === true) suffered = { ...suffered, midway: true };
    else if (fault.kind === "foreign_next") suffered = { ...suffered, foreignHost: fault.host };
    else if (fault.kind === "repeated_token" || fault.kind === "new_tokens")
      suffered = { ...suffered, next: fault.kind };
    else if (fault.kind === "empty" || fault.kind === "null_data")
      suffered = { ...suffered, items: fault.kind };
    else {
      if (fault.kind === "reset") request.socket.resetAndDestroy();
      else if (fault.kind === "endless") await pourForever(response);
      else if (fault.kind === "rate_limited") {
        const headers = waitHeader(fault.header ?? "retry-after", fault.seconds ?? 1, organisation.now());
        fail(response, 429, headers, errorBody(429, "rate_limited", "a fault that was asked for"));
      } else if (fault.kind === "status") {
        const body = fault.body ?? errorBody(fault.status, "asked_for", "a fault that was asked for");
        fail(response, fault.status, fault.headers ?? {}, body);
      }
      return undefined;
    }
  }
  return suffered;
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

function bodyOf(answer: Page | { body: string }, base: string, { foreignHost, next, items }: Suffered) {
  if ("body" in answer)
    return items === "empty" ? "{}" : items === "null_data" ? '{"data":null}' : answer.body;
  const none = { nextCursor: undefined, total: 0 };
  const page =
    items === undefined ? answer : { ...answer, ...none, items: items === "null_data" ? null : [] };
  const here = page.request.cursor ?? BEGINNING;
  if (next === "repeated_token") return pageText(page, base, tokenOf(page.request, here));
  if (next === "new_tokens") return pageText(page, base, tokenOf(page.request, here, randomUUID()));
  // A list that would end is said to go on there too, so that a client has the choice to follow.
  if (foreignHost !== undefined)
    return pageText(page, foreignHost, page.nextCursor === undefined ? "follow-me" : undefined);
  return pageText(page, base);
}
