/** The introduction of the API's description: what all endpoints share, and the table of error codes. */
import { errorTable } from "../errors.js";

const errorRows = Object.entries(errorTable).map(
  ([code, { status, title, when }]) => `| \`${code}\` | ${status} | ${title} | ${when} |`,
);

export const introduction = `Costs of a bill, allocated exactly to the identities that caused them.

Paths begin with \`/api/v1\`, except \`/health\` and \`/metrics\`.

## What all endpoints share

- **Tenants** have the same names in paths as in the configuration. An unknown tenant is 404, even if the request has
  other problems.
- **Money and quantities** are decimals as text (\`"33.3334"\`): no exponent, no thousands separator, no trailing zeros.
- **Dates** are inclusive at both ends. Without dates, a request covers the last \`lookback_days\` of the tenant up to
  today (UTC). If one date is left out, it follows from the other. \`timezone\` sets the midnights that bound the days,
  and the labels of aggregation buckets.
- **Pages** go by number (\`page\`, \`page_size\`) or by cursor (\`cursor\`, the \`next_cursor\` of the previous response).
  A page past the end is empty. Every list has one order, which is stable while the data does not change.
- **Filters** are exact and case-sensitive. If a filter is given several times, rows match that have one of the values
  (\`resource_id=a&resource_id=b\`). With \`not:\` before the name, rows match that have none of them
  (\`not:resource_id=a\`). Filters of different names must all match. An empty parameter (\`resource_id=\`) is refused,
  and so are unknown parameters and fields: a mistyped filter never returns everything.
- **Errors** are \`application/problem+json\` (RFC 9457) with a stable \`code\`, as in the table below. Every invalid
  request is 400.
- **\`X-Request-Id\`** is accepted and returned.
- **HEAD** works for every path that has GET. Responses are compressed with gzip for clients that accept it.
- **ETag**: reads of published days have one. A request with it in \`If-None-Match\` gets 304 while nothing has changed.
- **Time limit**: a request that takes longer than \`api.request_timeout_seconds\` gets 504, and its query is cancelled.
  The query is also cancelled when the client disconnects. An export has no limit for its length, but is closed when no
  byte moves for some time.
- **Access**: with \`api.auth: none\`, no credentials are required, and the service listens on loopback. Otherwise every
  request needs credentials: the status is 401 without valid ones, and 403 if they do not have the scope that the
  operation names. The scopes \`tags\` and \`assign\` include \`read\`, and \`admin\` includes all others. A
  tenant that the credentials do not cover is 404, like one that does not exist. CORS is off unless \`api.enable_cors\` is true.
- **Browsers**: a \`Host\` that is not a name of the service is 421 (\`api.allowed_hosts\`). POST, PATCH and DELETE for a
  page of another origin are 403 (\`api.cors_origins\`): a service on loopback is open to programs, not to web pages.
  \`/health\` accepts any \`Host\`.

## Errors

\`errors\` in the body lists every problem with the request. The log has the cause of an internal error under its
\`error_id\`.

| Code | Status | Title | When |
|---|---|---|---|
${errorRows.join("\n")}
`;
