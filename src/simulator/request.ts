/** Parses and validates requests to the simulator as Prometheus does. */
import type { IncomingMessage } from "node:http";
import { parseQuery, type Selection } from "./selector.js";

/** A received request, for tests to inspect. */
export interface SimulatedRequest {
  readonly path: string;
  readonly query: string;
  /** First and last point in seconds since 1970, and the number of points. */
  readonly start: number;
  readonly end: number;
  readonly points: number;
}

const MAX_BODY_LENGTH = 1_048_576;
const MAX_POINTS = 11_000;

/** Parameters of the URL and of a form in the body. */
export async function parametersOf(request: IncomingMessage, url: URL): Promise<URLSearchParams> {
  const parameters = new URLSearchParams(url.searchParams);
  if (request.method !== "POST") return parameters;
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += String(chunk);
    if (body.length > MAX_BODY_LENGTH) throw new RangeError("the request is too large");
  }
  for (const [name, value] of new URLSearchParams(body)) parameters.append(name, value);
  return parameters;
}

/** Throws a RangeError for parameters that Prometheus would reject as `bad_data`. */
export function pointsOf(parameters: URLSearchParams, kind: "range" | "instant", now: number): number[] {
  if (kind === "instant") return [parameters.has("time") ? time(parameters, "time") : Math.floor(now / 1000)];
  const start = time(parameters, "start");
  const end = time(parameters, "end");
  const step = Number(/^(\d+(?:\.\d+)?)s?$/.exec(parameters.get("step") ?? "")?.[1]);
  if (!(step > 0)) throw new RangeError('invalid parameter "step"');
  if (end < start) throw new RangeError("end timestamp must not be before start time");
  if ((end - start) / step + 1 > MAX_POINTS) {
    throw new RangeError(
      `exceeded maximum resolution of ${MAX_POINTS.toLocaleString("en")} points per timeseries`,
    );
  }
  const points: number[] = [];
  for (let point = start; point <= end; point += step) points.push(point);
  return points;
}

/** Names of the series that an expression results in, by the expression, with `$step` in place of the step. */
export type KnownExpressions = ReadonlyMap<string, string>;

/** Expressions beyond the simulated part of PromQL can be known as a whole, also within `count(…)`. */
export function selectionOf(parameters: URLSearchParams, known: KnownExpressions): Selection {
  const query = parameters.get("query") ?? "";
  const expression = query.replaceAll(/\[\d+s:/g, "[$step:");
  const [, counted] = /^count\((.*)\)$/s.exec(expression) ?? [];
  const metric = known.get(counted ?? expression);
  if (metric === undefined) return parseQuery(query);
  return { metric, matches: () => true, listed: {}, ...(counted !== undefined && { counted: true }) };
}

function time(parameters: URLSearchParams, name: string): number {
  const text = parameters.get(name) ?? "";
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000;
  if (Number.isNaN(seconds)) throw new RangeError(`invalid parameter "${name}"`);
  return seconds;
}
