/** What a request asks for, apart from its body: ClickHouse's URL parameters and headers, sorted by what they mean. */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { exception } from "./exception.js";

export interface QueryRequest {
  readonly queryId: string;
  /** The part of the statement that is in the URL; more may be in the body. */
  readonly query: string;
  readonly database: string | undefined;
  readonly defaultFormat: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
  readonly session:
    | { readonly id: string; readonly timeoutSeconds: number; readonly mustExist: boolean }
    | undefined;
  /** GET and HEAD may not change anything, as on a server. */
  readonly readOnly: boolean;
  readonly gzip: boolean;
  readonly gzipLevel: number;
  readonly waitEndOfQuery: boolean;
  readonly replaceRunning: boolean;
}

/** Parameters that are the protocol's and not the engine's; those that change nothing here are swallowed. */
const PROTOCOL = new Set(
  (
    "query query_id database default_format user password session_id session_timeout session_check close_session " +
    "compress decompress enable_http_compression http_zlib_compression_level buffer_size wait_end_of_query " +
    "send_progress_in_http_headers http_headers_progress_interval_ms replace_running_query role quota_key stacktrace " +
    "client_protocol_version http_write_exception_in_output_format cancel_http_readonly_queries_on_client_disconnect"
  ).split(" "),
);
const SESSION_SECONDS = 60;
const MAX_SESSION_SECONDS = 3600;

export function parseRequest(request: IncomingMessage, url: URL): QueryRequest {
  const params = url.searchParams;
  refuseNativeCompression(params);
  if (params.has("role")) throw exception("UNKNOWN_ROLE", "The embedded store has no roles");
  const settings = new Map<string, string>();
  const parameters = new Map<string, string>();
  for (const [name, value] of params) {
    if (name.startsWith("param_")) parameters.set(name.slice("param_".length), value);
    else if (!PROTOCOL.has(name)) settings.set(name, value);
  }
  return {
    queryId: params.get("query_id") || header(request, "x-clickhouse-query-id") || randomUUID(),
    query: params.get("query") ?? "",
    database: params.get("database") || header(request, "x-clickhouse-database"),
    defaultFormat: params.get("default_format") || header(request, "x-clickhouse-format"),
    settings,
    parameters,
    session: sessionOf(params),
    readOnly: request.method !== "POST",
    gzip: isOn(params.get("enable_http_compression")) && acceptsGzip(request),
    gzipLevel: Math.min(9, Math.max(1, Number(params.get("http_zlib_compression_level")) || 3)),
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

/** ClickHouse's own block framing (LZ4 with checksums) is for clients of the native format; HTTP has compression of its own. */
function refuseNativeCompression(params: URLSearchParams): void {
  if (isOn(params.get("compress"))) {
    throw exception(
      "NOT_IMPLEMENTED",
      "compress=1 is not supported: set enable_http_compression=1 and send Accept-Encoding: gzip",
    );
  }
  if (isOn(params.get("decompress"))) {
    throw exception(
      "NOT_IMPLEMENTED",
      "decompress=1 is not supported: compress the body with gzip and send Content-Encoding: gzip",
    );
  }
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
