/** Keep-alive connections to upstreams, and descriptions of their errors. */
import { Agent, type Dispatcher, errors } from "undici";

/** `destroy` closes all connections, and cancels their requests. */
export type Connections = Dispatcher;

const CONNECT_MS = 10_000;

/** `connectTimeoutMs` covers name lookup, connection and TLS together. The timeout of a response is set per request. */
export function openConnections(connectTimeoutMs = CONNECT_MS): Connections {
  return new Agent({ connect: { timeout: connectTimeoutMs }, headersTimeout: 0, bodyTimeout: 0 });
}

/** Codes of zlib such as `Z_DATA_ERROR`, and of Brotli such as `ERR__ERROR_FORMAT_PADDING_1`. */
const UNPACKING = /^(Z_|ERR__ERROR_)/;

/** OpenSSL's codes for bytes that are not a TLS record, such as the first bytes of an HTTP response. */
const NOT_TLS: readonly string[] = ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"];

export interface NoResponseError {
  readonly kind: "timeout" | "unreachable";
  readonly reason: string;
}

/** Describes what a request threw. Only the codes are used, because the library's messages contain addresses. */
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
  // The error of `AbortSignal.timeout`.
  return error instanceof DOMException && error.name === "TimeoutError";
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : undefined;
}
