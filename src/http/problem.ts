/** From whatever was thrown to the answer: RFC 9457 `application/problem+json`. */
import { randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { InvalidCursorError } from "../query/page/cursor.js";
import { InvalidParameter } from "../query/time/date-window.js";
import { RunInProgressError, TenantSuspendedError } from "../runner/control.js";
import { isStoreFault, storeInTrouble } from "../store/store-trouble.js";
import { DimensionNotFoundError, TagKeyTakenError, TagNotFoundError } from "../tags/tag-errors.js";
import { TooBusyError } from "./admission-queue.js";
import { ApiError, type ErrorCode, errorTable, type InputProblem, invalidRequest } from "./errors.js";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly errors?: readonly InputProblem[];
  readonly error_id?: string;
}

export const PROBLEM_TYPE = "application/problem+json";

/** For an error of the service itself the client learns an id, and the log has the cause under it. */
export function problemOf(error: ApiError): Problem {
  const { status, title } = errorTable[error.code];
  const problem = { type: "about:blank", title, status, detail: error.message, code: error.code };
  if (error.problems.length > 0) return { ...problem, errors: error.problems };
  const isAsIntended = error.code === "too_busy" || error.code === "request_timeout";
  return status >= 500 && !isAsIntended ? { ...problem, error_id: randomUUID() } : problem;
}

/** Seconds, of errors that pass by themselves. */
const retryAfter: Partial<Record<ErrorCode, number>> = { store_unavailable: 5, too_busy: 5 };

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const apiError = pageError(error, request.url) ?? toApiError(error, request);
  const problem = problemOf(apiError);
  if (problem.error_id !== undefined) {
    const { method, url } = request;
    request.log.error(
      { err: apiError.cause ?? error, error_id: problem.error_id, method, path: pathOf(url) },
      "request failed",
    );
  }
  const seconds = retryAfter[apiError.code];
  if (seconds !== undefined) reply.header("retry-after", String(seconds));
  return reply.code(problem.status).type(PROBLEM_TYPE).serializer(JSON.stringify).send(problem);
}

/** Without the query, which may hold what does not belong in a log. */
export function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? url;
}

type AskedRequest = Pick<FastifyRequest, "method" | "routeOptions">;

export function toApiError(error: unknown, { method, routeOptions }: AskedRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof InvalidCursorError) return new ApiError("invalid_cursor", error.message);
  if (error instanceof InvalidParameter) {
    const where = method === "POST" ? "body" : "query";
    return invalidRequest([{ in: where, name: error.parameter, detail: error.message, code: "invalid" }]);
  }
  if (error instanceof RunInProgressError) {
    return new ApiError(
      "run_in_progress",
      `A pipeline run of tenant ${error.tenantName} is already running.`,
    );
  }
  if (error instanceof TenantSuspendedError) {
    return new ApiError(
      "tenant_suspended",
      `Tenant ${error.tenantName} is permanently suspended: ${error.cause}. Restart the service when the cause is mended.`,
    );
  }
  if (error instanceof TooBusyError) {
    const detail =
      "Other heavy reads are running and waiting, and no place came free in time (api.max_heavy_reads, api.max_waiting_reads). Ask again later.";
    return new ApiError("too_busy", detail);
  }
  return tagError(error) ?? frameworkError(error, routeOptions.bodyLimit) ?? unexpected(error);
}

function tagError(error: unknown): ApiError | undefined {
  if (error instanceof DimensionNotFoundError) {
    return new ApiError("dimension_not_found", `Chargeback dimension ${error.dimensionId} not found.`);
  }
  if (error instanceof TagNotFoundError) {
    const where = error.dimensionId === undefined ? "" : ` on chargeback dimension ${error.dimensionId}`;
    return new ApiError("tag_not_found", `Tag ${error.tagId} not found${where}.`);
  }
  if (error instanceof TagKeyTakenError) {
    const detail = `Chargeback dimension ${error.dimensionId} has a tag with the key "${error.tagKey}". Nothing was changed.`;
    return new ApiError("tag_key_exists", detail);
  }
  return undefined;
}

/** What the files under /docs refuse: paths that are none, and parts that a file does not have. */
function pageError(error: unknown, url: string): ApiError | undefined {
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (error instanceof ApiError || !url.startsWith("/docs") || status < 400 || status >= 500)
    return undefined;
  return status <= 404
    ? new ApiError("path_not_found", "There is no such page or file.")
    : new ApiError("unreadable_request", "The file is not as the request's conditions have it.");
}

/** What Fastify itself refuses, before a handler sees it. */
function frameworkError(error: unknown, bodyLimit: number | undefined): ApiError | undefined {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "FST_ERR_CTP_INVALID_JSON_BODY":
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ApiError("malformed_body", "The body is not valid JSON.");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_INVALID_TYPE":
      return new ApiError(
        "malformed_body",
        "The body must be JSON, sent with Content-Type: application/json.",
      );
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new ApiError("body_too_large", `The body must be at most ${(bodyLimit ?? 0) / 1024} KiB long.`);
    case "FST_ERR_BAD_URL":
      return new ApiError("invalid_request", "The path has an invalid percent-encoding.");
    default:
      return undefined;
  }
}

function unexpected(error: unknown): ApiError {
  if (isStoreFault(error)) return storeUnavailable(error);
  return new ApiError(
    "internal_error",
    "The service failed to answer. Its log has the cause under error_id.",
    [],
    { cause: error },
  );
}

export function storeUnavailable(cause: unknown): ApiError {
  const what = storeInTrouble(cause) === undefined ? "be reached" : "work";
  const detail = `The store behind this answer cannot ${what} now. The log has the cause under error_id.`;
  return new ApiError("store_unavailable", detail, [], { cause });
}
