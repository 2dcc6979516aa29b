/** Errors of a store that is unreachable or whose connection broke. The request itself is not at fault. */
import pg from "pg";
import { StoreNotOpenedError } from "./store-not-opened.js";

/** Postgres: ended by an administrator, ended after a crash, cannot accept connections now. */
const postgresCodes = new Set(["57P01", "57P02", "57P03"]);

const codes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ETIMEDOUT",
  "EPIPE",
  "EAI_AGAIN",
  // The socket of an embedded store that is restarting.
  "ENOENT",
  ...postgresCodes,
]);

/** Errors of pg without a code: no connection in time, connection lost, or use of a connection that broke earlier. */
const messages = new Set([
  "timeout exceeded when trying to connect",
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "Client has encountered a connection error and is not queryable",
]);

/** Errors of connections to Postgres, by the pool that opened them. */
const ofPostgres = new WeakSet<Error>();

/**
 * Records that an error comes from a connection to Postgres. The pool calls this, because the error itself does not
 * say: a refused or reset TCP connection has the same code and message whether a store or an upstream was called.
 */
export function markLostPostgres(error: Error): void {
  ofPostgres.add(error);
}

export function isLostConnection(error: unknown): boolean {
  if (error instanceof StoreNotOpenedError) return isLostConnection(error.cause);
  if (!(error instanceof Error)) return false;
  return isLostPostgres(error) || ("code" in error && codes.has(String(error.code)));
}

/** True only for errors that certainly come from Postgres. */
export function isLostPostgres(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return postgresCodes.has(error.code ?? "");
  return messages.has(error.message) || (ofPostgres.has(error) && "code" in error);
}
