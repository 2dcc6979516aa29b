/**
 * `ordinary-user.test.ts` runs this. It becomes that user after the imports, which the user may not be able to read.
 * Then it owns a data directory, starts Postgres, runs a query and stops it.
 */
import { statSync } from "node:fs";
import pg from "pg";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start.js";
import { claimDataDir } from "../../src/stores/data-dir.js";
import { logger } from "./temporary.js";

const [, , dataDir = "", nativeDir, uid] = process.argv;
process.chdir("/");
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(Number(uid));
  process.setuid?.(Number(uid));
}

const claim = claimDataDir(dataDir);
const postgres = await startEmbeddedPostgres({ dataDir, logger, nativeDir });
const client = new pg.Client(postgres.connection);
await client.connect();
const { rows } = await client.query("SELECT 1 AS one");
const server = process.platform === "linux" ? statSync(`/proc/${postgres.pid}`).uid : Number(uid);
console.log(JSON.stringify({ uid: process.getuid?.(), server, rows }));
await client.end();
await postgres.stop();
claim.release();
