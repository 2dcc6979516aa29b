/**
 * Headers in the OpenAPI document. They are derived from the responses of an operation, so that routes need not list
 * them.
 */
import type { Content, Header, Operation, Parameter, Response } from "./openapi-types.js";

export const headerComponents = {
  RequestId: {
    description: "The request's `X-Request-Id`, or a generated one. It is in the log as well.",
    schema: { type: "string" },
    example: "trace-7",
  },
  ETag: {
    description:
      "Identifies this response. Send it in `If-None-Match` to get 304 while it is current. Absent if the response may change at any time.",
    schema: { type: "string" },
    example: 'W/"Zb1xT1xkqWJtH9vY3m0aQp5dLwE"',
  },
  Location: {
    description: "Path of the new object.",
    schema: { type: "string" },
    example: "/api/v1/tenants/acme/tags/17",
  },
  RetryAfter: {
    description: "Seconds to wait before trying again.",
    schema: { type: "integer" },
    example: 5,
  },
  ContentDisposition: {
    description: "Suggested file name.",
    schema: { type: "string" },
    example: 'attachment; filename="chargebacks_acme_2026-01-01_2026-01-31.csv"',
  },
} as const satisfies Record<string, Header>;

const headerRef = (name: keyof typeof headerComponents) => ({ $ref: `#/components/headers/${name}` });

/** Returns the headers of one response. */
export function headersOf(
  status: string,
  { responses }: Pick<Operation, "responses">,
  content: Readonly<Record<string, Content>> = {},
): NonNullable<Response["headers"]> {
  const types = Object.keys(content);
  const revalidated = "304" in responses && (status === "200" || status === "304");
  const file = status === "200" && types.some((type) => type !== "application/json" && type !== "text/plain");
  return {
    "X-Request-Id": headerRef("RequestId"),
    ...(revalidated && { ETag: headerRef("ETag") }),
    ...(status === "201" && { Location: headerRef("Location") }),
    ...((status === "503" || status === "429") &&
      types.includes("application/problem+json") && { "Retry-After": headerRef("RetryAfter") }),
    ...(file && { "Content-Disposition": headerRef("ContentDisposition") }),
  };
}

export function requestHeaders({ responses }: Pick<Operation, "responses">): Parameter[] {
  const requestId: Parameter = {
    in: "header",
    name: "X-Request-Id",
    required: false,
    description:
      "Returned in the response and written to the log. Letters, digits and `. _ ~ : / + = @ -`, at most 128; any other value is replaced.",
    schema: { type: "string", maxLength: 128 },
    example: "trace-7",
  };
  const ifNoneMatch: Parameter = {
    in: "header",
    name: "If-None-Match",
    required: false,
    description: "ETags of responses that the client has. The response is 304 if one of them is current.",
    schema: { type: "string" },
    example: 'W/"Zb1xT1xkqWJtH9vY3m0aQp5dLwE"',
  };
  return "304" in responses ? [requestId, ifNoneMatch] : [requestId];
}
