/** Connections to upstreams, each kept for the next request, and words for what goes wrong on them. */
import { Agent, type Dispatcher, errors } from "undici";

/** `destroy` ends them all, and with them the requests under way. */
export type Connections = Dispatcher;

const CONNECT_MS = 10_000;

/** `connectTimeoutMs`: name lookup, connection and TLS, together. How long an answer may take is said with each request. */
export function openConnections(connectTimeoutMs = CONNECT_MS): Connections {
  return new Agent({ connect: { timeout: connectTimeoutMs }, headersTimeout: 0, bodyTimeout: 0 });
}

/** Codes of zlib: `Z_DATA_ERROR`, and of Brotli `ERR__ERROR_FORMAT_PADDING_1`. */
const UNPACKING = /^(Z_|ERR__ERROR_)/;

/** What OpenSSL says of bytes that are no TLS record, such as the first ones of an HTTP response. */
const NOT_TLS: readonly string[] = ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"];

export interface NoResponseError {
  readonly kind: "timeout" | "unreachable";
  readonly reason: string;
}

/** What a request threw. The library's messages hold addresses: only its codes go on. */
export function noResponse(error: unknown): NoResponseError {
  if (isTimeout(error)) return { kind: "timeout", reason: "no response in time" };
  const code = codeOf(error);
  if (error instanceof errors.ConnectTimeoutError || code === "ETIMEDOUT")
    return { kind: "timeout", reason: "no connection in time" };
  if (error instanceof errors.SocketError)
    return { kind: "unreachable", reason: "the connection ended before the response did" };
  if (code !== undefined && UNPACKING.test(code))
    return { kind: "unreachable", reason: "the response cannot be unpacked" };
  if (code !== undefined && NOT_TLS.includes(code))
    return {
      kind: "unreachable",
      reason: `does not speak TLS: is it plain HTTP, so that its address begins with http://? (${code})`,
    };
  return { kind: "unreachable", reason: `cannot be reached (${code ?? "unknown cause"})` };
}

function isTimeout(error: unknown): boolean {
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) return true;
  // As `AbortSignal.timeout` has it.
  return error instanceof DOMException && error.name === "TimeoutError";
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : undefined;
}
