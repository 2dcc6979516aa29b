/**
 * `left-behind.test.ts` runs this. It owns a data directory, starts its Postgres, inserts one row after the other and
 * prints the number of each row that was acknowledged. SIGTERM stops it normally. SIGUSR2 throws an uncaught exception.
 */
import pg from "pg";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start.js";
import { claimDataDir, DataDirInUseError } from "../../src/stores/data-dir.js";
import { logger } from "./temporary.js";

process.on("SIGUSR2", () => {
  throw new Error("as the test wants it");
});
process.on("uncaughtException", () => process.exit(1));

async function own(dataDir: string): Promise<void> {
  const claim = claimDataDir(dataDir);
  const postgres = await startEmbeddedPostgres({ dataDir, logger });
  let running = true;
  process.once("SIGTERM", () => {
    running = false;
  });
  console.log(`postmaster ${postgres.pid}`);
  const client = new pg.Client(postgres.connection);
  client.on("error", () => undefined);
  await client.connect();
  await client.query("CREATE TABLE acked (n int)");
  for (let n = 1; running; n++) {
    await client.query("INSERT INTO acked VALUES ($1)", [n]);
    console.log(n);
  }
  await client.end();
  await postgres.stop();
  claim.release();
}

own(process.argv[2] ?? "").catch((error: Error) => {
  if (!(error instanceof DataDirInUseError)) throw error;
  console.log(error.message);
});
