/**
 * Returns the message of an error. An `AggregateError` of Node.js has no message, such as when all addresses of a name
 * refuse the connection, so its errors' messages are joined.
 */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError && error.message === "")
    return [...new Set(error.errors.map(errorMessage))].join("; ");
  return error instanceof Error ? error.message : String(error);
}
