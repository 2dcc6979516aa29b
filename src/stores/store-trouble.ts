/**
 * Errors by which a store reports that it cannot work now: it is full, overloaded, read-only, or rejects the user. They
 * say nothing about the request itself. A run that meets one ends, and the failure counts neither against the day that
 * it calculated nor against the upstream.
 */
import { ClickHouseError } from "@clickhouse/client";
import pg from "pg";
import { isLostConnection, isLostPostgres } from "../common/lost-connection.js";
import { StoreNotOpenedError } from "../common/store-not-opened.js";
import { PostgresDiskFullError, reportsDiskFull } from "../embedded-postgres/index.js";

/**
 * Names of ClickHouse errors. Errors that a statement's own data can cause, such as too little memory, are excluded.
 */
const clickHouse = new Set([
  "NOT_ENOUGH_SPACE",
  "CANNOT_WRITE_TO_FILE_DESCRIPTOR",
  "CANNOT_FSYNC",
  "TOO_MANY_SIMULTANEOUS_QUERIES",
  "SERVER_OVERLOADED",
  "TOO_MANY_PARTS",
  "QUOTA_EXCEEDED",
  "TABLE_IS_READ_ONLY",
  "KEEPER_EXCEPTION",
  "NO_ZOOKEEPER",
  "UNFINISHED",
  "UNKNOWN_STATUS_OF_INSERT",
  "TOO_FEW_LIVE_REPLICAS",
  "UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE",
  "NO_REPLICA_HAS_PART",
  "NETWORK_ERROR",
  "SOCKET_TIMEOUT",
  "ALL_CONNECTION_TRIES_FAILED",
  "ALL_REPLICAS_ARE_STALE",
  "AUTHENTICATION_FAILED",
  "ACCESS_DENIED",
]);

/** Postgres error classes: insufficient resources (disk, memory, connections), and system errors. */
const postgresClasses = new Set(["53", "58"]);
/** A standby that was not promoted, and a user without permission. */
const postgresCodes = new Set(["25006", "28000", "28P01", "42501"]);

/** Errors of this machine's disk. */
const diskErrors = new Set(["ENOSPC", "EDQUOT", "EROFS"]);

/** Disk-full codes of ClickHouse, Postgres and this machine. */
const diskFullCodes = new Set(["243", "53100", "ENOSPC", "EDQUOT"]);

/** Returns what cannot work now, such as "ClickHouse", to begin a sentence with. Undefined for all other errors. */
export function storeInTrouble(error: unknown): string | undefined {
  if (error instanceof StoreNotOpenedError) return storeInTrouble(error.cause);
  if (error instanceof ClickHouseError) return clickHouse.has(error.type ?? "") ? "ClickHouse" : undefined;
  if (error instanceof PostgresDiskFullError) return "Postgres";
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  if (error instanceof pg.DatabaseError) return cannotWork(error, error.code) ? "Postgres" : undefined;
  return diskErrors.has(error.code) ? "A disk" : undefined;
}

/** Postgres's `internal_error`: the code of errors that have no other, such as an exceeded quota. */
const INTERNAL = "XX000";

/** A panic ends the server, whatever its code. */
function cannotWork(error: pg.DatabaseError, code: string): boolean {
  const isServerError = postgresClasses.has(code.slice(0, 2)) || postgresCodes.has(code);
  return (
    isServerError || error.severity === "PANIC" || (code === INTERNAL && reportsDiskFull.test(error.message))
  );
}

/** True if the error or one of its causes reports a full disk. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isFull = "code" in error && diskFullCodes.has(String(error.code));
  const isReported = storeInTrouble(error) !== undefined && reportsDiskFull.test(error.message);
  return isFull || isReported || isDiskFull(error.cause);
}

/** Postgres is unreachable or cannot work. */
export function isPostgresFault(error: unknown): boolean {
  return isLostPostgres(error) || storeInTrouble(error) === "Postgres";
}

/** A store is unreachable or cannot work. The request itself is not at fault. */
export function isStoreFault(error: unknown): boolean {
  return isLostConnection(error) || storeInTrouble(error) !== undefined;
}
