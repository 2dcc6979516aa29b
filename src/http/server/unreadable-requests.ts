/**
 * Sends an error response for a request that Node's parser refuses, and closes the connection. Fastify has no request
 * then.
 */
import { randomUUID } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { ApiError, type ErrorCode } from "../errors.js";
import { PROBLEM_TYPE, problemOf } from "../problem.js";

/** The part of a socket that is used here. */
interface Connection {
  readonly destroyed: boolean;
  readonly writable: boolean;
  end(text: string): unknown;
  destroy(): unknown;
}

export function refuseUnreadable(logger: FastifyBaseLogger) {
  return (error: Error & { code?: string }, connection: Connection): void => {
    if (error.code === "ECONNRESET" || connection.destroyed) return;
    // The TLS handshake failed: the client could not read a response, so send none.
    if (/^ERR_(SSL|TLS)_/.test(error.code ?? "")) return void connection.destroy();
    const requestId = randomUUID();
    logger.debug({ err: error, request_id: requestId }, "a request that cannot be read");
    const problem = problemOf(parserError(error.code));
    const body = JSON.stringify(problem);
    const lines = [
      `HTTP/1.1 ${problem.status} ${problem.title}`,
      `content-type: ${PROBLEM_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      "connection: close",
    ];
    if (connection.writable) connection.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
    else connection.destroy();
  };
}

const codes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_incomplete",
};

const details: Readonly<Partial<Record<ErrorCode, string>>> = {
  headers_too_large: "Path and headers together must be at most 16 KiB long.",
  request_incomplete: "The request did not arrive in time.",
};

function parserError(nodeCode: string | undefined): ApiError {
  const code = codes[nodeCode ?? ""] ?? "unreadable_request";
  return new ApiError(code, details[code] ?? "The request is not HTTP/1.1.");
}
