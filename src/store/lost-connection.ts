/** Errors that say of a store that it was not there, or went away: nothing that was asked of it is at fault. */

const codes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EHOSTUNREACH", "ETIMEDOUT", "EPIPE", "EAI_AGAIN"],
  // The socket of an embedded store that is being started again.
  "ENOENT",
  // Postgres: ended by an administrator, after a crash, and cannot connect now.
  ...["57P01", "57P02", "57P03"],
]);

/** Of pg, which gives these no code: it waited for a connection, or had one. */
const messages = new Set([
  "timeout exceeded when trying to connect",
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
]);

export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return messages.has(error.message) || ("code" in error && codes.has(String(error.code)));
}
