import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { errorText } from "../store/clickhouse/error-text.js";
import { isDiskFull } from "../store/store-trouble.js";

/** Milliseconds: so long a Postgres that went away is waited for, and so often it is asked. */
const PATIENCE_MS = 5_000;
const ASK_MS = 100;

/** Why Postgres went away, where it is for want of room: who loses a connection is not told. Undefined as soon as it answers again. */
export async function postgresOutage(postgres: Pool): Promise<string | undefined> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await delay(ASK_MS)) {
    try {
      await postgres.query("SELECT 1");
      return undefined;
    } catch (error) {
      if (isDiskFull(error)) return errorText(error);
    }
  }
  return undefined;
}
