import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { errorText } from "../stores/error-text.js";
import { isDiskFull } from "../stores/store-trouble.js";

/** How long to wait for Postgres, and the interval of attempts, in milliseconds. */
const TIMEOUT_MS = 5_000;
const INTERVAL_MS = 100;

/**
 * Returns the error if Postgres is down because its disk is full; the lost connection itself does not say. Returns
 * undefined as soon as Postgres responds, or after the time is up.
 */
export async function postgresOutage(postgres: Pool): Promise<string | undefined> {
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await delay(INTERVAL_MS)) {
    try {
      await postgres.query("SELECT 1");
      return undefined;
    } catch (error) {
      if (isDiskFull(error)) return errorText(error);
    }
  }
  return undefined;
}
