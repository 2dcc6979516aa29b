/** Errors that say of a store that it was not there, or went away: nothing that was asked of it is at fault. */
import pg from "pg";
import { StoreNotOpenedError } from "./store-not-opened.js";

/** Of Postgres: ended by an administrator, after a crash, and cannot connect now. */
const postgresCodes = new Set(["57P01", "57P02", "57P03"]);

const codes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EHOSTUNREACH", "ETIMEDOUT", "EPIPE", "EAI_AGAIN"],
  // The socket of an embedded store that is being started again.
  "ENOENT",
  ...postgresCodes,
]);

/** Of pg, which gives these no code: it waited for a connection, had one, or was to use one that has broken since. */
const messages = new Set([
  "timeout exceeded when trying to connect",
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "Client has encountered a connection error and is not queryable",
]);

export function isLostConnection(error: unknown): boolean {
  if (error instanceof StoreNotOpenedError) return isLostConnection(error.cause);
  if (!(error instanceof Error)) return false;
  return messages.has(error.message) || ("code" in error && codes.has(String(error.code)));
}

/** Lost for certain, and certainly Postgres: most codes of the system may come from an upstream as well. */
export function isLostPostgres(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return postgresCodes.has(error.code ?? "");
  const isSocket = "address" in error && String(error.address).includes(".s.PGSQL.");
  return messages.has(error.message) || isSocket;
}
