/**
 * An upstream for the demo, the tests and the benchmarks: a real HTTP server with the Prometheus HTTP API over a
 * synthetic organisation. It simulates faults on request.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type Breakage, deliver, sendEndless } from "./deliver.js";
import { evaluate } from "./evaluate.js";
import { createFaults, type Fault, type Faults } from "./faults.js";
import { createOrganisation, type OrganisationOptions } from "./organisation.js";
import { errorResponse, responseText } from "./prometheus-response.js";
import {
  type KnownExpressions,
  parametersOf,
  pointsOf,
  type SimulatedRequest,
  selectionOf,
} from "./request.js";
import { UnsupportedQueryError } from "./selector.js";
import { rawSeries, type SeriesHistory, type SeriesOf } from "./series.js";

export interface SimulatorOptions extends OrganisationOptions {
  /** Port on the loopback interface. Default 0: any free port. */
  readonly port?: number;
  /** Prefix of all paths, such as `/prometheus`. */
  readonly pathPrefix?: string;
  /** The `Authorization` header that every query must have. */
  readonly authorization?: string;
  readonly faults?: readonly Fault[];
  /** Series in addition to those of the organisation, such as Confluent Cloud's. */
  readonly moreSeries?: SeriesOf;
  readonly known?: KnownExpressions;
}

export interface Simulator {
  readonly url: string;
  /** The latest 10,000 queries received, in order. */
  readonly requests: readonly SimulatedRequest[];
  /** Replaces all faults. */
  setFaults(faults: readonly Fault[]): void;
  close(): Promise<void>;
}

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const history = historyOf(options);
  const faults = createFaults(options.faults ?? []);
  const requests: SimulatedRequest[] = [];
  const { pathPrefix = "", authorization, known = new Map() } = options;
  const server = createServer((request, response) => {
    serve({ request, response, history, faults, requests, pathPrefix, authorization, known }).catch(
      (error: unknown) => {
        if (response.headersSent) response.destroy();
        else refuse(response, 500, "internal", error instanceof Error ? error.message : "unknown");
      },
    );
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the simulator has no port");
  return {
    url: `http://127.0.0.1:${address.port}${pathPrefix}`,
    requests,
    setFaults: (next) => faults.set(next),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function historyOf(options: SimulatorOptions): SeriesHistory {
  const organisation = createOrganisation(options);
  const { now, days } = organisation;
  const { moreSeries } = options;
  return {
    now,
    days,
    series: (metric, listed) => {
      const own = rawSeries(organisation, metric, listed);
      return own.length > 0 ? own : (moreSeries?.(metric, listed) ?? []);
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly history: SeriesHistory;
  readonly faults: Faults;
  readonly requests: SimulatedRequest[];
  readonly pathPrefix: string;
  readonly authorization: string | undefined;
  readonly known: KnownExpressions;
}

const MAX_RECORDED_REQUESTS = 10_000;

const KINDS: Readonly<Record<string, "range" | "instant">> = {
  "/api/v1/query_range": "range",
  "/api/v1/query": "instant",
};

async function serve(exchange: Exchange): Promise<void> {
  const { request, response, history, faults, requests, pathPrefix, authorization, known } = exchange;
  const url = new URL(request.url ?? "/", "http://simulator");
  const path = url.pathname.startsWith(pathPrefix) ? url.pathname.slice(pathPrefix.length) : "";
  if (path === "/-/ready") {
    response.end("Prometheus Server is Ready.\n");
    return;
  }
  const kind = KINDS[path];
  if (kind === undefined) return refuse(response, 404, "not_found", "no such address");
  if (authorization !== undefined && request.headers.authorization !== authorization) {
    return refuse(response, 401, "unauthorized", "the credentials are wrong");
  }
  const parameters = await parametersOf(request, url);
  const query = parameters.get("query") ?? "";
  try {
    const points = pointsOf(parameters, kind, history.now());
    requests.push({ path, query, start: points[0] ?? 0, end: points.at(-1) ?? 0, points: points.length });
    if (requests.length > MAX_RECORDED_REQUESTS) requests.shift();
    const warnings = await applyFaults(faults.take(query, points), exchange);
    if (warnings === undefined) return;
    const results = evaluate(history, selectionOf(parameters, known), points, faults.distort);
    await deliver(
      response,
      responseText(results, points, kind === "range" ? "matrix" : "vector", warnings.texts),
      warnings,
    );
  } catch (error) {
    if (!(error instanceof RangeError) && !(error instanceof UnsupportedQueryError)) throw error;
    refuse(response, 400, "bad_data", error.message);
  }
}

interface FaultEffects extends Breakage {
  readonly texts: readonly string[];
}

/** Applies the faults. Undefined if one of them has already sent the response or closed the connection. */
async function applyFaults(
  hit: ReturnType<Faults["take"]>,
  { request, response }: Exchange,
): Promise<FaultEffects | undefined> {
  let effects: FaultEffects = { texts: [], truncated: false, midway: false };
  for (const fault of hit) {
    if (fault.kind === "latency") await delay(fault.ms);
    else if (fault.kind === "warnings") effects = { ...effects, texts: fault.warnings };
    else if (fault.kind === "truncated") effects = { ...effects, truncated: true };
    else if (fault.kind === "reset" && fault.midway === true) effects = { ...effects, midway: true };
    else {
      if (fault.kind === "reset") request.socket.resetAndDestroy();
      else if (fault.kind === "endless") await sendEndless(response);
      else if (fault.kind === "outage") refuse(response, 503, "unavailable", "the store of that day is down");
      else {
        response.writeHead(fault.status, fault.headers ?? {});
        response.end(fault.body ?? errorResponse("unavailable", "a configured fault"));
      }
      return undefined;
    }
  }
  return effects;
}

function refuse(response: ServerResponse, status: number, errorType: string, error: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(errorResponse(errorType, error));
}
