/** Parses a request apart from its body: ClickHouse's URL parameters and headers. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { exception } from "./exception.js";
import { PROTOCOL_PARAMETERS } from "./protocol-parameters.js";

export interface QueryRequest {
  readonly queryId: string;
  /** The part of the statement in the URL. The body may contain more. */
  readonly query: string;
  readonly database: string | undefined;
  readonly defaultFormat: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
  readonly session:
    | { readonly id: string; readonly timeoutSeconds: number; readonly mustExist: boolean }
    | undefined;
  /** As on a server, GET and HEAD must not change anything. */
  readonly readOnly: boolean;
  readonly gzip: boolean;
  readonly gzipLevel: number;
  /** Whether the response, and the body, use ClickHouse's own compressed blocks. */
  readonly compress: boolean;
  readonly decompress: boolean;
  /** Revision of the protocol for blocks in the Native format. 0 if none is named. */
  readonly revision: number;
  readonly waitEndOfQuery: boolean;
  readonly replaceRunning: boolean;
}

const SESSION_SECONDS = 60;
const MAX_SESSION_SECONDS = 3600;

export function parseRequest(request: IncomingMessage, url: URL): QueryRequest {
  const params = url.searchParams;
  if (params.has("role")) throw exception("UNKNOWN_ROLE", "The embedded store has no roles");
  const settings = new Map<string, string>();
  const parameters = new Map<string, string>();
  for (const [name, value] of params) {
    if (name.startsWith("param_")) parameters.set(name.slice("param_".length), value);
    else if (!PROTOCOL_PARAMETERS.has(name)) settings.set(name, value);
  }
  return {
    queryId: queryIdOf(params.get("query_id") || header(request, "x-clickhouse-query-id")),
    query: params.get("query") ?? "",
    database: params.get("database") || header(request, "x-clickhouse-database"),
    defaultFormat: params.get("default_format") || header(request, "x-clickhouse-format"),
    settings,
    parameters,
    session: sessionOf(params),
    readOnly: request.method !== "POST",
    gzip: isOn(params.get("enable_http_compression")) && acceptsGzip(request),
    gzipLevel: Math.min(9, Math.max(1, Number(params.get("http_zlib_compression_level")) || 3)),
    compress: isOn(params.get("compress")),
    decompress: isOn(params.get("decompress")),
    revision: Math.max(0, Number(params.get("client_protocol_version")) || 0),
    waitEndOfQuery: isOn(params.get("wait_end_of_query")),
    replaceRunning: isOn(params.get("replace_running_query")),
  };
}

export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isOn(value: string | null): boolean {
  return value === "1" || value?.toLowerCase() === "true";
}

function acceptsGzip(request: IncomingMessage): boolean {
  return /\bgzip\b/i.test(header(request, "accept-encoding") ?? "");
}

/** The id is returned in a header, and inserted into comments of statements. */
function queryIdOf(given: string | undefined): string {
  if (given === undefined) return randomUUID();
  if (/^[\x21-\x7e\xa1-\xff](?:[\x20-\x7e\xa1-\xff]{0,198}[\x21-\x7e\xa1-\xff])?$/.test(given)) return given;
  throw exception(
    "BAD_ARGUMENTS",
    "The query id must be 1 to 200 printable Latin-1 characters, as headers carry them",
  );
}

function sessionOf(params: URLSearchParams): QueryRequest["session"] {
  const id = params.get("session_id");
  if (!id) return undefined;
  const timeout = params.get("session_timeout");
  const timeoutSeconds = timeout === null ? SESSION_SECONDS : Number(timeout);
  if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 0 || timeoutSeconds > MAX_SESSION_SECONDS) {
    throw exception(
      "INVALID_SESSION_TIMEOUT",
      `Invalid session timeout: '${timeout}', the maximum is ${MAX_SESSION_SECONDS} seconds`,
    );
  }
  return { id, timeoutSeconds, mustExist: isOn(params.get("session_check")) };
}
