/**
 * Errors by which a store says that it cannot work now: it has no room, too much to do, is read-only, or lets nobody in. They say nothing of what was asked
 * of it. A run that meets one ends, and counts it against nobody: neither against the day that it calculated nor against the upstream.
 */
import { ClickHouseError } from "@clickhouse/client";
import pg from "pg";
import { isLostConnection, isLostPostgres } from "./lost-connection.js";
import { PostgresDiskFullError, reportsDiskFull } from "./postgres/disk-full.js";
import { StoreNotOpenedError } from "./store-not-opened.js";

/** By their names in ClickHouse. What a statement's own data can cause is not among them, such as too little memory. */
const clickHouse = new Set([
  ...["NOT_ENOUGH_SPACE", "CANNOT_WRITE_TO_FILE_DESCRIPTOR", "CANNOT_FSYNC"],
  ...["TOO_MANY_SIMULTANEOUS_QUERIES", "SERVER_OVERLOADED", "TOO_MANY_PARTS", "QUOTA_EXCEEDED"],
  ...["TABLE_IS_READ_ONLY", "KEEPER_EXCEPTION", "NO_ZOOKEEPER", "UNFINISHED", "UNKNOWN_STATUS_OF_INSERT"],
  ...["TOO_FEW_LIVE_REPLICAS", "UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE", "NO_REPLICA_HAS_PART"],
  ...["NETWORK_ERROR", "SOCKET_TIMEOUT", "ALL_CONNECTION_TRIES_FAILED", "ALL_REPLICAS_ARE_STALE"],
  ...["AUTHENTICATION_FAILED", "ACCESS_DENIED"],
]);

/** Classes of Postgres: too few resources (disk, memory, connections), and errors of its system. */
const postgresClasses = new Set(["53", "58"]);
/** A standby that was not promoted, and a user that may not. */
const postgresCodes = new Set(["25006", "28000", "28P01", "42501"]);

/** Of the disk of this machine. */
const system = new Set(["ENOSPC", "EDQUOT", "EROFS"]);

/** Of ClickHouse, of Postgres, and of this machine. */
const noRoom = new Set(["243", "53100", "ENOSPC", "EDQUOT"]);

/** What cannot work now, as a sentence begins with it; undefined for every other error. */
export function storeInTrouble(error: unknown): string | undefined {
  if (error instanceof StoreNotOpenedError) return storeInTrouble(error.cause);
  if (error instanceof ClickHouseError) return clickHouse.has(error.type ?? "") ? "ClickHouse" : undefined;
  if (error instanceof PostgresDiskFullError) return "Postgres";
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  if (error instanceof pg.DatabaseError) return cannotWork(error, error.code) ? "Postgres" : undefined;
  return system.has(error.code) ? "A disk" : undefined;
}

/** The code of Postgres for what it has no other for: a quota that is used up, for one. */
const INTERNAL = "XX000";

/** A panic ends the server, whatever its code is. */
function cannotWork(error: pg.DatabaseError, code: string): boolean {
  const isOfServer = postgresClasses.has(code.slice(0, 2)) || postgresCodes.has(code);
  return (
    isOfServer || error.severity === "PANIC" || (code === INTERNAL && reportsDiskFull.test(error.message))
  );
}

/** The disk of what cannot work now is full: the error says so, or its cause does. */
export function hasNoRoom(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isFull = "code" in error && noRoom.has(String(error.code));
  const isSaid = storeInTrouble(error) !== undefined && reportsDiskFull.test(error.message);
  return isFull || isSaid || hasNoRoom(error.cause);
}

/** It is Postgres that is away or cannot work. */
export function isPostgresFault(error: unknown): boolean {
  return isLostPostgres(error) || storeInTrouble(error) === "Postgres";
}

/** It was not there, or it cannot work: nothing that was asked of it is at fault. */
export function isStoreFault(error: unknown): boolean {
  return isLostConnection(error) || storeInTrouble(error) !== undefined;
}
